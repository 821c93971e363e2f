/* Rows 16 to 18: a pool of servers, of which each request goes to one or two. */
#include "sim/model/number.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"
#include "sim/oracle/pool.h"

static const double service_ns = 100e6;

/* Servers with one worker each, whose load is `load`; one process balances for
 * all, and so knows how many requests each of them has. */
static void start(struct sim_report *r, struct sim_harness *h,
                  const bide_policy_conf *conf, uint32_t servers,
                  enum bide__balance_by by, double load)
{
    h->service.conf.servers = servers;
    h->service.conf.workers = 1;
    h->service.conf.time = sim_exponential(service_ns);
    h->service.conf.balance.by = by;
    h->fleet.gap = sim_exponential(service_ns / load / servers);
    sim_harness_start(h, r->seed, conf, 1);
}

static void run_for(struct sim_report *r, struct sim_harness *h,
                    double services)
{
    uint64_t before = h->world.events;
    sim_world_run(&h->world,
                  h->world.now_ns + sim_to_ns(services * service_ns));
    r->events += h->world.events - before;
}

/* ===== row 16 ===== */

static double mean_response(struct sim_report *r, const bide_policy_conf *conf,
                            double load)
{
    struct sim_harness h = SIM_HARNESS_INIT;
    start(r, &h, conf, 100, BIDE__RANDOM, load);
    run_for(r, &h, 100);
    sim_metrics_restart(&h.caller.metrics);
    run_for(r, &h, 20000);
    double mean = sim_histogram_mean(&h.caller.metrics.latency) / service_ns;
    sim_harness_done(&h);
    return mean;
}

/* By how much a copy of each request makes the mean longer, as a logarithm. A
 * copy is a hedge without delay; the server that loses finishes its work. */
static double copy_costs(struct sim_report *r, double load)
{
    bide_policy_conf conf = sim_bare_policy(1);
    double once = mean_response(r, &conf, load);
    conf.hedge.max = 1;
    conf.hedge.after_ns = 0;
    conf.hedge.extra_load = 1;
    return sim_log(mean_response(r, &conf, load) / once);
}

void sim_oracle_copies(struct sim_report *r)
{
    double low = 0.32, high = 0.345;
    double below = copy_costs(r, low), above = copy_costs(r, high);
    sim_expect(r, SIM_NEAR, 1.0 / 3,
               low + (high - low) * below / (below - above), 0.02,
               "load beyond which a second copy costs more");
}

/* ===== row 17 ===== */

enum { QUEUES = 500, DEEP = 4 };

/* The share of the servers that have k requests or more, on average. */
static void look(const struct sim_service *s, double *share)
{
    for (uint32_t i = 0; i < s->n_shards; i++) {
        uint32_t n = s->shards[i].busy + s->shards[i].n_queued;
        for (uint32_t k = 1; k <= DEEP && k <= n; k++)
            share[k] += 1.0 / s->n_shards;
    }
}

static void queues(struct sim_report *r, enum bide__balance_by by, double load,
                   const char *how)
{
    enum { LOOKS = 4000 };
    struct sim_harness h = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(1);
    double share[DEEP + 1] = { 0 };
    start(r, &h, &conf, QUEUES, by, load);
    run_for(r, &h, 500);
    for (int i = 0; i < LOOKS; i++) {
        run_for(r, &h, 1);
        look(&h.service, share);
    }
    for (int k = 1; k <= DEEP; k++) {
        int exponent = by == BIDE__RANDOM ? k : (1 << k) - 1;
        double expected = sim_exp(exponent * sim_log(load));
        sim_expect(r, SIM_NEAR, expected, share[k] / LOOKS, 0.03 * expected,
                   "share of queues with %d or more, %s", k, how);
    }
    sim_harness_done(&h);
}

void sim_oracle_choices(struct sim_report *r)
{
    queues(r, BIDE__RANDOM, 0.8, "random, load 0.8");
    queues(r, BIDE__TWO_CHOICES, 0.9, "two choices, load 0.9");
}

/* ===== row 18 ===== */

/* Three servers of ten workers, 300/s; one of them fails at once. */
static double share_good(struct sim_report *r, enum bide__balance_by by,
                         bool ejects)
{
    static const struct sim_fault fault = { .kind = SIM_FAIL,
                                            .shard = SIM_NONE,
                                            .fleet = SIM_NONE,
                                            .to_ns = BIDE_HOUR,
                                            .factor = 1,
                                            .n_servers = 1,
                                            .at_once = true };
    struct sim_harness h = SIM_HARNESS_INIT;
    bide_policy_conf conf = sim_bare_policy(1);
    h.service.conf.servers = 3;
    h.service.conf.workers = 10;
    h.service.conf.time = sim_exponential(service_ns);
    h.service.conf.balance.by = by;
    h.service.conf.balance.ejects = ejects;
    h.service.faults = &fault;
    h.service.n_faults = 1;
    h.fleet.gap = sim_exponential(1e9 / 150);
    sim_harness_start(&h, r->seed, &conf, 1);
    run_for(r, &h, 18000);
    const struct sim_caller_totals *t = &h.caller.metrics.total;
    double share = (double)t->successes / (double)(t->successes + t->failures);
    sim_harness_done(&h);
    return share;
}

/* A server that fails at once never has a request, so it gets all those that do
 * not find another one idle, too. The healthy two then have one request at the
 * most: 0, 1 or 2 of them are busy, with probabilities 1 : 10 : 37.5 for 150
 * calls and 10 responses a second, which makes 17.5 successes a second. */
void sim_oracle_black_hole(struct sim_report *r)
{
    double expected = 100 * 850 / 48.5 / 150;
    sim_expect(r, SIM_NEAR, expected,
               100 * share_good(r, BIDE__LEAST_REQUESTS, false),
               0.05 * expected, "percent succeed, least requests, 2 of 3 well");
    sim_expect(r, SIM_NEAR, 200.0 / 3, 100 * share_good(r, BIDE__RANDOM, false),
               1, "percent succeed, random");
    sim_expect(r, SIM_AT_MOST, 0.5,
               100 - 100 * share_good(r, BIDE__LEAST_REQUESTS, true), 0,
               "percent fail, least requests with ejection");
}
