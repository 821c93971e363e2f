/* Decides when each client makes its next call, for open and closed loops, by
 * the clock and for logs, and begins the call. */
#include "sim/world/fleet.h"

#include "sim/model/luck.h"

static bool is_over(const struct sim_fleet *f, uint64_t calls, int64_t at_ns)
{
    return (f->most_calls && calls >= f->most_calls) ||
           (f->until_ns && at_ns >= f->until_ns);
}

static int64_t draw_gap(const struct sim_fleet *f, const struct sim_world *w,
                        uint32_t client, uint64_t n)
{
    if (f->gap.kind == SIM_CONSTANT)
        return (int64_t)f->gap.at_ns;
    return sim_dist_draw(
        &f->gap, sim_luck_word(w->seed, client, n,
                               sim_luck_what(SIM_LUCK_ARRIVAL, f->part, 0)));
}

/* Any client may be the next, each equally likely. */
static uint64_t pick(const struct sim_fleet *f, const struct sim_world *w,
                     uint64_t n)
{
    if (f->clients == 1)
        return 0;
    uint64_t word = sim_luck_word(w->seed, 0, n,
                                  sim_luck_what(SIM_LUCK_CLIENT, f->part, 0));
    return (word >> 32) * f->clients >> 32;
}

static void draw_ahead(struct sim_fleet *f, const struct sim_world *w,
                       uint64_t n)
{
    const struct sim_target *target = f->caller->target;
    for (uint32_t k = 0; k < SIM_AHEAD; k++)
        f->ahead_ns[k] = draw_gap(f, w, 0, n + k);
    for (uint32_t k = 0; target->foresee && k < SIM_AHEAD; k++)
        target->foresee(target->self, w, pick(f, w, n + k), n + k);
}

/* The gap before call n of an open fleet; they are asked for in order. */
static int64_t gap_before(struct sim_fleet *f, const struct sim_world *w,
                          uint64_t n)
{
    uint32_t i = n % SIM_AHEAD;
    if (i == 0)
        draw_ahead(f, w, n);
    return f->ahead_ns[i];
}

/* How much later than the first a client begins. */
static int64_t offset_of(const struct sim_fleet *f, const struct sim_world *w,
                         uint32_t client)
{
    if (f->spread_ns <= 0)
        return 0;
    uint64_t word = sim_luck_word(w->seed, client, 0,
                                  sim_luck_what(SIM_LUCK_OTHER, f->part, 0));
    return (int64_t)((double)f->spread_ns * sim_luck_unit(word));
}

/* When the nth call of an open fleet comes whose rate changes. */
static int64_t by_profile(struct sim_fleet *f, const struct sim_world *w,
                          uint64_t n, int64_t from)
{
    double area = (double)gap_before(f, w, n) / 1e9;
    return sim_rates_next(&f->rates, from, f->every_ns > 0 ? 1 : area);
}

/* When the nth call comes: of one client, if each has its own. */
static int64_t time_of(struct sim_fleet *f, const struct sim_world *w,
                       uint32_t client, uint64_t n)
{
    int64_t from = w->now_ns > f->from_ns ? w->now_ns : f->from_ns;
    switch (f->arrival) {
    case SIM_REPLAY:
        return f->replay_ns[n];
    case SIM_CRON:
        return sim_ahead(n == 0 ? f->from_ns + offset_of(f, w, client)
                                : w->now_ns,
                         n == 0 ? 0 : f->cron_ns);
    case SIM_CLOSED:
        if (n == 0)
            from += offset_of(f, w, client);
        return sim_ahead(from, draw_gap(f, w, client, n));
    case SIM_OPEN:
        break;
    }
    if (f->rates.n > 0)
        return by_profile(f, w, n, from);
    if (f->every_ns > 0)
        return sim_ahead(f->from_ns, sim_to_ns((double)(n + 1) * f->every_ns));
    return sim_ahead(from, gap_before(f, w, n));
}

/* Schedules the nth call, if there is to be one. */
static void set_next(struct sim_fleet *f, struct sim_world *w, uint32_t client,
                     uint64_t n)
{
    if (f->arrival == SIM_REPLAY && n >= f->n_replay)
        return;
    int64_t at = time_of(f, w, client, n);
    if (at != INT64_MAX && !is_over(f, n, at))
        sim_world_at(w, at, &f->actor, client, (uint32_t)n);
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t client,
                uint32_t number)
{
    struct sim_fleet *f = self->self;
    uint64_t n = f->n_calls++;
    if (f->arrival == SIM_CLOSED) {
        sim_caller_begin(f->caller, w, client, number, NULL);
        return;
    }
    if (f->arrival == SIM_CRON) {
        set_next(f, w, client, number + UINT64_C(1));
        sim_caller_begin(f->caller, w, client, number, NULL);
        return;
    }
    set_next(f, w, 0, n + 1);
    sim_caller_begin(f->caller, w, pick(f, w, n), n, NULL);
}

/* A client is nothing but its next event, which knows the number of its call:
 * for a million thinking clients nothing else is kept. */
static void on_done(void *self, struct sim_world *w, const struct sim_call *call,
                    bide_reason reason, const struct sim_answer *last)
{
    (void)reason;
    (void)last;
    set_next(self, w, (uint32_t)call->client, call->number + 1);
}

/* Calls that were made before the run begins. Their numbers are those that no other
 * call has, from the end; the very last stands for none (struct sim_foreseen). */
static void put_waiting(struct sim_actor *self, struct sim_world *w, uint32_t a,
                        uint32_t b)
{
    struct sim_fleet *f = self->self;
    (void)a;
    (void)b;
    for (uint64_t n = UINT64_MAX - 1; n > UINT64_MAX - 1 - f->waiting; n--)
        sim_caller_begin(f->caller, w, pick(f, w, n), n, NULL);
}

void sim_fleet_start(struct sim_fleet *f, struct sim_world *w)
{
    f->actor = (struct sim_actor){ .act = act, .self = f };
    f->first = (struct sim_actor){ .act = put_waiting, .self = f };
    if (f->waiting > 0) /* after the faults that begin at once */
        sim_world_at(w, w->now_ns, &f->first, 0, 0);
    if (f->arrival == SIM_OPEN || f->arrival == SIM_REPLAY) {
        set_next(f, w, 0, 0);
        return;
    }
    if (f->arrival == SIM_CLOSED) {
        f->caller->self = f;
        f->caller->on_done = on_done;
    }
    for (uint32_t i = 0; i < f->clients; i++)
        set_next(f, w, i, 0);
}

void sim_fleet_done(struct sim_fleet *f)
{
    sim_rates_done(&f->rates);
}
