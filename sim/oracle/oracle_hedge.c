/* Row 6: hedging. Copies are independent, so the hedged call is the earlier of
 * two: S_h(t) = S(t) S(t - d).
 *
 * With a measured quantile the engine has to learn it first, which takes some
 * windows: the first responses are the fast ones, and calls that are hedged too
 * early hide how long they would have taken, so that each window corrects only
 * half of an estimate that is too low. For the same reason the extra load
 * settles a little over 5 %, by 0.05 points here. */
#include "sim/model/number.h"
#include "sim/oracle/attempts.h"
#include "sim/oracle/harness.h"
#include "sim/oracle/oracle.h"

static const double mean_ns = 1e9;

static void hedge(struct sim_report *r, const bide_policy_conf *conf,
                  const char *how)
{
    struct sim_harness harness = SIM_HARNESS_INIT;
    harness.service.conf.time = sim_exponential(mean_ns);
    harness.fleet.gap = sim_exponential(0.5e6);
    sim_harness_start(&harness, r->seed, conf, 1);
    sim_world_run(&harness.world, 300 * BIDE_SECOND); /* to know the quantile */
    sim_metrics_restart(&harness.caller.metrics);
    sim_world_run(&harness.world, 1050 * BIDE_SECOND);
    r->events += harness.world.events;

    double p999 =
        sim_histogram_quantile(&harness.caller.metrics.latency, 0.999);
    double extra = sim_metrics_amplification(&harness.caller.metrics) - 1;
    double d = -sim_log(0.05), t = (d - sim_log(0.001)) / 2;
    if (conf->hedge.max == 0) {
        t = -sim_log(0.001);
    } else {
        sim_expect(r, SIM_NEAR, 5, 100 * extra, 0.1,
                   "extra load in percent, %s", how);
    }
    sim_expect(r, SIM_NEAR, t, p999 / mean_ns, 0.02 * t, "p99.9 of exp(1), %s",
               how);
    sim_harness_done(&harness);
}

void sim_oracle_hedge(struct sim_report *r)
{
    bide_policy_conf conf = sim_bare_policy(1);
    hedge(r, &conf, "no hedge");
    conf.hedge.max = 1;
    conf.hedge.extra_load = 1; /* the ceiling is not under test */
    conf.hedge.after_ns = (int64_t)(-sim_log(0.05) * mean_ns);
    hedge(r, &conf, "hedge after 3.00");
    conf.latency.measure = true;
    conf.hedge.after_ns = BIDE_FOREVER;
    conf.hedge.quantile = 0.95;
    hedge(r, &conf, "hedge at measured p95");
}
