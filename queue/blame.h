/* queue/blame.h: whose fault it is when a worker dies.
 *
 *     struct queue_blame b = queue_blame(n_running, m->deaths, 3);
 *     if (b.dead)
 *         ...                         // a dead letter, `crashed`
 *     m->deaths = b.deaths;
 *     m->suspect = b.suspect;
 *
 * A worker that dies with one message was killed by it, as far as anyone can
 * know: that counts as a death. With several, one of them may have been the
 * cause, and the others must not pay for it: all become suspects, and a suspect
 * runs alone in its process. If the worker dies again, it was that one; if it
 * does not, the suspicion is gone. Invariant: deaths grows only by a death with
 * nothing beside it. Every broker uses this rule, and none has its own.
 *
 * Where a broker cannot tell what ran beside a message (SQS), the first death is
 * `unsure`. It counts for nothing until the message has killed a worker alone: then
 * it has been there both times, and survived neither. If it survives, the first
 * one was not its fault. */
#ifndef BIDE_QUEUE_BLAME_H
#define BIDE_QUEUE_BLAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue_blame {
    uint32_t deaths;
    bool suspect;
    bool dead; /* deaths has reached its limit */
};

static inline struct queue_blame queue_blame(size_t n_running, uint32_t deaths,
                                             uint32_t max_deaths)
{
    struct queue_blame b = { deaths, true, false };

    if (n_running == 1 && b.deaths < UINT32_MAX)
        b.deaths++;
    b.dead = n_running == 1 && b.deaths >= max_deaths;
    return b;
}

/* The same, where it is only known whether the message had to run `alone`: it did
 * if it was a suspect. *unsure is kept with the message, until it has survived. */
static inline struct queue_blame queue_blame_unsure(bool alone, uint32_t deaths,
                                                    bool *unsure,
                                                    uint32_t max_deaths)
{
    bool first = alone && *unsure && deaths < UINT32_MAX;

    *unsure = !alone;
    return queue_blame(alone ? 1 : 2, deaths + first, max_deaths);
}

#endif
