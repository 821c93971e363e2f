/* test_record.c: what a run shows adds up, is the same each time, and does not
 * depend on how it is observed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bed.h"
#include "sim/world/world_build.h"

/* Everything at once: two fleets, a chain with a shared bottom, all faults, tight
 * queues, limits, lost answers, a network, whole policies. */
static void crowd(struct bed *bed)
{
    bed_init(bed);
    bed_chain(bed, 3);
    bed->model.duration_ns = 40 * BIDE_SECOND;
    bed->model.warm_up_ns = 2 * BIDE_SECOND;
    bed->model.n_policies = 3;
    for (int i = 0; i < 3; i++)
        bed->policies[i].conf = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
    bed->policies[0].conf.attempt_timeout_ns = 300 * BIDE_MILLISECOND;
    bed->policies[1].conf.deadline_ns = BIDE_SECOND;
    bed->policies[1].conf.limits.in_flight = 20;
    bed->policies[1].conf.limits.queue = 5;
    bed->policies[2].conf.attempts = 1;
    bed->policies[2].conf.hedge.max = 1;
    bed->policies[2].conf.hedge.after_ns = 30 * BIDE_MILLISECOND;
    bed->model.n_fleets = 2;
    bed->fleets[0].rate = 200;
    bed->fleets[0].steady = false;
    bed->fleets[0].clients = 50;
    bed->fleets[0].processes = 5;
    bed->fleets[1].arrival = SIM_CLOSED;
    bed->fleets[1].clients = 30;
    bed->fleets[1].processes = 30;
    bed->fleets[1].think = sim_exponential(100e6);
    bed->fleets[1].service = 1;
    bed->fleets[1].policy = 1;
    bed->edges[1].policy = 2;
    for (int i = 0; i < 3; i++) {
        bed->services[i].time = sim_exponential(10e6);
        bed->services[i].lost_rate = 0.01;
        bed->services[i].error_rate = 0.02;
    }
    bed->services[0].workers = 20;
    bed->services[0].queue = 10;
    bed->services[1].workers = 4;
    bed->services[1].shards = 2;
    bed->services[1].order = SIM_LIFO;
    bed->services[1].drop_late = true;
    bed->services[1].network = sim_exponential(2e6);
    bed->services[2].workers = 6;
    bed->services[2].cancels = true;
    bed->services[2].limit_rate = 250;
    bed->services[2].limit_burst = 20;
    bed->services[2].retry_after_ns = 100 * BIDE_MILLISECOND;
    bed->model.n_faults = 4;
    for (uint32_t i = 0; i < 4; i++) {
        bed->faults[i].from_ns = (5 + 5 * (int64_t)i) * BIDE_SECOND;
        bed->faults[i].to_ns = (8 + 5 * (int64_t)i) * BIDE_SECOND;
    }
    bed->faults[0].kind = SIM_CRASH;
    bed->faults[1].kind = SIM_PARTITION;
    bed->faults[1].service = 1;
    bed->faults[1].shard = 1;
    bed->faults[2].kind = SIM_SLOW;
    bed->faults[2].factor = 10;
    bed->faults[2].service = 2;
    bed->faults[3].kind = SIM_CRASH;
    bed->faults[3].service = 2;
    bed->faults[3].every_ns = BIDE_SECOND;
    bed->faults[3].for_ns = 300 * BIDE_MILLISECOND;
    bed->run_conf.samples = 5;
}

/* ===== conservation ===== */

static void callers_add_up(const struct sim_result *r)
{
    for (uint32_t i = 0; i < r->n_callers; i++) {
        const struct sim_caller_totals *t = &r->callers[i].total;
        uint64_t reasons = 0;
        for (int n = 0; n < BIDE_N_REASONS; n++)
            reasons += t->by_reason[n];
        assert_int_equal(t->calls, t->successes + t->failures + t->unfinished);
        assert_int_equal(reasons, t->successes + t->failures);
        assert_int_equal(r->callers[i].latency.count, t->successes);
        assert_true(sim_reached(t) <= t->calls + t->retries + t->hedges);
        assert_true(t->calls > 100 && t->successes > 100);
    }
}

static void services_add_up(const struct sim_result *r)
{
    for (uint32_t i = 0; i < r->model->n_services; i++) {
        const struct sim_service_result *s = &r->services[i];
        assert_int_equal(s->arrived, s->served + s->wasted + s->refused +
                                         s->throttled + s->dropped + s->broken +
                                         s->left);
        assert_true(s->wasted_ns <= s->busy_ns);
        assert_true(s->arrived > 1000);
    }
    /* what the fleet sends arrives at once, there being no network */
    assert_int_equal(r->callers[0].total.attempts,
                     r->services[0].arrived + r->services[0].lost);
    /* over the network some may still be on their way */
    uint64_t sent = r->callers[1].total.attempts + r->callers[2].total.attempts;
    uint64_t came = r->services[1].arrived + r->services[1].lost;
    assert_in_range(sent - came, 0, 20);
    assert_true(r->services[1].lost > 10);
    assert_int_equal(r->callers[3].total.attempts, r->services[2].arrived);
}

static double sum(const double *list, uint32_t n)
{
    double all = 0;
    for (uint32_t i = 0; i < n; i++)
        all += list[i];
    return all;
}

static void series_add_up(const struct sim_result *r)
{
    for (uint32_t i = 0; i < r->n_callers; i++) {
        const struct sim_caller_result *c = &r->callers[i];
        const struct sim_caller_totals *t = &c->total;
        double *const *v = c->value;
        uint32_t n = r->n_steps;
        assert_true(sum(v[SIM_CALLS], n) == (double)t->calls);
        assert_true(sum(v[SIM_ATTEMPTS], n) == (double)t->attempts);
        assert_true(sum(v[SIM_RETRIES], n) == (double)t->retries);
        assert_true(sum(v[SIM_HEDGES], n) == (double)t->hedges);
        assert_true(sum(v[SIM_SUCCESSES], n) == (double)t->successes);
        assert_true(sum(v[SIM_FAILURES], n) == (double)t->failures);
        assert_true(sum(v[SIM_TIMEOUTS], n) == (double)t->timeouts);
        assert_true(v[SIM_IN_PROGRESS][n - 1] == (double)t->unfinished);
    }
    for (uint32_t i = 0; i < r->model->n_services; i++) {
        const struct sim_service_result *s = &r->services[i];
        uint32_t n = r->n_steps;
        assert_true(sum(s->value[SIM_ARRIVED], n) == (double)s->arrived);
        assert_true(sum(s->value[SIM_SERVED], n) == (double)s->served);
        assert_true(sum(s->value[SIM_DROPPED], n) == (double)s->dropped);
    }
}

static void nothing_is_lost_or_made_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct bed bed;
        crowd(&bed);
        bed.seed = seed;
        struct sim_result *r = bed_run(&bed);
        callers_add_up(r);
        services_add_up(r);
        series_add_up(r);
        sim_result_free(r);
    }
}

/* ===== determinism ===== */

static void same_series(const struct sim_result *a, const struct sim_result *b)
{
    size_t size = a->n_steps * sizeof(double);
    for (uint32_t i = 0; i < a->n_callers; i++)
        for (int v = 0; v < SIM_CALLER_CHANNELS; v++)
            assert_memory_equal(a->callers[i].value[v], b->callers[i].value[v],
                                size);
    for (uint32_t i = 0; i < a->model->n_services; i++)
        for (int v = 0; v < SIM_SERVICE_CHANNELS; v++)
            assert_memory_equal(a->services[i].value[v],
                                b->services[i].value[v], size);
}

static void same_run(const struct sim_result *a, const struct sim_result *b)
{
    assert_int_equal(a->events, b->events);
    assert_memory_equal(a->figure, b->figure, sizeof a->figure);
    for (uint32_t i = 0; i < a->n_callers; i++) {
        assert_memory_equal(&a->callers[i].total, &b->callers[i].total,
                            sizeof a->callers[i].total);
        assert_memory_equal(&a->callers[i].latency, &b->callers[i].latency,
                            sizeof a->callers[i].latency);
    }
    assert_int_equal(a->n_marks, b->n_marks);
    for (uint32_t i = 0; i < a->n_marks; i++)
        assert_int_equal(a->marks[i].to_ns, b->marks[i].to_ns);
}

static void run_is_a_function_of_its_seed(void **state)
{
    struct bed bed;
    (void)state;
    crowd(&bed);
    struct sim_result *a = bed_run(&bed), *b = bed_run(&bed);
    bed.seed++;
    struct sim_result *c = bed_run(&bed);
    same_run(a, b);
    same_series(a, b);
    assert_int_not_equal(a->events, c->events);
    sim_result_free(a);
    sim_result_free(b);
    sim_result_free(c);
}

static void run_does_not_depend_on_its_steps(void **state)
{
    struct bed bed;
    (void)state;
    crowd(&bed);
    struct sim_result *a = bed_run(&bed);
    bed.run_conf.steps = 7;
    struct sim_result *b = bed_run(&bed);
    assert_int_equal(b->n_steps, 7);
    same_run(a, b);
    sim_result_free(a);
    sim_result_free(b);
}

/* ===== the engine's own books ===== */

static void engine_counts_the_same(void **state)
{
    struct bed bed;
    struct sim_build build;
    (void)state;
    crowd(&bed);
    sim_build_init(&build, &bed.model, SIM_NONE, 1, 0);
    sim_world_run(&build.world, bed.model.duration_ns);
    for (uint32_t i = 0; i < build.n_callers; i++) {
        const struct sim_caller *c = build.callers[i];
        const struct sim_caller_totals *t = &c->metrics.total;
        struct sim_caller_totals sums = { 0 };
        for (uint32_t d = 0; d < c->n_deps; d++) {
            bide_stats s;
            bide_dep_stats(c->deps[d], build.world.now_ns, &s);
            sums.calls += s.calls;
            sums.unreached += s.unreached;
            sums.retries += s.retries;
            sums.hedges += s.hedges;
            sums.hedge_wins += s.hedges_won;
            sums.successes += s.first_successes + s.late_successes;
            sums.failures += s.failures;
            for (int n = 0; n < BIDE_N_REASONS; n++)
                sums.by_reason[n] += s.done[n];
        }
        assert_int_equal(sums.calls, t->successes + t->failures);
        assert_int_equal(sums.successes, t->successes);
        assert_int_equal(sums.failures, t->failures);
        assert_int_equal(sums.unreached, t->unreached);
        assert_int_equal(sums.retries, t->retries);
        assert_int_equal(sums.hedges, t->hedges);
        assert_int_equal(sums.hedge_wins, t->hedge_wins);
        assert_memory_equal(sums.by_reason, t->by_reason, sizeof t->by_reason);
    }
    sim_build_done(&build);
}

/* ===== watching ===== */

static bool stop_half_way(void *self, double done, uint64_t events)
{
    (void)events;
    *(double *)self = done;
    return done < 0.5;
}

static void run_can_be_stopped(void **state)
{
    struct bed bed;
    double done = 0;
    (void)state;
    bed_init(&bed);
    bed.run_conf.self = &done;
    bed.run_conf.progress = stop_half_way;
    struct sim_result *r = bed_run(&bed);
    assert_true(r->cut_short);
    assert_true(done >= 0.5 && done < 0.52);
    assert_in_range(r->ended_ns, 5 * BIDE_SECOND, 5100 * BIDE_MILLISECOND);
    assert_in_range(r->callers[0].total.calls, 49, 51);
    assert_in_range(r->n_steps, 140, 160);
    assert_true(fabs(r->figure[SIM_FIG_GOODPUT] - 10) < 0.3);
    sim_result_free(r);
}

/* Each attempt of the sample leaves one mark, the last of each call its reason. */
static void marks_tell_the_whole_story(void **state)
{
    struct bed bed;
    uint32_t attempts = 0, lasts = 0, refused = 0, open = 0;
    (void)state;
    crowd(&bed);
    bed.run_conf.samples = 1000;
    struct sim_result *r = bed_run(&bed);
    for (uint32_t i = 0; i < r->n_marks; i++) {
        const struct sim_mark *m = &r->marks[i];
        assert_true(m->from_ns <= m->to_ns);
        assert_true(i == 0 || m->to_ns >= r->marks[i - 1].to_ns);
        attempts += m->kind != SIM_MARK_REFUSED;
        refused += m->kind == SIM_MARK_REFUSED;
        open += m->kind == SIM_MARK_OPEN;
        lasts += m->last;
        if (m->last && m->kind == SIM_MARK_OK)
            assert_int_equal(m->reason, BIDE_BECAUSE_SUCCESS);
    }
    const struct sim_caller_totals *a = &r->callers[0].total;
    const struct sim_caller_totals *b = &r->callers[1].total;
    assert_int_equal(attempts, a->attempts + b->attempts);
    assert_int_equal(lasts,
                     a->calls + b->calls - a->unfinished - b->unfinished);
    assert_true(refused > 0 && open <= a->unfinished + b->unfinished);
    sim_result_free(r);
}

/* ===== figures ===== */

static void near(double found, double expected, double error)
{
    if (!(fabs(found - expected) <= error))
        fail_msg("%g is not %g", found, expected);
}

/* Five times what it can serve, and nobody gives up: all calls that ended were
 * good, which is a fifth of them. */
static void regress_unfinished_calls_count(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.duration_ns = 100 * BIDE_SECOND;
    bed.policies[0].conf.attempt_timeout_ns = 1000 * BIDE_SECOND;
    bed.fleets[0].rate = 500;
    bed.services[0].workers = 1;
    struct sim_result *r = bed_run(&bed);
    near(r->figure[SIM_FIG_SUCCESS], 0.2, 0.001);
    near(r->figure[SIM_FIG_UNFINISHED], 0.8, 0.001);
    assert_true(r->figure[SIM_FIG_FAILURES] == 0);
    assert_true(r->figure[SIM_FIG_TIMED] ==
                (double)r->callers[0].total.successes);
    near(r->figure[SIM_FIG_UTILISATION], 1, 1e-3);
    sim_result_free(r);
}

/* What has just begun when the run ends could not have ended. */
static void calls_in_flight_at_the_end_do_not_count(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.fleets[0].rate = 1000;
    struct sim_result *r = bed_run(&bed);
    assert_true(r->callers[0].total.unfinished >= 9);
    assert_true(r->figure[SIM_FIG_SUCCESS] == 1);
    assert_true(r->figure[SIM_FIG_UNFINISHED] == 0);
    sim_result_free(r);
}

/* M/M/1 at 80 %: a response of 1/(1 - 0.8) service times, all but one of them in
 * the queue. */
static void figures_of_a_queue_are_known(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.duration_ns = 20000 * BIDE_SECOND;
    bed.model.warm_up_ns = 100 * BIDE_SECOND;
    bed.policies[0].conf.attempt_timeout_ns = 1000 * BIDE_SECOND;
    bed.fleets[0].rate = 80;
    bed.fleets[0].steady = false;
    bed.services[0].workers = 1;
    bed.services[0].time = sim_exponential(10e6);
    struct sim_result *r = bed_run(&bed);
    near(r->figure[SIM_FIG_MEAN], 0.05, 0.0015);
    near(r->figure[SIM_FIG_QUEUE_WAIT], 0.04, 0.0015);
    near(r->figure[SIM_FIG_UTILISATION], 0.8, 0.005);
    near(r->figure[SIM_FIG_QUEUE_WAIT] + 0.01, r->figure[SIM_FIG_MEAN], 1e-4);
    assert_true(r->services[0].utilisation == r->figure[SIM_FIG_UTILISATION]);
    sim_result_free(r);
}

/* Two fleets: one calls a service that fails, and the figures of the model lie
 * between those of the two. */
static void figures_of_fleets_are_their_own(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.n_fleets = bed.model.n_services = 2;
    bed.fleets[1].service = 1;
    bed.fleets[1].rate = 30;
    bed.services[1].error_rate = 1;
    struct sim_result *r = bed_run(&bed);
    assert_true(r->callers[0].figure[SIM_FIG_SUCCESS] == 1);
    assert_true(r->callers[1].figure[SIM_FIG_SUCCESS] == 0);
    near(r->figure[SIM_FIG_SUCCESS], 0.25, 0.01);
    near(r->callers[0].figure[SIM_FIG_GOODPUT], r->figure[SIM_FIG_GOODPUT],
         1e-9);
    assert_true(isnan(r->callers[1].figure[SIM_FIG_P50]));
    assert_true(r->callers[1].figure[SIM_FIG_TIMED] == 0);
    sim_result_free(r);
}

/* A stop from 3 to 5 s, and one worker that takes 50 ms: twice as fast as calls
 * come. */
static void all_back_is_when_the_last_one_ended(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.policies[0].conf.attempt_timeout_ns = 60 * BIDE_SECOND;
    bed.services[0].workers = 1;
    bed.services[0].time = sim_constant(50 * BIDE_MILLISECOND);
    struct sim_result *r = bed_run(&bed);
    assert_true(
        isnan(r->figure[SIM_FIG_ALL_BACK])); /* nothing to be back from */
    sim_result_free(r);
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_STOP;
    r = bed_run(&bed);
    /* the calls of 3.0, 3.1 ... 4.9 s, one after the other from 5 s on */
    near(r->figure[SIM_FIG_ALL_BACK], 6, 0.051);
    sim_result_free(r);
    bed.services[0].time = sim_constant(500 * BIDE_MILLISECOND);
    r = bed_run(&bed);
    assert_true(isinf(r->figure[SIM_FIG_ALL_BACK]));
    sim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_or_made_up),
        cmocka_unit_test(run_is_a_function_of_its_seed),
        cmocka_unit_test(run_does_not_depend_on_its_steps),
        cmocka_unit_test(engine_counts_the_same),
        cmocka_unit_test(run_can_be_stopped),
        cmocka_unit_test(marks_tell_the_whole_story),
        cmocka_unit_test(regress_unfinished_calls_count),
        cmocka_unit_test(calls_in_flight_at_the_end_do_not_count),
        cmocka_unit_test(figures_of_a_queue_are_known),
        cmocka_unit_test(figures_of_fleets_are_their_own),
        cmocka_unit_test(all_back_is_when_the_last_one_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
