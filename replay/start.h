/* The state that a replay starts from: an incident rarely begins with a full
 * budget and a closed breaker.
 *
 *     struct replay_start start = REPLAY_START_INIT;
 *     start.tokens = 3;
 *     start.breaker = BIDE_BREAKER_OPEN;
 *     const char *why = replay_start_set(&r, &start);  // NULL: done
 */
#ifndef BIDE_REPLAY_START_H
#define BIDE_REPLAY_START_H

#include <stdint.h>

#include "bide/dep.h"

struct bide__table;
struct replay;

/* As a script and --start give it; all of it is optional. Threads: immutable
 * once read. */
struct replay_start {
    double spent;       /* share of the budget; < 0: not given, none is */
    double tokens;      /* that are left; < 0: not given */
    double deposits;    /* a second, into a budget of kind window */
    bide_breaker_state breaker;
    int64_t open_ns;    /* it stays open so long; < 0: as the policy says */
    uint32_t reopenings, in_a_row;
    uint32_t attempts, failed, slow;
    double rate;        /* of limits.adaptive_rate; 0: not throttled */
};

#define REPLAY_START_INIT                                                      \
    {                                                                          \
        .spent = -1, .tokens = -1, .open_ns = -1                               \
    }

/* Its keys. */
extern const struct bide__table replay_start_table;

/* Puts the dependency into that state, before its first call. NULL, or why that
 * makes no sense. */
const char *replay_start_set(struct replay *r, const struct replay_start *s);

#endif
