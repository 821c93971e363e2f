/* The ring of timeouts: adds one at the back, and sets an event for the first
 * that still matters. */
#include "sim/world/timeouts.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/caller.h"
#include "sim/world/caller_answer.h"

/* Whether the attempt is still running. */
static inline bool matters(const struct sim_timeouts *t,
                           const struct sim_timeout *timeout)
{
    const struct sim_call *call = sim_caller_at(t->caller, timeout->slot);
    return call->generation == timeout->generation &&
           sim_call_find(call, timeout->attempt) >= 0;
}

static struct sim_timeout *nth(const struct sim_timeouts *t, uint32_t n)
{
    return &t->list[(t->first + n) & (t->room - 1)];
}

/* Drops all that no longer matter: the ring is as long as the running attempts,
 * not as all that began within a timeout. */
static void sweep(struct sim_timeouts *t)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (matters(t, nth(t, i)))
            *nth(t, kept++) = *nth(t, i);
    t->n = kept;
}

/* The ring is full. If all of it matters it grows, and the part that has
 * wrapped moves behind the rest; otherwise there is room for as many again
 * before the next sweep. */
static void make_room(struct sim_timeouts *t)
{
    uint32_t old = t->room;
    if (t->n > 0)
        sweep(t);
    if (t->n < old / 2)
        return;
    t->list = sim_grow(t->list, old, &t->room, sizeof *t->list);
    memcpy(t->list + old, t->list, t->first * sizeof *t->list);
}

static struct sim_timeout take_first(struct sim_timeouts *t)
{
    struct sim_timeout first = t->list[t->first];
    t->first = (t->first + 1) & (t->room - 1);
    t->n--;
    return first;
}

/* Drops those in front that no longer matter, and schedules the event for the
 * first that does. */
static void rearm(struct sim_timeouts *t, struct sim_world *w)
{
    while (t->n > 0 && !matters(t, &t->list[t->first]))
        take_first(t);
    t->armed = t->n > 0;
    if (t->armed)
        sim_world_at(w, t->list[t->first].at_ns, &t->actor, 0, 0);
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t a,
                uint32_t b)
{
    struct sim_timeouts *t = self->self;
    (void)a;
    (void)b;
    while (t->n > 0 && t->list[t->first].at_ns <= w->now_ns) {
        struct sim_timeout due = take_first(t);
        if (matters(t, &due))
            sim_caller_expired(t->caller, w, &due);
    }
    rearm(t, w);
}

void sim_timeouts_add(struct sim_timeouts *t, struct sim_world *w,
                      uint32_t slot, uint32_t generation, uint32_t attempt)
{
    int64_t at = sim_ahead(w->now_ns, t->length_ns);
    if (at == INT64_MAX)
        return; /* it has no limit */
    if (t->n == t->room)
        make_room(t);
    *nth(t, t->n++) = (struct sim_timeout){ at, slot, generation, attempt };
    if (!t->armed) {
        t->armed = true;
        t->actor = (struct sim_actor){ .act = act, .self = t };
        sim_world_at(w, at, &t->actor, 0, 0);
    }
}

void sim_timeouts_done(struct sim_timeouts *t)
{
    free(t->list);
}
