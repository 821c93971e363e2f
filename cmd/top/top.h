/* bide top: shows the state from a program's admin endpoint in a terminal.
 *
 *   fetch.c    requests /api/state over a plain socket,
 *   secure.c   or over TLS, by running bide fetch
 *   state.c    reads rows from the JSON
 *   show.c     formats rows as lines, as wide as the terminal
 *   screen.c   takes over the terminal, and restores it in any case
 *   cmd_top.c  the flags, and once a second all of the above */
#ifndef BIDE_CMD_TOP_TOP_H
#define BIDE_CMD_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/common/output.h"
#include "net/address.h"

/* ===== the state ===== */

enum { TOP_DEPS = 256, TOP_DECISIONS = 64, TOP_NAME = 64, TOP_TEXT = 320 };

/* One dependency, over the last second. Texts are safe for a terminal. */
struct top_dep {
    char name[TOP_NAME];
    char breaker[16];
    bool forced; /* into this state, by an operator */
    double open_for_ms;
    bool has_second;
    double calls, first, end; /* a second; shares of them, NaN: no calls */
    double amplification;     /* NaN likewise */
    double retries, hedges;   /* a second */
    double failed;            /* a second */
    double budget;            /* infinite: there is none */
    double p99_ms;            /* negative: nothing was measured */
};

struct top_decision {
    double at_ms;
    char text[TOP_TEXT]; /* "payments POST /pay/17 1/4 503 gives up: ..." */
    bool gives_up;
};

struct top_state {
    char program[TOP_NAME], version[TOP_NAME];
    double uptime_s, now_ms;
    bool ready, draining;
    size_t n_deps, more_deps; /* those that did not fit */
    struct top_dep deps[TOP_DEPS];
    size_t n_decisions;
    struct top_decision decisions[TOP_DECISIONS];
};

/* Reads a state. False, and `why`, if it is invalid. */
bool top_state_read(struct top_state *state, const char *text, size_t len,
                    char *why, size_t size);

/* ===== showing it ===== */

struct top_look {
    int width, height; /* height 0: as many lines as there are */
    bool utf8;
    struct paint paint;
    const char *place;
    const char *status; /* "paused"; or NULL */
};

/* Writes the lines, each followed by `end` ("\n", or a sequence that also
 * clears the rest of the line). */
void top_show(FILE *out, const struct top_state *state,
              const struct top_look *look, const char *end);

#endif
