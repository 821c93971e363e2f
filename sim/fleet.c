#include "fleet.h"

#include <stdlib.h>

#include "luck.h"
#include "memory.h"

static bool is_over(const struct sim_fleet *f, const struct sim_world *w)
{
    return (f->most_calls && f->n_calls >= f->most_calls) ||
           (f->until_ns && w->now_ns >= f->until_ns);
}

/* Sets the event of the nth call: of the whole fleet, or of one client. */
static void set_next(struct sim_fleet *f, struct sim_world *w, uint32_t client,
                     uint64_t n)
{
    uint64_t word = sim_luck_word(w->seed, client, n,
                                  sim_luck_what(SIM_LUCK_ARRIVAL, f->part, 0));
    sim_world_at(w, w->now_ns + sim_dist_draw(&f->gap, word), &f->actor, client,
                 0);
}

/* Any client may be the next, each equally likely. */
static uint64_t pick(const struct sim_fleet *f, const struct sim_world *w)
{
    if (f->clients == 1)
        return 0;
    return sim_luck_word(w->seed, 0, f->n_calls,
                         sim_luck_what(SIM_LUCK_CLIENT, f->part, 0)) %
           f->clients;
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t client,
                uint32_t unused)
{
    struct sim_fleet *f = self->self;
    (void)unused;
    if (is_over(f, w))
        return;
    uint64_t n = f->n_calls++;
    if (f->closed) {
        sim_caller_begin(f->caller, w, client, f->made[client]++, client, NULL);
        return;
    }
    set_next(f, w, 0, n + 1);
    sim_caller_begin(f->caller, w, pick(f, w), n, 0, NULL);
}

static void on_done(void *self, struct sim_world *w, uint32_t client,
                    bide_reason reason)
{
    struct sim_fleet *f = self;
    (void)reason;
    set_next(f, w, client, f->made[client]);
}

void sim_fleet_start(struct sim_fleet *f, struct sim_world *w)
{
    f->actor = (struct sim_actor){ act, f };
    if (!f->closed) {
        set_next(f, w, 0, 0);
        return;
    }
    f->made = sim_new(f->clients, sizeof *f->made);
    f->caller->self = f;
    f->caller->on_done = on_done;
    for (uint32_t i = 0; i < f->clients; i++)
        set_next(f, w, i, 0);
}

void sim_fleet_done(struct sim_fleet *f)
{
    free(f->made);
}
