/* test_sweep.c: axes, settings, sweeps and replications. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/scenario/setting.h"
#include "sim/study/recovery.h"
#include "sim/study/stability.h"
#include "sim/study/sweep.h"

static const char scenario[] =
    "version: 1\n"
    "scenario: { title: Small, duration: 40s, warm_up: 2s }\n"
    "policies:\n"
    "  plain: { attempts: 1, attempt_timeout: 1s }\n"
    "  eager: { attempts: 3, attempt_timeout: 1s, budget: { kind: 'off' },\n"
    "           breaker: { kind: 'off' }, backoff: { base: 10ms } }\n"
    "clients:\n"
    "  web.app: { count: 50, processes: 5, rate: 40/s, policy: plain,\n"
    "             calls: api }\n"
    "services:\n"
    "  api: { workers: 8, time: { exponential: 100ms },\n"
    "         queue: { limit: 500 } }\n"
    "faults:\n"
    "  - { at: 10s, for: 3s, service: api, stop: true }\n"
    "variants:\n"
    "  plain: { web.app: plain }\n"
    "  eager: { web.app: eager }\n";

static struct sim_model *model;

static int set_up(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    int rc = sim_scenario_parse(&model, "small", scenario, sizeof scenario - 1,
                                notes);

    (void)state;
    if (rc < 0)
        bide_diagnostics_print(notes, stderr, false);
    bide_diagnostics_free(notes);
    return rc;
}

static int tear_down(void **state)
{
    (void)state;
    sim_model_free(model);
    return 0;
}

/* ===== axes ===== */

static void axis_values(void **state)
{
    static const struct {
        const char *text, *values;
    } rows[] = {
        { "backoff.base=50ms..2s", "50ms 126ms 316ms 795ms 2s" },
        { "backoff.base=1s..2s:3", "1s 1.5s 2s" },
        { "attempts=1..4", "1 2 3 4" },
        { "attempts=1..10:4", "1 4 7 10" },
        { "factor=1..2:3", "1 1.5 2" },
        { "count=10..1000:3", "10 100 1000" },
        { "budget.ratio=0%..20%:3", "0% 10% 20%" },
        { "load=10%..120%:12",
          "10% 20% 30% 40% 50% 60% 70% 80% 90% 100% 110% 120%" },
        { "clients.a.rate=10/s..1000/s:3", "10/s 100/s 1000/s" },
        { "base=0..2s:3", "0 1s 2s" },
        { "jitter=none,full,equal", "none full equal" },
        { "x=5s", "5s" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim_axis a;
        struct sim_fuss fuss;
        char all[200] = "";
        if (sim_axis_parse(&a, rows[i].text, &fuss) < 0)
            fail_msg("%s: %s", rows[i].text, fuss.message);
        for (uint32_t k = 0; k < a.n; k++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                     k ? " " : "", a.values[k]);
        assert_string_equal(all, rows[i].values);
        sim_axis_done(&a);
    }
}

static void axis_mistakes_have_a_place(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        const char *part;
    } rows[] = {
        { "", 0, "expected KEY=" },
        { "base", 0, "expected KEY=" },
        { "=1..2", 0, "expected KEY=" },
        { "base=", 5, "found nothing" },
        { "base=1s,", 8, "found nothing" },
        { "base=x..2s", 5, "found `x`, expected a number" },
        { "base=..2s", 5, "expected a number" },
        { "base=1s..", 9, "expected a number with the same unit" },
        { "base=1s..5", 9, "expected a number with the same unit" },
        { "base=2s..1s", 5, "the smaller value first" },
        { "base=1s..2s:1", 12, "from 2 to" },
        { "base=1s..2s:", 12, "from 2 to" },
        { "base=1s..2s:3x", 12, "from 2 to" },
        { "base=1s..2s:100000", 12, "from 2 to" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim_axis a;
        struct sim_fuss fuss = { 0 };
        assert_int_equal(sim_axis_parse(&a, rows[i].text, &fuss), -1);
        if (fuss.at != rows[i].at || !strstr(fuss.message, rows[i].part))
            fail_msg("%s: %s, at %zu", rows[i].text, fuss.message, fuss.at);
    }
}

/* ===== settings ===== */

static void setting_changes_the_draft_only(void **state)
{
    struct sim_model *d = sim_copy_new(model);
    const char *expected = NULL;

    (void)state;
#define SET(key, text)                                                         \
    assert_int_equal(sim_setting(d, key, text, &expected), SIM_SET_OK)
    SET("attempts", "7");
    SET("policies.eager.backoff.base", "33ms");
    SET("clients.web.app.rate", "80/s");
    SET("clients.web.app.count", "3");
    SET("services.api.workers", "2");
    SET("services.api.queue.limit", "unbounded");
    SET("services.api.time", "5ms");
    SET("faults.1.for", "7s");
    SET("load", "50%");
#undef SET
    assert_int_equal(d->policies[0].conf.attempts, 7);
    assert_int_equal(d->policies[1].conf.attempts, 7);
    assert_int_equal(d->policies[1].conf.backoff.base_ns, 33000000);
    assert_true(d->fleets[0].rate == 40);
    assert_int_equal(d->fleets[0].clients, 3);
    assert_int_equal(d->fleets[0].processes, 3);
    assert_int_equal(d->services[0].workers, 2);
    assert_int_equal(d->services[0].queue, SIM_UNBOUNDED);
    assert_true(d->services[0].time.at_ns == 5e6);
    assert_true(d->faults[0].to_ns - d->faults[0].from_ns == 7 * BIDE_SECOND);
    sim_copy_free(d);
    assert_int_equal(model->policies[1].conf.attempts, 3);
    assert_int_equal(model->services[0].workers, 8);
    assert_true(model->fleets[0].rate == 40 && model->fleets[0].clients == 50);
}

static void setting_mistakes_are_told(void **state)
{
    static const struct {
        const char *key, *text;
        enum sim_set rc;
    } rows[] = {
        { "atempts", "2", SIM_SET_UNKNOWN },
        { "clients.web.rate", "2/s", SIM_SET_UNKNOWN },
        { "services.api", "2", SIM_SET_UNKNOWN },
        { "services.api.queue", "2", SIM_SET_UNKNOWN },
        { "services.api.calls", "2", SIM_SET_UNKNOWN },
        { "faults.2.for", "2s", SIM_SET_UNKNOWN },
        { "faults.0.for", "2s", SIM_SET_UNKNOWN },
        { "faults.1.slow", "2", SIM_SET_UNKNOWN },
        { "faults.1.stop", "true", SIM_SET_UNKNOWN },
        { "policies.none.attempts", "2", SIM_SET_UNKNOWN },
        { "attempts", "0", SIM_SET_WRONG },
        { "attempts", "many", SIM_SET_WRONG },
        { "services.api.workers", "0", SIM_SET_WRONG },
        { "services.api.workers", "1.5", SIM_SET_WRONG },
        { "services.api.error_rate", "120%", SIM_SET_WRONG },
        { "services.api.time", "5", SIM_SET_WRONG },
        { "load", "0", SIM_SET_WRONG },
        { "clients.web.app.steady", "maybe", SIM_SET_WRONG },
    };
    struct sim_model *d = sim_copy_new(model);

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *expected = NULL;
        if (sim_setting(d, rows[i].key, rows[i].text, &expected) !=
                rows[i].rc ||
            (rows[i].rc == SIM_SET_WRONG && !expected))
            fail_msg("%s=%s", rows[i].key, rows[i].text);
    }
    sim_copy_free(d);
}

/* ===== running ===== */

static struct sim_summary *replicate(uint32_t n, uint32_t threads,
                                     bool (*progress)(void *, double, uint64_t),
                                     void *self)
{
    struct sim_plan plan = {
        .model = model, .seed = 5, .replications = n, .threads = threads
    };

    plan.run_conf.progress = progress;
    plan.run_conf.self = self;
    return sim_replicate(&plan);
}

static void same_summary(const struct sim_summary *a,
                         const struct sim_summary *b)
{
    assert_int_equal(a->n_variants, b->n_variants);
    assert_int_equal(a->events, b->events);
    for (uint32_t v = 0; v < a->n_variants; v++) {
        const struct sim_variant_summary *x = &a->variants[v],
                                         *y = &b->variants[v];
        size_t size = x->first->n_steps * sizeof(double);
        assert_memory_equal(x->figure, y->figure, sizeof x->figure);
        assert_memory_equal(x->mean[0], y->mean[0], size);
        assert_memory_equal(x->mean[1], y->mean[1], size);
        assert_int_equal(x->first->seed, y->first->seed);
    }
}

static void replicate_does_not_depend_on_threads(void **state)
{
    struct sim_summary *one = replicate(5, 1, NULL, NULL);
    struct sim_summary *four = replicate(5, 4, NULL, NULL);

    (void)state;
    same_summary(one, four);
    assert_false(one->cut_short);
    assert_int_equal(one->variants[0].n, 5);
    assert_int_equal(one->variants[1].first->seed, 5);
    assert_string_equal(one->variants[1].name, "eager");
    sim_summary_free(one);
    sim_summary_free(four);
}

/* Replication k has the seed of the plan and k more: of two, the mean is that
 * of each alone. */
static void replicate_mean_is_that_of_its_runs(void **state)
{
    struct sim_run_conf run_conf = { 0 };
    struct sim_result *a = sim_run(model, 1, 5, &run_conf);
    struct sim_result *b = sim_run(model, 1, 6, &run_conf);
    struct sim_summary *s = replicate(2, 2, NULL, NULL);
    const struct sim_interval *i =
        &s->variants[1].figure[SIM_FIG_AMPLIFICATION];

    (void)state;
    assert_true(fabs(i->mean - (a->figure[SIM_FIG_AMPLIFICATION] +
                                b->figure[SIM_FIG_AMPLIFICATION]) /
                                   2) < 1e-12);
    assert_true(i->low < i->mean && i->mean < i->high);
    sim_result_free(a);
    sim_result_free(b);
    sim_summary_free(s);
}

/* Threads: under the pool's lock. */
struct stopper {
    double last;
    double at;
    int told;
};

static bool stop_at(void *self, double done, uint64_t events)
{
    struct stopper *s = self;

    (void)events;
    s->told++;
    s->last = done;
    return done < s->at;
}

static void replicate_tells_progress_of_all(void **state)
{
    struct stopper s = { .at = 2 };
    struct sim_summary *summary = replicate(3, 2, stop_at, &s);

    (void)state;
    assert_true(s.told >= 6);
    assert_true(fabs(s.last - 1) < 1e-9);
    assert_false(summary->cut_short);
    sim_summary_free(summary);
}

static void replicate_stopped_keeps_what_is_finished(void **state)
{
    struct stopper s = { .at = 0.5 };
    struct sim_summary *summary = replicate(20, 1, stop_at, &s);

    (void)state;
    assert_true(summary->cut_short);
    assert_true(summary->variants[0].n >= 5 && summary->variants[0].n < 20);
    assert_true(summary->variants[0].figure[SIM_FIG_GOODPUT].n ==
                summary->variants[0].n);
    sim_summary_free(summary);
}

static void replicate_stopped_at_once_has_all_its_parts(void **state)
{
    struct stopper s = { .at = 0 };
    struct sim_summary *summary = replicate(3, 2, stop_at, &s);

    (void)state;
    assert_true(summary->cut_short);
    for (uint32_t v = 0; v < summary->n_variants; v++) {
        assert_non_null(summary->variants[v].first);
        assert_non_null(summary->variants[v].mean[1]);
    }
    sim_summary_free(summary);
}

static void sweep_points_are_runs_of_their_settings(void **state)
{
    struct sim_axis axes[2];
    struct sim_fuss fuss;
    struct sim_sweep *s = NULL;
    struct sim_plan plan = { .seed = 5, .replications = 1, .threads = 2 };
    struct sim_model *d = sim_copy_new(model);
    struct sim_run_conf run_conf = { 0 };
    const char *expected;

    (void)state;
    sim_axis_parse(&axes[0], "attempts=1,2,4", &fuss);
    sim_axis_parse(&axes[1], "services.api.workers=6,8", &fuss);
    assert_int_equal(sim_sweep_new(&s, model, axes, 2, &fuss), 0);
    sim_sweep_run(s, &plan);
    sim_setting(d, "attempts", "4", &expected);
    sim_setting(d, "services.api.workers", "6", &expected);
    struct sim_result *r = sim_run_judged(d, 1, 5, &run_conf);
    for (int f = 0; f < SIM_FIGURES; f++) {
        double x = sim_interval_value(&sim_sweep_at(s, 2, 0, 1)[f]);
        assert_true(memcmp(&x, &r->figure[f], sizeof x) == 0 || isnan(x));
    }
    assert_false(s->cut_short);
    sim_result_free(r);
    sim_copy_free(d);
    sim_sweep_free(s);
    sim_axis_done(&axes[0]);
    sim_axis_done(&axes[1]);
}

static void sweep_mistakes_are_found_before_it_runs(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        { "atempts=1,2", "called `atempts`" },
        { "attempts=1,0", "attempts: found `0`, expected" },
        { "backoff.base=1h,1s", "backoff.base=1h: policy `plain`" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sim_axis axis;
        struct sim_fuss fuss;
        struct sim_sweep *s = NULL;
        sim_axis_parse(&axis, rows[i].text, &fuss);
        assert_int_equal(sim_sweep_new(&s, model, &axis, 1, &fuss), -1);
        if (!strstr(fuss.message, rows[i].part))
            fail_msg("%s: %s", rows[i].text, fuss.message);
        sim_axis_done(&axis);
    }
}

/* ===== stability ===== */

static void stability_of_little_load_recovers(void **state)
{
    static const double loads[] = { 0.2, 1.3 };
    static const int64_t lengths_ns[] = { 2 * BIDE_SECOND };
    struct sim_stability *s = NULL;
    struct sim_plan plan = { .seed = 1, .replications = 2, .threads = 2 };

    (void)state;
    assert_null(sim_stability_new(&s, model, loads, 2, lengths_ns, 1));
    assert_true(fabs(s->capacity - 80) < 1e-9);
    sim_stability_run(s, &plan);
    assert_int_equal(sim_stability_at(s, 0, 0, 0)->fate, SIM_FATE_RECOVERS);
    assert_int_equal(sim_stability_at(s, 1, 1, 0)->fate, SIM_FATE_OVERLOADED);
    assert_int_equal(sim_stability_at(s, 1, 1, 0)->runs, 2);
    sim_stability_free(s);
}

static uint64_t events_alone(const struct sim_stability *s, uint32_t point,
                             uint64_t seed, double recover_s)
{
    struct sim_run_conf run_conf = { .beat_ns = sim_beat_length(
                                         s->points[0]->duration_ns) };
    struct sim_result *r = sim_run_judged(s->points[point], 0, seed, &run_conf);
    uint64_t events = r->events;

    assert_true(fabs(r->figure[SIM_FIG_RECOVER] - recover_s) < 1e-9);
    sim_result_free(r);
    return events;
}

/* A run without the hit serves all lengths of it, and each is judged as if it
 * had one of its own. */
static void stability_runs_a_twin_once(void **state)
{
    static const int64_t lengths_ns[] = { BIDE_SECOND, 3 * BIDE_SECOND,
                                          10 * BIDE_SECOND };
    struct sim_model *d = sim_copy_new(model);
    struct sim_stability *s = NULL;
    struct sim_plan plan = { .seed = 7, .replications = 1, .threads = 2 };
    double load = 0.5;

    (void)state;
    while (d->n_variants > 1)
        sim_copy_drop(d, 1);
    assert_null(sim_stability_new(&s, d, &load, 1, lengths_ns, 3));
    sim_stability_run(s, &plan);
    uint64_t events = 0;
    for (uint32_t i = 0; i < 3; i++)
        events +=
            events_alone(s, i, 7, sim_stability_at(s, 0, 0, i)->recover_s);
    struct sim_twin *twin =
        sim_twin_run(s->points[2], 0, 7, NULL, s->points[2]->duration_ns);
    assert_int_equal(s->events, events + twin->events);
    sim_twin_free(twin);
    sim_stability_free(s);
    sim_copy_free(d);
}

static void stability_without_a_limit_is_refused(void **state)
{
    struct sim_model *d = sim_copy_new(model);
    struct sim_stability *s = NULL;
    double load = 1;
    int64_t length_ns = BIDE_SECOND;

    (void)state;
    assert_true(fabs(sim_utilisation(d) - 0.5) < 1e-9);
    d->services[0].workers = SIM_UNBOUNDED;
    assert_true(sim_utilisation(d) <= 0);
    assert_non_null(sim_stability_new(&s, d, &load, 1, &length_ns, 1));
    sim_copy_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axis_values),
        cmocka_unit_test(axis_mistakes_have_a_place),
        cmocka_unit_test(setting_changes_the_draft_only),
        cmocka_unit_test(setting_mistakes_are_told),
        cmocka_unit_test(replicate_does_not_depend_on_threads),
        cmocka_unit_test(replicate_mean_is_that_of_its_runs),
        cmocka_unit_test(replicate_tells_progress_of_all),
        cmocka_unit_test(replicate_stopped_keeps_what_is_finished),
        cmocka_unit_test(replicate_stopped_at_once_has_all_its_parts),
        cmocka_unit_test(sweep_points_are_runs_of_their_settings),
        cmocka_unit_test(sweep_mistakes_are_found_before_it_runs),
        cmocka_unit_test(stability_of_little_load_recovers),
        cmocka_unit_test(stability_runs_a_twin_once),
        cmocka_unit_test(stability_without_a_limit_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
