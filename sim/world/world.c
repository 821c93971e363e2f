/* Runs a world: takes event after event off the agenda, and moves the clock. */
#include "sim/world/world.h"

void sim_world_init(struct sim_world *w, uint64_t seed)
{
    w->now_ns = 0;
    w->seed = seed;
    w->events = 0;
    sim_agenda_init(&w->agenda);
}

void sim_world_done(struct sim_world *w)
{
    sim_agenda_done(&w->agenda);
}

void sim_world_run(struct sim_world *w, int64_t until_ns)
{
    struct sim_event e;
    while (sim_agenda_pop(&w->agenda, until_ns, &e)) {
        w->now_ns = e.at_ns;
        w->events++;
        e.actor->act(e.actor, w, e.a, e.b);
    }
    if (until_ns != INT64_MAX)
        w->now_ns = until_ns;
}
