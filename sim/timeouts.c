#include "timeouts.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* The ring is full: the part that has gone round moves behind the rest. */
static void grow(struct sim_timeouts *t)
{
    uint32_t old = t->room;
    t->list = sim_grow(t->list, t->n, &t->room, sizeof *t->list);
    memcpy(t->list + old, t->list, t->first * sizeof *t->list);
}

static struct sim_timeout take_first(struct sim_timeouts *t)
{
    struct sim_timeout first = t->list[t->first];
    t->first = (t->first + 1) & (t->room - 1);
    t->n--;
    return first;
}

/* Drops those in front that no longer matter, and sets the event for the first
 * that does. */
static void rearm(struct sim_timeouts *t, struct sim_world *w)
{
    while (t->n > 0 && !t->running(t->self, &t->list[t->first]))
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
        if (t->running(t->self, &due))
            t->expired(t->self, w, &due);
    }
    rearm(t, w);
}

/* Two are looked at for each that is added, so the ring is as long as the
 * attempts that run, not as all that began within a timeout. */
static void tidy(struct sim_timeouts *t)
{
    for (int i = 0; i < 2 && t->n > 0; i++)
        if (!t->running(t->self, &t->list[t->first]))
            take_first(t);
}

void sim_timeouts_add(struct sim_timeouts *t, struct sim_world *w,
                      uint32_t slot, uint32_t generation, uint32_t attempt)
{
    tidy(t);
    if (t->n == t->room)
        grow(t);
    t->list[(t->first + t->n++) & (t->room - 1)] = (struct sim_timeout){
        w->now_ns + t->length_ns, slot, generation, attempt
    };
    if (!t->armed) {
        t->armed = true;
        t->actor = (struct sim_actor){ act, t };
        sim_world_at(w, w->now_ns + t->length_ns, &t->actor, 0, 0);
    }
}

void sim_timeouts_done(struct sim_timeouts *t)
{
    free(t->list);
}
