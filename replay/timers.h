/* Timers: a heap of what falls due. */
#ifndef BIDE_REPLAY_TIMERS_H
#define BIDE_REPLAY_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
