/* bide top: what the admin endpoint of a program shows, in a terminal.
 *
 *   fetch.c    asks for /api/state, over a plain socket, or ...
 *   secure.c   ... over TLS, which is bide fetch's
 *   state.c    reads it: a tree of JSON into rows
 *   show.c     rows into lines, as wide as the terminal is
 *   screen.c   the terminal: taken over, and given back whatever happens
 *   cmd_top.c  the flags, and once a second all of the above */
#ifndef BIDE_CMD_TOP_TOP_H
#define BIDE_CMD_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/common/output.h"
#include "net/address.h"

/* ===== what it says ===== */

enum { TOP_DEPS = 256, TOP_DECISIONS = 64, TOP_NAME = 64, TOP_TEXT = 320 };

/* One dependency, over the last second. Texts are fit for a terminal. */
struct top_dep {
    char name[TOP_NAME];
    char breaker[16];
    bool forced; /* by somebody, to that state */
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
    size_t n_deps, more_deps; /* those there was no room for */
    struct top_dep deps[TOP_DEPS];
    size_t n_decisions;
    struct top_decision decisions[TOP_DECISIONS];
};

/* Reads a state. False, and `why`, if it is none. */
bool top_state_read(struct top_state *state, const char *text, size_t len,
                    char *why, size_t size);

/* ===== how it looks ===== */

struct top_look {
    int width, height; /* height 0: as many lines as there are */
    bool utf8;
    struct paint paint;
    const char *place;
    const char *status; /* "paused"; or NULL */
};

/* Writes the lines; each is ended by `end` ("\n", or what clears the rest of a
 * terminal's line as well). */
void top_show(FILE *out, const struct top_state *state,
              const struct top_look *look, const char *end);

#endif
