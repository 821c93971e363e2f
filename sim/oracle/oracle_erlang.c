/* Rows 5 and 11: queues. Calls are made through the engine, one attempt each. */
#include "sim/model/number.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"
#include "sim/oracle/queue.h"

/* ===== row 5 ===== */

static const double service_ns = 100e6;

/* The chance that all c workers are busy, by Erlang. */
static double erlang_c(int c, double load)
{
    double b = 1; /* Erlang B of 0 workers, then of one more each time */
    for (int i = 1; i <= c; i++)
        b = load * b / (i + load * b);
    return b / (1 - load / c * (1 - b));
}

static void queue(struct sim_report *r, struct sim_harness *harness, int c,
                  double load, uint64_t calls)
{
    bide_policy_conf conf = sim_bare_policy(1);
    harness->service.conf.workers = (uint32_t)c;
    harness->service.conf.time = sim_exponential(service_ns);
    harness->fleet.gap = sim_exponential(service_ns / load);
    harness->fleet.most_calls = calls;
    sim_harness_start(harness, r->seed, &conf, 1);
    sim_world_run(&harness->world, INT64_MAX);
    r->events += harness->world.events;
}

static void check_waiting(struct sim_report *r, int c, double load,
                          uint64_t calls)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    queue(r, &harness, c, load, calls);
    double expected = erlang_c(c, load);
    sim_expect(r, SIM_NEAR, expected,
               (double)harness.service.waited / (double)harness.service.arrived,
               0.01 * expected, "P(wait), %d workers, load %g", c, load);
    sim_harness_done(&harness);
}

void sim_oracle_erlang(struct sim_report *r)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    check_waiting(r, 5, 2.5, 6000000);
    check_waiting(r, 10, 5, 12000000);
    queue(r, &harness, 1, 0.8, 10000000);
    const struct sim_histogram *h = &harness.caller.metrics.latency;
    sim_expect(r, SIM_NEAR, 5, sim_histogram_mean(h) / service_ns, 0.05,
               "mean response, 1 worker, load 0.8, in services");
    sim_expect(r, SIM_NEAR, 5 * sim_log(100),
               sim_histogram_quantile(h, 0.99) / service_ns,
               0.03 * 5 * sim_log(100), "p99 response");
    sim_harness_done(&harness);
}

/* ===== row 11 ===== */

/* What is offered within the second that begins at `from_s`. */
static double offered(struct sim_harness *harness, int64_t from_s)
{
    const uint64_t *attempts = &harness->caller.metrics.total.attempts;
    sim_world_run(&harness->world, from_s * BIDE_SECOND - 1);
    uint64_t before = *attempts;
    sim_world_run(&harness->world, (from_s + 1) * BIDE_SECOND - 1);
    return (double)(*attempts - before);
}

/* Capacity 10 000/s without a queue: as many workers, a second each. Refused
 * requests return after a second, until they are served. */
void sim_oracle_growth(struct sim_report *r)
{
    enum { FROM_S = 10, TO_S = 60 };
    struct sim_harness harness = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(UINT32_C(1) << 31);
    conf.backoff = (bide_backoff)BIDE_BACKOFF_INIT;
    conf.backoff.base_ns = conf.backoff.cap_ns = BIDE_SECOND;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    harness.service.conf.workers = 10000;
    harness.service.conf.queue = 0;
    harness.service.conf.time = sim_constant(BIDE_SECOND);
    harness.fleet.gap = sim_constant(BIDE_SECOND / 10100);
    sim_harness_start(&harness, r->seed, &conf, 1);
    double first = offered(&harness, FROM_S), last = offered(&harness, TO_S);
    sim_expect(r, SIM_NEAR, 100, (last - first) / (TO_S - FROM_S), 1,
               "growth of the offered load, 1/s each second");
    r->events += harness.world.events;
    sim_harness_done(&harness);
}
