/* bide/backoff.h: how long to wait before a retry.
 *
 *     bide_backoff b = BIDE_BACKOFF_INIT;          // 100 ms, x2, 30 s, full
 *     b.jitter = BIDE_JITTER_EQUAL;
 *     int64_t wait = 0;
 *     for (uint32_t n = 0; n < 5; n++)
 *         wait = bide_backoff_wait(&b, n, wait, &rng);
 *
 * Before jitter the wait is v(n) = min(cap, base * factor^n); n is 0 for the
 * first retry. Other shapes grow linearly, or follow a list:
 *
 *     bide_backoff steps = BIDE_BACKOFF_INIT, listed = BIDE_BACKOFF_INIT;
 *     steps.shape = BIDE_SHAPE_LINEAR;             // 100, 200, 300 ms
 *     listed.delays = (bide_delays){ 2, { 1000000000, 5000000000 } };
 *
 * The cap is applied before the jitter, so waits stay spread even at the cap.
 * Every function here accepts any n up to 2^32 - 1 and any durations, and
 * returns a value within [0, max(cap, floor)]; with a list, its longest delay
 * takes the place of the cap. */
#ifndef BIDE_BACKOFF_H
#define BIDE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "rng.h"

BIDE_BEGIN_DECLS

/* A time or a duration without end. */
#define BIDE_FOREVER INT64_MAX

/* X(name, key, what is drawn) */
#define BIDE_JITTERS(X)                                                        \
    X(BIDE_JITTER_NONE, "none", "v")                                           \
    X(BIDE_JITTER_FULL, "full", "uniform in [0, v]")                           \
    X(BIDE_JITTER_EQUAL, "equal", "v/2 + uniform in [0, v/2]")                 \
    X(BIDE_JITTER_DECORRELATED, "decorrelated",                                \
      "uniform in [base, min(cap, 3 * previous wait)]")                        \
    X(BIDE_JITTER_PROPORTIONAL, "proportional",                                \
      "v * uniform in [1 - spread, 1 + spread], never over cap")

typedef enum bide_jitter {
#define BIDE__X(name, key, what) name,
    BIDE_JITTERS(BIDE__X)
#undef BIDE__X
} bide_jitter;

/* How the waits grow. X(name, key, v(n) before the cap) */
#define BIDE_SHAPES(X)                                                         \
    X(BIDE_SHAPE_EXPONENTIAL, "exponential", "base * factor^n")                \
    X(BIDE_SHAPE_LINEAR, "linear", "base * (n + 1)")

typedef enum bide_shape {
#define BIDE__X(name, key, what) name,
    BIDE_SHAPES(BIDE__X)
#undef BIDE__X
} bide_shape;

#define BIDE_MAX_DELAYS 16

/* Waits in so many words: those of retry 0, 1, ...; the last one repeats. */
typedef struct bide_delays {
    uint32_t n;               /* 0 .. BIDE_MAX_DELAYS; 0: no list */
    int64_t ns[BIDE_MAX_DELAYS]; /* each >= 0 */
} bide_delays;

/* The shape of the waits. Threads: owned, or immutable inside a policy. */
typedef struct bide_backoff {
    int64_t base_ns;          /* wait before the first retry; >= 0; 100 ms */
    int64_t cap_ns;           /* no wait is longer; >= base_ns; 30 s */
    int64_t floor_ns;         /* no wait is shorter, and jitter stays above it;
                                 0 .. cap_ns; 0 */
    double factor;            /* growth per retry; 1 .. 1000; 2 */
    double spread;            /* of proportional jitter; 0 .. 1; 0.2 */
    bide_jitter jitter;       /* full */
    bool immediate_first;     /* the first retry of a failure to connect waits
                                 0; false */
    bide_shape shape;         /* exponential */
    bide_delays delays;       /* a list in place of base, factor, cap and shape;
                                 jitter and floor still apply; none */
} bide_backoff;

/* For a field that takes the value of another one unless it is set. */
#define BIDE_SAME INT64_C(-1)

#define BIDE_BACKOFF_INIT                                                      \
    {                                                                          \
        INT64_C(100000000), INT64_C(30000000000), 0, 2.0, 0.2,                 \
            BIDE_JITTER_FULL, false, BIDE_SHAPE_EXPONENTIAL, { 0, { 0 } }      \
    }

/* Returns v(n), the wait of retry n (from 0) before jitter. */
BIDE_API int64_t bide_backoff_value(const bide_backoff *backoff, uint32_t n);

/* Returns the bounds of the jittered wait of retry n, both inclusive.
 * `previous_ns` is the wait before it, which only decorrelated jitter uses; 0
 * or less for the first. */
BIDE_API void bide_backoff_range(const bide_backoff *backoff, uint32_t n,
                                 int64_t previous_ns, int64_t *ret_min_ns,
                                 int64_t *ret_max_ns);

/* Draws the wait of retry n from that range. */
BIDE_API int64_t bide_backoff_wait(const bide_backoff *backoff, uint32_t n,
                                   int64_t previous_ns, const bide_rng *rng);

/* Returns the name of a jitter ("full"), or NULL; and finds one by its name, or
 * returns BIDE_ENAME. */
BIDE_API const char *bide_jitter_name(bide_jitter jitter);
BIDE_API int bide_jitter_by_name(const char *name, bide_jitter *ret_jitter);

BIDE_END_DECLS
#endif
