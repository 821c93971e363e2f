/* `bide run`: a command, run until it succeeds or the policy says stop.
 *
 *   args.c      what was asked for
 *   loop.c      the engine is asked, and what it says is done
 *   attempt.c   one attempt: everything that moves while a command runs
 *   child.c     starting a command, and ending its whole process group
 *   signals.c   signals that come for the command, and the terminal
 *   stdin.c     the same standard input for each attempt
 *   output.c    what becomes of the output
 *   spool.c     bytes that are kept: in memory, then on disk
 *   judge.c     what an attempt came to, and whether that may improve
 *   state.c     what invocations with one --key share
 *   tell.c      what is told to people, log.c: to machines
 *
 * One thread and one poll(): while a command runs, nothing else waits. */
#ifndef BIDE_CMD_RUN_CMD_H
#define BIDE_CMD_RUN_CMD_H

#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <sys/types.h>

#include "bide/run.h"
#include "cmd/common/cli.h"

/* Exit codes of bide's own, beside the command's. The last four are what
 * timeout(1), env(1) and the shell say. */
enum {
    EXIT_REFUSED = 75,      /* EX_TEMPFAIL: not even attempted */
    EXIT_TIMED_OUT = 124,
    EXIT_BIDE_FAILED = 125,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128       /* and the number of the signal */
};

/* ===== what was asked for ===== */

enum run_output { OUTPUT_ALL, OUTPUT_PREFIX, OUTPUT_LAST, OUTPUT_SUCCESS };
enum run_stdin { STDIN_AUTO, STDIN_REPLAY, STDIN_INHERIT, STDIN_NULL };

/* A set of exit codes. */
struct codes {
    bool given;
    bool has[256];
};

/* A regular expression over output. */
struct pattern {
    bool given;
    regex_t compiled;
};

struct run_args {
    struct policy_choice policy;
    char **command;
    struct codes retry_on, stop_on;
    struct pattern retry_if, stop_if;
    int64_t kill_after_ns;
    enum run_output output;
    enum run_stdin input;
    bool at_most_once;
    bool quiet, verbose;
    const char *json;       /* or NULL */
    const char *key;        /* or NULL */
};

/* Takes a flag, for flags_parse(). */
const char *run_take(void *args, const char *name, const char *argument);
void run_args_done(struct run_args *args);

/* ===== what an attempt came to ===== */

enum ended { ENDED_EXIT, ENDED_SIGNAL, ENDED_TIMEOUT, ENDED_NOT_STARTED };

struct ending {
    enum ended how;
    int code;        /* that bide would exit with */
    int signal;      /* that killed it; 0: none */
    int err;         /* errno, if it was not started */
    int stopped_by;  /* the signal that bide was told to stop by; 0: none */
    bool retry_seen; /* --retry-if matches the output */
    bool stop_seen;  /* --stop-if does */
    int64_t took_ns;
};

/* Classifies it. */
bide_outcome run_judge(const struct run_args *args, const struct ending *e);

/* Says it: "exit 7", "signal TERM", "timeout". In `buffer`. */
const char *run_ending_text(const struct ending *e, char *buffer, size_t size);

/* The number of a signal, by "TERM" or "SIGTERM"; 0 if there is none. And back:
 * "TERM", or a number. */
int run_signal_number(const char *name);
const char *run_signal_name(int number, char *buffer, size_t size);

/* ===== bytes that are kept =====
 *
 * In memory up to a bound, then in a file that has no name any more. All zero is
 * an empty one. Threads: owned. */
struct spool {
    char *memory;
    size_t held;     /* in memory, at most SPOOL_MEMORY */
    int64_t len;     /* of all; what is beyond `held` is in the file */
    int file;        /* 0: none */
};

enum { SPOOL_MEMORY = 1 << 20 };

/* Adds to the end; false, and nothing is added, if there is no room for it. */
bool spool_add(struct spool *s, const void *data, size_t len);

/* Reads from `at` on; how much that gave, -1 on failure. */
ssize_t spool_read(const struct spool *s, int64_t at, void *data, size_t len);
void spool_clear(struct spool *s);
void spool_done(struct spool *s);

/* ===== standard input ===== */

struct feed {
    enum run_stdin how;  /* never AUTO */
    bool is_file;        /* replayed by seeking, from ... */
    off_t start;         /* ... here */
    struct spool spool;  /* otherwise, what was read so far */
    int64_t sent;        /* of it, to this attempt */
    bool ended;          /* there is nothing more to read */
    bool lost;           /* not all of it could be kept */
    int to;              /* our end of the pipe; -1: none, or done */
    int to_child;        /* the other end; -1: the command has ours */
};

void feed_init(struct feed *f, enum run_stdin how, uint32_t attempts);
int feed_begin(struct feed *f);          /* an attempt; 0 or errno */
void feed_started(struct feed *f);       /* the command has its end */
int feed_poll(struct feed *f, struct pollfd *p); /* how many were added: 0, 1 */
void feed_ready(struct feed *f, const struct pollfd *p);
void feed_end(struct feed *f);           /* of the attempt */
void feed_done(struct feed *f);

/* ===== output ===== */

struct stream {
    int to;              /* 1 or 2; -1: it was closed from the beginning */
    int from;            /* our end of the pipe; -1: none, or ended */
    int from_child;      /* the other end; -1: the command writes to `to` */
    bool is_file;        /* `to` never makes a writer wait */
    bool broken;         /* nobody reads `to` any more */
    bool line_begun;     /* under a prefix */
    size_t at, len;      /* of `buffer`: what is still to be written */
    char *tail;          /* for expressions, the last up to 2 * TAIL_SIZE */
    size_t tail_len;
    char buffer[65536];
};

struct output {
    const struct run_args *args;
    bool direct;         /* the command writes to ours: nothing is seen */
    bool watched;        /* there are expressions to match */
    struct stream stream[2];
    struct spool kept;   /* pieces: which stream, how long, the bytes */
    bool lost;           /* not all could be kept */
    char prefix[32];
};

int output_init(struct output *o, const struct run_args *args);
int output_begin(struct output *o, uint32_t attempt, uint32_t attempts);
void output_started(struct output *o);
int output_poll(struct output *o, struct pollfd *p); /* adds up to 2 */
void output_ready(struct output *o, const struct pollfd *p, int n);
bool output_open(const struct output *o); /* something may still come */
void output_end(struct output *o, struct ending *e); /* of the attempt */

/* Now it is known what comes next: another attempt, or none. Gives an errno if
 * what was kept could not be written. */
int output_settle(struct output *o, bool last, bool success);
void output_done(struct output *o);

/* ===== signals, the terminal, the command ===== */

struct signals {
    int fd;              /* where they arrive */
    sigset_t original;   /* the mask that commands are to have */
    int terminal;        /* of ours; -1: none */
    pid_t group;         /* ours */
    bool in_pipeline;    /* others of it may need the terminal */
};

int signals_init(struct signals *s); /* 0 or errno */

/* The next one that has come; 0: none. */
int signals_next(struct signals *s);

/* Takes back one that was sent to us and has not been looked at. */
void signals_forget(int number);

/* Whether we may give the terminal away. */
bool terminal_is_ours(const struct signals *s);
void terminal_give(const struct signals *s, pid_t group);

/* Stops until somebody lets us go on; all of our job, if it was the command that
 * had Ctrl-Z from the terminal. */
void stop_ourselves(bool job);

/* Ends this process by a signal, as a shell wants to see it. Returns if it is
 * one that does not end us. */
void die_by(int signal);

struct child {
    pid_t pid;           /* and its group; 0: none */
    pid_t witness;       /* in that group; 0: none */
    bool has_terminal;
    volatile int *err;   /* why it could not be executed, once it has ended; 0 */
};

void child_adopt_orphans(void); /* once, before the first */

/* Starts a command with these as its standard files; -1: ours. 0 or errno. If it
 * cannot be executed, that is seen when it has ended. */
int child_start(struct child *c, const struct signals *s, char **command,
                const int files[3]);
void child_signal(const struct child *c, int signal); /* to its group */

/* What a terminal sends, it sends to the group that has it, and that is not
 * ours. So one process more is put into that group: it does nothing but end
 * when INT, QUIT or HUP comes, with that number as its exit code. */
void child_witness(struct child *c);

/* Lets the witness go; the signal that it has seen, or 0. Or that of one that
 * has ended already, by its status. */
int child_testimony(struct child *c);
int child_seen(int status);

/* ===== one attempt ===== */

struct run {
    struct run_args *args;
    struct signals signals;
    struct feed feed;
    struct output output;
    bide_dep *dep;
    bide_call call;
    bool terminal;       /* stderr is one that can show a live line */
    int log;             /* -1: no events */
    int64_t began_ns, now;
    int64_t waits_until; /* as was told last */
    int interrupted_by;  /* a signal while it waited; 0: none */
    bool line_shown;     /* the live line is on the terminal */
    uint32_t attempt;    /* the one that ended last */
    bool ended;          /* there was one */
    struct ending last;
    bide_outcome outcome;
};

/* Runs the command once. */
struct ending run_attempt(struct run *r, const bide_decision *d);

/* All of it. Gives the exit code. */
int run_loop(struct run_args *args);

/* ===== what is shared under a key ===== */

/* Makes a dependency whose state lies in the file of that key. 0, or what was
 * in the way, told in `problem`. */
int state_open(bide_dep **ret_dep, const char *key,
               const bide_policy_conf *conf, char *problem, size_t size);

/* ===== telling ===== */

void tell_not_started(const struct run *r); /* after such an attempt */
void tell_wait(struct run *r, const bide_decision *d);

/* Draws the live line; gives when it is to be drawn again. */
int64_t tell_countdown(struct run *r, const bide_decision *d);
void tell_clear(struct run *r);
void tell_end(struct run *r, const bide_decision *d);

int log_open(const char *where); /* -1 and errno */
void log_decision(struct run *r, const bide_decision *d);

#endif
