/* The world of one simulation: its clock, its agenda and its luck.
 *
 *     struct sim_world world;
 *     sim_world_init(&world, seed);
 *     ...                                  // services, callers, fleets
 *     sim_world_run(&world, 600 * BIDE_SECOND);
 *     sim_world_done(&world);
 *
 * Time is virtual, begins at 0 and jumps from event to event. A world belongs
 * to one thread; replications are separate worlds. Threads: owned. */
#ifndef BIDE_SIM_WORLD_WORLD_H
#define BIDE_SIM_WORLD_WORLD_H

#include "sim/world/agenda.h"

struct sim_world {
    int64_t now_ns;
    uint64_t seed;
    uint64_t events; /* so far */
    struct sim_agenda agenda;
};

void sim_world_init(struct sim_world *w, uint64_t seed);
void sim_world_done(struct sim_world *w);

/* Runs until the agenda is empty or until `until_ns`, which is then the
 * time. */
void sim_world_run(struct sim_world *w, int64_t until_ns);

/* A time that far ahead, saturating at the end of time. */
static inline int64_t sim_ahead(int64_t now_ns, int64_t ns)
{
    return ns < INT64_MAX - now_ns ? now_ns + ns : INT64_MAX;
}

/* A duration from any double; at most 2^62 ns. */
static inline int64_t sim_to_ns(double ns)
{
    return ns < 0x1p62 ? (int64_t)ns : INT64_C(1) << 62;
}

/* Schedules `actor` to act at a time, with two numbers of its own. */
static inline void sim_world_at(struct sim_world *w, int64_t at_ns,
                                struct sim_actor *actor, uint32_t a, uint32_t b)
{
    sim_agenda_add(&w->agenda, at_ns, actor, a, b);
}

#endif
