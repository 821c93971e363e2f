/* The queue of calls that wait for a place in flight: a ring, and one event
 * when a place is free. */
#include "sim/world/places.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/caller.h"

static bool still_queues(const struct sim_places *p)
{
    const struct sim_place *first = &p->list[p->first];
    const struct sim_call *call = sim_caller_at(p->caller, first->slot);
    return call->generation == first->generation && call->queued;
}

static void drop_first(struct sim_places *p)
{
    p->first = (p->first + 1) & (p->room - 1);
    p->n--;
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t a,
                uint32_t b)
{
    struct sim_places *p = self->self;
    (void)a;
    (void)b;
    while (p->n > 0 && !still_queues(p))
        drop_first(p);
    if (p->n > 0)
        sim_caller_go_on(p->caller, w, p->list[p->first].slot);
}

void sim_places_init(struct sim_places *p, struct sim_caller *c,
                     struct sim_world *w)
{
    *p = (struct sim_places){ .caller = c,
                              .world = w,
                              .actor = { .act = act, .self = p } };
}

void sim_places_done(struct sim_places *p)
{
    free(p->list);
}

void sim_places_join(struct sim_places *p, uint32_t slot, uint32_t generation)
{
    if (p->n == p->room) {
        uint32_t old = p->room;
        p->list = sim_grow(p->list, p->n, &p->room, sizeof *p->list);
        memcpy(p->list + old, p->list, p->first * sizeof *p->list);
    }
    p->list[(p->first + p->n++) & (p->room - 1)] =
        (struct sim_place){ slot, generation };
}

void sim_places_free(void *ctx, const bide_dep *dep)
{
    struct sim_places *p = ctx;
    (void)dep;
    sim_world_at(p->world, p->world->now_ns, &p->actor, 0, 0);
}
