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
 *   hook.c      commands of the user's own: --on-retry and the like
 *   state.c     what invocations with one --key share; keys.c: which there are
 *   progress.c      what is told to people, log.c: to machines
 *
 * One thread and one poll(): while a command runs, nothing else waits. */
#ifndef BIDE_CMD_RUN_CMD_H
#define BIDE_CMD_RUN_CMD_H

#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <sys/types.h>

#include "bide/run.h"
#include "bide/fleet.h"
#include "cmd/run/judge.h"
#include "cmd/run/output.h"
#include "cmd/run/signals.h"
#include "cmd/run/stdin.h"

/* ===== one attempt ===== */

struct run {
    struct run_args *args;
    struct signals signals;
    struct feed feed;
    struct output output;
    bide_dep *dep;
    bide_fleet *fleet;   /* that it is in, or NULL */
    bide_op op;          /* with which the call was begun */
    bide_call call;
    bool terminal;       /* stderr is one that can show a live line */
    bool quiet;          /* nothing is said to people */
    int log;             /* -1: no events */
    int64_t began_ns, now;
    int64_t waits_until; /* as was told last */
    int interrupted_by;  /* a signal while it waited; 0: none */
    bool line_shown;     /* the live line is on the terminal */
    uint32_t attempt;    /* the one that ended last */
    bool ended;          /* there was one */
    uint32_t hooked;     /* --on-retry was run after this attempt */
    struct ending last;
    bide_outcome outcome;
};

/* Runs the command once. */
struct ending run_attempt(struct run *r, const bide_decision *d);

/* Runs another command to its end, between attempts; nothing of it is
 * judged. */
struct ending run_beside(struct run *r, char **command, const int files[3],
                         int64_t timeout_ns);

/* All of it. Gives the exit code. */
int run_loop(struct run_args *args);

#endif
