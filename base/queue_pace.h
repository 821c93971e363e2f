/* base/queue_pace.h: how many messages may be started now, by what the handler's last
 * answers say about the handler itself.
 *
 *     struct queue_pace p;
 *     queue_pace_init(&p, 16);
 *     uint32_t n = queue_pace_room(&p, running, now_ns);
 *     ...                                       // start up to n
 *     queue_pace_down(&p, started_ns, 0, &rng, now_ns);   // nobody there
 *     queue_pace_good(&p, started_ns, now_ns);            // it answered
 *
 *          nobody there: refused, breaker open, throttled, cannot start
 *   FLOWING --------------------------------------------> PAUSED
 *      ^                                                  |  ^
 *      '--- as many as allowed --- RISING <--- a probe ---'  | down again
 *                                    '----- answered --------'
 *
 *   FLOWING  as many at once as the worker may.
 *   PAUSED   one message at a time is tried, the probe: at most one a second, then
 *            more rarely, at least every PROBE_MOST.
 *   RISING   one at once, then twice as many with each step in which something was
 *            answered, so that a handler that has just come back is not overrun.
 *
 * Answers to what was started before the pause say nothing about the time after it,
 * and are ignored.
 *
 * A handler that answers nothing but errors may be ill, or may be right about every
 * message that is left. Nothing but time tells them apart: a probe that fails is free
 * for QUEUE_DOUBT, and counts as an attempt after that. So no outage of hours kills a
 * message, and none is kept for ever: each is due after its own backoff only, and dies
 * no sooner than its policy says. A probe that nobody answered is always free, and
 * ends the doubt.
 *
 * The worker and the simulator both go by it. Time and randomness are arguments. */
#ifndef BIDE_BASE_QUEUE_PACE_H
#define BIDE_BASE_QUEUE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/rng.h"

enum queue_pace_state { QUEUE_FLOWING, QUEUE_PAUSED, QUEUE_RISING };

#define QUEUE_PROBE_FIRST INT64_C(1000000000)  /* between two probes, ... */
#define QUEUE_PROBE_MOST INT64_C(10000000000)  /* ... growing up to this */
#define QUEUE_RISE_STEP INT64_C(500000000)     /* between two steps */
#define QUEUE_DOUBT INT64_C(10800000000000)    /* 3 h of errors: they count */

/* What an attempt is for. */
enum queue_probe {
    QUEUE_NO_PROBE,    /* its message */
    QUEUE_FREE_PROBE,  /* to see whether the handler is back */
    QUEUE_COUNTED_PROBE /* the same; but if it fails, that is an attempt */
};

/* Threads: owned. */
struct queue_pace {
    enum queue_pace_state state;
    uint32_t most;      /* at once */
    uint32_t limit;     /* RISING: at once */
    bool answered;      /* RISING: something, in this step */
    int64_t since_ns;   /* when the state began */
    int64_t at_ns;      /* PAUSED: the next probe; RISING: the next step */
    int64_t spacing_ns; /* PAUSED: before the next probe but one */
    int64_t errors_ns;  /* PAUSED: since when it answers, with errors; FOREVER */
    bool others_next;   /* the odd place is not for a retry this time */
};

void queue_pace_init(struct queue_pace *p, uint32_t most);

/* How many more may be started, beside those that run. */
uint32_t queue_pace_room(struct queue_pace *p, uint32_t running, int64_t now);

/* Of the next `most` to be taken, how many may be retries while others wait: half
 * of them, and of an odd number the larger half every other time. So one place
 * that becomes free at a time goes to either in turn, and neither starves. */
uint32_t queue_pace_retries(const struct queue_pace *p, uint32_t most);

/* Something was taken, when `most` were asked for: the turn passes on. A look
 * that found nothing is nobody's turn. */
void queue_pace_took(struct queue_pace *p, uint32_t most);

/* When asking again may give more; BIDE_FOREVER: when something has ended. */
int64_t queue_pace_next(const struct queue_pace *p, uint32_t running);

/* The handler was not there for an attempt that began at started_ns. No probe
 * before not_before_ns (0: as usual). True if this begins a pause. */
bool queue_pace_down(struct queue_pace *p, int64_t started_ns,
                     int64_t not_before_ns, const bide_rng *rng, int64_t now);

/* Which it was: it answered, with an error; or nobody did. */
void queue_pace_errs(struct queue_pace *p, bool answered, int64_t now);

/* What an attempt is for that begins now. */
enum queue_probe queue_pace_probe(const struct queue_pace *p, int64_t now);

/* It answered, whatever it said. True if this ends a pause. */
bool queue_pace_good(struct queue_pace *p, int64_t started_ns, int64_t now);

#endif
