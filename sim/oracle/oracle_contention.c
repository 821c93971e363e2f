/* Row 12: optimistic concurrency. Each client reads a version, then writes if it
 * still is the same; of those that read one version, one wins.
 *
 * Decorrelated jitter is there twice. As published, a draw over the cap is
 * clipped to the cap, and 4.6 s is the figure for that. bide draws below the
 * cap instead (DESIGN, section 4), so its waits are shorter once they reach the
 * cap, and it finishes sooner: 4.24 s, by a reference written independently of
 * this one. For the first the row itself computes the wait and sends it as a
 * hint, which the engine obeys. */
#include <stdlib.h>

#include "sim/model/dist.h"
#include "sim/model/luck.h"
#include "sim/model/memory.h"
#include "sim/oracle/budget.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"

enum { CLIENTS = 100, RUNS = 100 };

/* The row, behind a network. An attempt is four hops: to read and back, to write
 * and back. */
struct row {
    struct sim_target target;
    struct sim_actor actor;
    uint64_t version;
    uint64_t writes;
    bool hints;              /* it says when to come back ... */
    double wait_ns[CLIENTS]; /* ... which was this, the last time */
    struct attempt {
        struct sim_request request;
        uint64_t seen; /* version that it read */
        bool won;
    } * attempts;
    uint32_t n, room;
};

enum { READ, WRITE, ANSWER };

static int64_t hop(const struct sim_world *w, const struct sim_request *r,
                   uint32_t which)
{
    struct sim_dist delay = sim_normal(10e6, 2e6);
    uint64_t what = sim_luck_what(SIM_LUCK_NETWORK, which, r->attempt);
    return sim_dist_draw(&delay,
                         sim_luck_word(w->seed, r->client, r->call, what));
}

static struct sim_request *open(void *self, uint32_t *ret_number)
{
    struct row *row = self;
    row->attempts =
        sim_grow(row->attempts, row->n, &row->room, sizeof *row->attempts);
    row->attempts[row->n] = (struct attempt){ .won = false };
    *ret_number = row->n++;
    return &row->attempts[*ret_number].request;
}

static void submit(void *self, struct sim_world *w, uint32_t i)
{
    struct row *row = self;
    int64_t took = hop(w, &row->attempts[i].request, 0);
    sim_world_at(w, w->now_ns + took, &row->actor, READ, i);
}

/* min(cap, uniform(base, 3 * the wait before)), from base on. */
static int64_t published_wait(struct row *row, const struct sim_world *w,
                              const struct sim_request *r)
{
    const double base = 5e6, cap = 2e9;
    double *wait = &row->wait_ns[r->call % CLIENTS];
    double before = *wait > 0 ? *wait : base;
    uint64_t what = sim_luck_what(SIM_LUCK_OTHER, 0, r->attempt);
    double u = sim_luck_unit(sim_luck_word(w->seed, r->client, r->call, what));
    *wait = base + u * (3 * before - base);
    if (*wait > cap)
        *wait = cap;
    return (int64_t)*wait;
}

static void answer(struct row *row, struct sim_world *w,
                   const struct attempt *a)
{
    struct sim_request r = a->request;
    struct sim_answer said = { SIM_SAID_OK, 0 };
    if (!a->won) {
        said.kind = SIM_SAID_CONFLICT;
        if (row->hints)
            said.hint_ns = published_wait(row, w, &r);
    }
    r.from->answer(r.from->self, w, &r, &said);
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t what,
                uint32_t i)
{
    struct row *row = self->self;
    struct attempt *a = &row->attempts[i];
    struct sim_request r = a->request;
    if (what == READ) {
        a->seen = row->version;
        sim_world_at(w, w->now_ns + hop(w, &r, 1) + hop(w, &r, 2), &row->actor,
                     WRITE, i);
    } else if (what == WRITE) {
        row->writes++;
        a->won = a->seen == row->version;
        row->version += a->won;
        sim_world_at(w, w->now_ns + hop(w, &r, 3), &row->actor, ANSWER, i);
    } else {
        answer(row, w, a);
    }
}

/* All start together, and it is over when the last is done. */
static void run(struct sim_report *r, uint64_t seed, bool hints,
                const bide_policy_conf *conf, double *calls, double *seconds)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    struct row row = { .hints = hints };
    row.target =
        (struct sim_target){ .self = &row, .open = open, .submit = submit };
    row.actor = (struct sim_actor){ .act = act, .self = &row };
    harness.caller.target = &row.target;
    harness.fleet.gap = sim_constant(0);
    harness.fleet.most_calls = CLIENTS;
    sim_harness_start(&harness, seed, conf, 1);
    while (harness.caller.metrics.total.successes < CLIENTS &&
           harness.world.now_ns < BIDE_HOUR)
        sim_world_run(&harness.world, harness.world.now_ns + BIDE_MILLISECOND);
    *calls += (double)row.writes;
    *seconds += (double)harness.world.now_ns / 1e9;
    r->events += harness.world.events;
    sim_harness_done(&harness);
    free(row.attempts);
}

void sim_oracle_contention(struct sim_report *r)
{
    static const bide_rule conflict = { .status_min = 409,
                                        .status_max = 409,
                                        .cls = BIDE_TRANSIENT,
                                        .not_processed = true };
    static const struct {
        const char *name;
        bide_jitter jitter;
        int64_t base_ms; /* 5, the first backoff already doubled */
        double calls, seconds;
        bool hints;
    } rows[] = {
        { "no backoff", BIDE_JITTER_NONE, 0, 2420, 2.0, false },
        { "exponential", BIDE_JITTER_NONE, 10, 1850, 63, false },
        { "equal", BIDE_JITTER_EQUAL, 10, 810, 6.7, false },
        { "full", BIDE_JITTER_FULL, 10, 800, 4.9, false },
        { "decorrelated as published", BIDE_JITTER_NONE, 5, 1000, 4.6, true },
        { "decorrelated", BIDE_JITTER_DECORRELATED, 5, 1000, 4.24, false },
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bide_policy_conf conf = sim_bare_policy(UINT32_C(1) << 31);
        double calls = 0, seconds = 0;
        conf.rules = &conflict;
        conf.n_rules = 1;
        conf.retry_after.jitter = 0;
        conf.backoff.jitter = rows[i].jitter;
        conf.backoff.base_ns = rows[i].base_ms * BIDE_MILLISECOND;
        conf.backoff.cap_ns = rows[i].base_ms ? 2 * BIDE_SECOND : 0;
        for (uint64_t n = 0; n < RUNS; n++)
            run(r, r->seed * RUNS + n, rows[i].hints, &conf, &calls, &seconds);
        sim_expect(r, SIM_NEAR, rows[i].calls, calls / RUNS,
                   0.03 * rows[i].calls, "calls, %s", rows[i].name);
        sim_expect(r, SIM_NEAR, rows[i].seconds, seconds / RUNS,
                   0.06 * rows[i].seconds, "seconds, %s", rows[i].name);
    }
}
