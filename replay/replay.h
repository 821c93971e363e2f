/* `bide replay` from the inside.
 *
 *   script or log --> script.c / log.c   read, check, compact
 *                      |
 *                      v
 *   run.c / traffic.c   say what begins, and what attempts meet
 *                      |
 *                      v
 *   driver.c   asks the engine on virtual time, tells every answer
 *                      |
 *                      v
 *   print.c    rows for people or machines
 *
 * The driver is an ordinary driver of libbide: all that it decides itself is
 * the order of what happens at the same moment. What falls due at the very time
 * of an event happens before the event; things due at the same time happen in
 * the order in which they became known. The same input gives the same bytes. */
#ifndef BIDE_REPLAY_REPLAY_H
#define BIDE_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bide/bide.h"
#include "bide/config.h"

/* ===== what attempts come to ===== */

/* Threads: immutable once read. */
struct replay_outcome {
    int status; /* HTTP; 0: none */
    bide_fault fault;
    bool not_sent;
    bool is_grpc;
    int grpc;
    const bide_header *headers;
    size_t n_headers;
    const char *body;
    size_t body_len;
    int64_t latency_ns; /* from its start; < 0: not said */
};

/* ===== timers: a heap of what falls due ===== */

struct replay_call;

struct replay_timer {
    int64_t at_ns;
    uint64_t seq; /* breaks ties: first come, first due */
    struct replay_call *call;
    uint64_t serial;  /* of the call; another: it is over */
    uint32_t attempt; /* whose end is due; 0: the call is to be asked */
};

/* Threads: owned. */
struct replay_timers {
    struct replay_timer *heap;
    size_t n, capacity;
    uint64_t seq;
};

bool replay_timers_add(struct replay_timers *t, struct replay_timer timer);
bool replay_timers_due(const struct replay_timers *t, int64_t until_ns);
struct replay_timer replay_timers_take(struct replay_timers *t);
void replay_timers_done(struct replay_timers *t);

/* ===== the driver ===== */

enum { REPLAY_RUNNING_MAX = 5 };

struct replay_attempt {
    uint32_t attempt;
    int64_t start_ns, timeout_ns;
    uint64_t due_seq; /* of the one timer that counts */
    bool timed_out;   /* what that timer will bring */
    struct replay_outcome outcome;
};

struct replay_call {
    bide_call call;
    uint64_t serial; /* never the same again */
    uint64_t user;   /* whatever the user of the driver likes */
    const char *method;
    int64_t begin_ns;
    uint32_t first_attempt; /* 1, or more where earlier ones were made */
    bide_class last_class;  /* of the last outcome, once there was one */
    bool had_outcome;
    bide_decision last; /* that was told */
    int64_t ask_at_ns;  /* the timer to ask again; FOREVER: none */
    unsigned n_running;
    struct replay_attempt running[REPLAY_RUNNING_MAX];
    bool queued;
    struct replay_call *before, *after; /* in the queue for a place */
    struct replay_call *next_free;
    struct replay_call *next_made;
};

/* Why the engine was asked. X(name, key) */
#define REPLAY_CAUSES(X)                                                       \
    X(REPLAY_BEGIN, "begin")                                                   \
    X(REPLAY_RESULT, "result")                                                 \
    X(REPLAY_TIMEOUT, "timeout") /* no result came in time */                  \
    X(REPLAY_DUE, "due")         /* a wait is over */                          \
    X(REPLAY_STARTED, "started") /* asked again after `try` */                 \
    X(REPLAY_PLACE, "place")     /* a place in flight is free */               \
    X(REPLAY_CANCEL, "cancel")                                                 \
    X(REPLAY_TICK, "tick")                                                     \
    X(REPLAY_END, "end")         /* the script is over, the call is not */     \
    X(REPLAY_BREAKER, "breaker") /* it went from one state to another */       \
    X(REPLAY_FORCED, "force_breaker")                                          \
    X(REPLAY_UNUSED, "unused") /* a result that no attempt waits for */

enum replay_cause {
#define X(name, key) name,
    REPLAY_CAUSES(X)
#undef X
};

/* Something to tell: a decision, or a note without one. */
struct replay_row {
    enum replay_cause cause;
    int64_t now_ns;
    const struct replay_call *call; /* NULL: of the dependency */
    bool decided;                   /* `decision` counts */
    bide_decision decision;
    uint32_t of;                      /* RESULT, TIMEOUT, UNUSED: the attempt */
    const bide_outcome *outcome;      /* RESULT, TIMEOUT; else NULL */
    const struct replay_outcome *raw; /* the same before it was classified */
    bide_breaker_state from, to;      /* BREAKER */
    int64_t until_ns;                 /* BREAKER to open; else 0 */
    bide_breaker_mode mode;           /* FORCED */
    uint32_t stopped[REPLAY_RUNNING_MAX]; /* DONE: attempts that still ran */
    unsigned n_stopped;
};

/* What the driver asks and tells. `outcome` says what the attempt that starts
 * now will come to, or false: nobody knows yet. */
struct replay_user {
    bool (*outcome)(void *ctx, const struct replay_call *call, uint32_t attempt,
                    struct replay_outcome *ret);
    void (*tell)(void *ctx, const struct replay_row *row);
};

/* Threads: owned. */
struct replay {
    bide_dep *dep;
    int64_t now_ns;
    int64_t wall_s;      /* seconds since 1970 at time 0; 0: unknown */
    uint64_t in_flight;  /* attempts that run */
    uint64_t open;       /* calls that are not over */
    uint64_t unfinished; /* calls that were, at the end */
    uint64_t unused;     /* results that no attempt waited for */
    uint64_t decisions;
    uint64_t decisions_max;
    int error; /* BIDE_ENOMEM, BIDE_ESTATE: too many decisions */

    struct replay_timers timers;
    struct replay_call *made, *free;
    struct replay_call *queue_first, *queue_last;
    bool place_free;
    uint64_t serial;
    const struct replay_user *user;
    void *ctx;
};

struct replay_settings;

/* Starts at time 0. 0, or what bide_dep_new() says. */
int replay_init(struct replay *r, const struct replay_settings *settings,
                const struct replay_user *user, void *ctx);
void replay_done(struct replay *r);

/* All of these give r->error, and do nothing once there is one. */

/* Lets everything happen that is due up to then, `at_ns` included. */
int replay_advance(struct replay *r, int64_t at_ns);

/* op->deadline_ns is a duration here, 0 for none. */
int replay_begin(struct replay *r, const bide_op *op, const char *method,
                 uint64_t user, struct replay_call **ret_call);

/* The outcome of an attempt: now, or where it has a latency, that long after
 * the attempt's start. attempt 0: of the oldest that runs. */
int replay_result(struct replay *r, struct replay_call *call, uint32_t attempt,
                  const struct replay_outcome *outcome);
int replay_cancel(struct replay *r, struct replay_call *call);
int replay_tick(struct replay *r);
int replay_force(struct replay *r, bide_breaker_mode mode);

/* Runs until nothing more falls due, then ends what is still open. */
int replay_finish(struct replay *r);

/* ===== scripts ===== */

enum replay_event_kind {
    REPLAY_EVENT_BEGIN,
    REPLAY_EVENT_RESULT,
    REPLAY_EVENT_CANCEL,
    REPLAY_EVENT_FORCE,
    REPLAY_EVENT_TICK
};

struct replay_begin {
    const char *name;
    const char *method;
    bide_op op; /* its deadline as a duration */
    const struct replay_outcome *results;
    size_t n_results; /* 0: results come as events, or never */
    uint32_t count;   /* as many calls, ... */
    int64_t every_ns; /* ... this far apart */
};

struct replay_event {
    int64_t at_ns;
    enum replay_event_kind kind;
    uint32_t call;    /* the number of a begin */
    uint32_t attempt; /* RESULT; 0: not said */
    union {
        const struct replay_begin *begin;
        const struct replay_outcome *outcome;
        bide_breaker_mode mode;
    } of;
};

/* Threads: immutable once read. */
struct replay_script {
    struct bide__arena *arena;
    struct replay_event *events;
    size_t n_events, capacity;
    uint32_t n_begins; /* lines that begin calls */
    uint64_t n_calls;  /* all that those begin */
    uint32_t n_bursts; /* lines with a count */
    int64_t wall_s;    /* of time 0; 0: unknown */
};

enum { REPLAY_MAX_CALLS = 1000000, REPLAY_MAX_BURSTS = 1000 };

/* Reads a script. BIDE_EPARSE: the mistakes are in `notes`; BIDE_ENOMEM. */
int replay_script_read(struct replay_script *script, const char *name,
                       const char *text, size_t len, bide_diagnostics *notes);
void replay_script_done(struct replay_script *script);

/* ===== times in text (time.c) ===== */

/* All give nanoseconds since 1970, or BIDE_EPARSE. *ret_whole: the text named a
 * second, and no part of one. */
int replay_time_clf(const char *text, size_t len, int64_t *ret_ns);
int replay_time_iso(const char *text, size_t len, int64_t *ret_ns,
                    bool *ret_whole);
int replay_time_epoch(const char *text, size_t len, int64_t *ret_ns);

/* "12.5" in units of `unit_ns`; BIDE_EPARSE for anything but digits and a dot.
 * Saturates. */
int replay_decimal(const char *text, size_t len, int64_t unit_ns,
                   int64_t *ret_ns);

/* Writes "2026-01-02 03:04" for nanoseconds since 1970. */
void replay_time_minute(int64_t ns, char *buffer, size_t size);

/* ===== access logs ===== */

struct replay_line {
    int64_t at_ns; /* since 1970 */
    uint32_t latency_us;
    uint16_t status;
    bool idempotent : 1;
    bool whole_second : 1; /* the log did not say more */
};

enum { REPLAY_BAD_SHOWN = 5, REPLAY_LINE_MAX = 65536 };

/* Threads: owned. */
struct replay_log {
    struct replay_line *lines;
    size_t n, capacity;
    uint64_t n_read; /* lines in all, blank ones not counted */
    uint64_t n_bad;  /* of those, not understood; the first of them: */
    struct {
        uint64_t number;
        const char *why;
        char text[61];
    } bad[REPLAY_BAD_SHOWN];
    bool has_latency; /* of one line at least */
    bool disordered;  /* it was not sorted by time */
};

/* A format: `common`, `combined`, `json`, or one in the words of nginx
 * ('$remote_addr [$time_local] "$request" $status $request_time') or of Apache
 * ('%h %t "%r" %>s %D'). Threads: immutable. */
struct replay_format;

/* NULL and *ret_why, if it is none. */
struct replay_format *replay_format_new(const char *text, const char **ret_why);
void replay_format_free(struct replay_format *format);

/* Reads one line; 0, or BIDE_EPARSE and why. */
int replay_format_line(const struct replay_format *format, const char *text,
                       size_t len, struct replay_line *ret,
                       bool *ret_has_latency, const char **ret_why);

/* One line of a JSON log (log_json.c). */
int replay_log_json(const char *text, size_t len, struct replay_line *ret,
                    bool *ret_has_latency, const char **ret_why);

/* Reads all of a log, sorted by time in the end. BIDE_ENOMEM. */
int replay_log_read(struct replay_log *log, const struct replay_format *format,
                    FILE *in);
void replay_log_done(struct replay_log *log);

/* ===== output ===== */

/* Threads: owned. */
struct replay_printer {
    FILE *out;
    bool json;
    bool calls; /* a row per call, not per decision */
    int name_width;
    uint64_t rows;
};

/* Prints a row; `name` is the call's. */
void replay_print_row(struct replay_printer *p, const struct replay *r,
                      const struct replay_row *row, const char *name);
void replay_print_summary(struct replay_printer *p, const struct replay *r);
void replay_print_json(struct replay_printer *p, const struct replay *r,
                       const struct replay_row *row, const char *name);
const char *replay_cause_name(enum replay_cause cause);
const char *replay_mode_name(bide_breaker_mode mode);

/* Writes the parts of a summary that scripts and logs share. */
struct bide__json;
void replay_json_ends(struct bide__json *j, const bide_stats *stats);
void replay_text_ends(FILE *out, const bide_stats *stats);

/* ===== the two ways to run ===== */

/* Threads: immutable. */
struct replay_settings {
    const bide_policy_conf *conf;
    uint64_t seed;
    uint64_t decisions_max; /* ends what would never end */
};

enum { REPLAY_DECISIONS_MAX = 10000000 };

/* 0, BIDE_ENOMEM, or BIDE_ESTATE: more decisions than that; for a log, than
 * that and 100 a line. */
int replay_run_script(const struct replay_script *script,
                      const struct replay_settings *settings,
                      struct replay_printer *printer);
int replay_run_log(const struct replay_log *log,
                   const struct replay_settings *settings,
                   struct replay_printer *printer);

#endif
