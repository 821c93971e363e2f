/* The last fifteen minutes: the data for charts, so that a page that is opened in
 * the middle of an outage shows how it began.
 *
 *     bide__history_tick(&history, &observed, now_ns);      // each second
 *     const struct bide__track *t = bide__history_find(&history, "pay");
 *     const struct bide__sample *s = bide__track_sample(t, 0); // the newest
 *
 * A sample holds what happened in its second, not totals. Five minutes are kept
 * second by second; of the ten minutes before there is one sample for every ten
 * seconds, as exact as the others and ten times as long. So a dependency takes
 * 70 KB. One that is no longer in the list is dropped. */
#ifndef BIDE_OBSERVE_EVENT_HISTORY_H
#define BIDE_OBSERVE_EVENT_HISTORY_H

#include "bide/stats.h"
#include "observe/event/observed.h"

enum {
    BIDE__HISTORY_STEP = 10,                  /* seconds in a coarse sample */
    BIDE__HISTORY = 300 + BIDE__HISTORY_STEP, /* samples of a second */
    BIDE__HISTORY_COARSE = 60,                /* listed before those; kept are
                                               also the ones beside them */
    BIDE__HISTORY_COARSE_KEPT =
        BIDE__HISTORY_COARSE + BIDE__HISTORY / BIDE__HISTORY_STEP,
    BIDE__HISTORY_DEPS = 512,               /* further ones have no history */
    BIDE__DONE_REASONS = BIDE_BECAUSE_FIRST /* why a call is done */
};

/* What happened between two polls of a dependency. Threads: owned. */
struct bide__sample {
    int64_t at_ns;
    float seconds; /* that it covers */
    float budget;  /* retries left; infinite where there is no budget */
    float p50_call_ms, p99_call_ms;       /* of calls that succeeded; */
    float p50_attempt_ms, p99_attempt_ms; /* of their last attempts; -1: none */
    uint32_t first, late;                 /* successes */
    uint32_t refused[BIDE__DONE_REASONS]; /* failures, by reason */
    uint32_t attempts;
    uint32_t backoff, hint, immediate; /* retries */
    uint32_t hedges, hedges_won;
    uint8_t breaker; /* a bide_breaker_state, at its end */
};

/* One dependency's. Threads: owned. */
struct bide__track {
    char name[256];
    bool seen;       /* in this tick */
    size_t n;        /* samples ever taken */
    struct bide__history_mark {
        bide_stats stats;
        int64_t at_ns;
    } last, coarse_last; /* totals at the end of the last one of each */
    struct bide__sample sample[BIDE__HISTORY];
    struct bide__sample coarse[BIDE__HISTORY_COARSE_KEPT];
};

/* All zero is an empty one. Threads: owned. */
struct bide__history {
    struct bide__track *tracks[BIDE__HISTORY_DEPS];
    size_t n;
};

/* Adds a sample to each observed dependency. */
void bide__history_tick(struct bide__history *h,
                        const struct bide__observed *observed, int64_t now_ns);
void bide__history_done(struct bide__history *h);

/* NULL if it has none. */
const struct bide__track *bide__history_find(const struct bide__history *h,
                                             const char *name);

/* How many samples there are, without gap or overlap, and one of them; 0 is the
 * newest. */
size_t bide__track_samples(const struct bide__track *t);
const struct bide__sample *bide__track_sample(const struct bide__track *t,
                                              size_t age);

#endif
