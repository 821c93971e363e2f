/* bide top: shows the state from a program's admin endpoint in a terminal.
 *
 *   fetch.c    requests over a plain socket,
 *   secure.c   or over TLS, by running bide fetch
 *   state.c    reads rows from the JSON
 *   queue.c    the queue of a worker
 *   shared.c   its store of idempotency records, and its fleet
 *   minute.c   remembers the last minute of each, for sparklines
 *   order.c    which rows are shown: filter, order, the names' common part
 *   cells.c    numbers, durations, sparklines, and text cut to a width
 *   list.c     all dependencies, a line each
 *   page.c     one dependency
 *   screen.c   takes over the terminal, and restores it in any case
 *   keys.c     reads keys and the mouse
 *   ui.c       what keys do, and once a second all of the above
 *   cmd_top.c  the flags */
#ifndef BIDE_CMD_TOP_TOP_H
#define BIDE_CMD_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/common/output.h"
#include "config/doc/tree.h"

/* ===== the state ===== */

enum { TOP_DECISIONS = 64, TOP_NAME = 160, TOP_TEXT = 480, TOP_MINUTE = 60 };

enum top_mood { TOP_IDLE, TOP_GOOD, TOP_WARN, TOP_BAD };

/* One dependency, over the last second. Texts are safe for a terminal. */
struct top_dep {
    char name[TOP_NAME];
    enum top_mood mood;
    char why[48]; /* "breaker open"; or "" */
    char breaker[16];
    bool forced; /* into this state, by an operator */
    double open_for_ms;
    bool has_second;
    double at_ms;             /* when the second ended */
    double calls, first, end; /* a second; shares of them, NaN: no calls */
    double amplification;     /* NaN likewise */
    double retries, hedges;   /* a second */
    double failed;            /* a second */
    double budget;            /* infinite: there is none */
    double p99_ms;            /* negative: nothing was measured */
    unsigned up, endpoints;
};

struct top_decision {
    double at_ms;
    char dep[TOP_NAME];
    char text[TOP_TEXT]; /* "POST /pay/17  1/4  503  gives up: ..." */
    bool gives_up;
};

/* The queue of a worker. */
struct top_queue {
    bool there;
    double waiting, held, later, running, dead; /* messages */
    double oldest_s;
    double broker; /* 0: it does not answer, and the numbers are old */
    char paused[48];   /* why; "" */
    double paused_s;   /* for how long */
    char died[96];     /* "3 attempts, 1 crashed", since the start; "" */
    double done, done_per_s; /* NaN: not known yet */
    double retries, given_back, redelivered, lost, rescued; /* since the start */
};

/* A store and a fleet, of whoever has one. */
struct top_shared {
    double up; /* negative: there is no store */
    double records, bytes, limit, unanswered;
    double full; /* requests that found no room, since the start */
    double instances;
    size_t in_fleet, alone; /* dependencies */
};

struct top_state {
    struct top_queue queue;
    struct top_shared shared;
    char program[TOP_NAME], version[64];
    double uptime_s, now_ms;
    bool ready, draining;
    size_t n_deps;
    struct top_dep *deps;
    size_t n_decisions;
    struct top_decision decisions[TOP_DECISIONS];
    struct bide__tree *tree;       /* all of it */
    const struct bide__node *full; /* the dependency that was asked for, in the
                                      tree; NULL: none */
};

/* ===== which are shown ===== */

/* X(name, title): what rows may be ordered by. */
#define TOP_ORDERS(X)                                                          \
    X(TOP_BY_TROUBLE, "worst first")                                           \
    X(TOP_BY_NAME, "name")                                                     \
    X(TOP_BY_CALLS, "calls/s")                                                 \
    X(TOP_BY_FAILED, "fail/s")                                                 \
    X(TOP_BY_RETRIES, "retry/s")                                               \
    X(TOP_BY_P99, "p99")

enum top_order {
#define X(name, title) name,
    TOP_ORDERS(X)
#undef X
        TOP_N_ORDERS
};

/* ===== showing it ===== */

struct top_minute;

struct top_look {
    int width, height; /* height 0: as many lines as there are */
    bool utf8;
    struct paint paint;
    const char *place;
    const char *status; /* "paused"; or NULL */
    const struct top_minute *minute;
    const char *shared;  /* what most names begin with */
    const char *reverse; /* begins the selected line; "" */
    enum top_order order;
    const char *filter;   /* "" */
    bool typing;          /* the filter is being typed */
    size_t shown;         /* of the dependencies; from top_order() */
    size_t first, chosen; /* the first line, and the selected one */
    bool interactive;     /* there are keys, and something is selected */
};

#endif
