/* test_lessons.c: each scenario that comes with bide shows what its text says
 * it shows, with any of some seeds. Rows of {variant, figure, from, to}: the
 * ranges are several times as wide as what twelve seeds gave, and those that a
 * scenario sets side by side do not touch. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/builtin.h"
#include "sim/scenario/scenario.h"
#include "sim/study/recovery.h"

enum { SEEDS = 3 };

#define NEVER INFINITY

struct lesson {
    const char *scenario, *variant;
    enum sim_figure figure;
    double from, to;
};

/* clang-format off */
static const struct lesson lessons[] = {
    /* Waits without jitter keep a herd together. */
    { "thundering-herd", "same wait", SIM_FIG_SUCCESS, 0.3, 0.8 },
    { "thundering-herd", "doubling waits", SIM_FIG_SUCCESS, 0.3, 0.8 },
    { "thundering-herd", "full jitter", SIM_FIG_SUCCESS, 0.99, 1 },
    { "thundering-herd", "same wait", SIM_FIG_AMPLIFICATION, 3, 8 },
    { "thundering-herd", "full jitter", SIM_FIG_AMPLIFICATION, 1, 2.5 },

    { "flapping", "naive", SIM_FIG_RECOVER, NEVER, NEVER },
    { "flapping", "naive", SIM_FIG_SUCCESS, 0, 0.4 },
    { "flapping", "bide", SIM_FIG_RECOVER, 0, 5 },
    { "flapping", "bide", SIM_FIG_SUCCESS, 0.75, 1 },
    { "flapping", "bide", SIM_FIG_WASTED, 0, 0.05 },
    { "flapping", "defaults", SIM_FIG_SUCCESS, 0.97, 1 },

    /* 300/s for two minutes and 175/s for one would be 85 %. */
    { "brown-out", "naive", SIM_FIG_RECOVER, NEVER, NEVER },
    { "brown-out", "no retries", SIM_FIG_RECOVER, 20, 70 },
    { "brown-out", "no retries", SIM_FIG_SUCCESS, 0.3, 0.6 },
    { "brown-out", "bide", SIM_FIG_SUCCESS, 0.8, 0.88 },
    { "brown-out", "bide", SIM_FIG_RECOVER, 0, 5 },

    /* Row 13 of the oracles. */
    { "metastable", "one retry", SIM_FIG_RECOVER, NEVER, NEVER },
    { "metastable", "jitter", SIM_FIG_RECOVER, NEVER, NEVER },
    { "metastable", "budget per call", SIM_FIG_RECOVER, NEVER, NEVER },
    { "metastable", "per success", SIM_FIG_RECOVER, 60, 300 },
    { "metastable", "bide", SIM_FIG_RECOVER, 0, 30 },

    /* Row 4: 3 to the fifth; one layer; a budget. */
    { "deep-chain", "every layer", SIM_FIG_DEEPEST, 235, 251 },
    { "deep-chain", "one layer", SIM_FIG_DEEPEST, 2.9, 3.1 },
    { "deep-chain", "bide", SIM_FIG_DEEPEST, 1, 1.1 },

    { "every-layer", "every layer", SIM_FIG_DEEPEST, 30, 64 },
    { "every-layer", "every layer", SIM_FIG_RECOVER, NEVER, NEVER },
    { "every-layer", "one layer", SIM_FIG_DEEPEST, 1.2, 4 },
    { "every-layer", "one layer", SIM_FIG_RECOVER, 8, 60 },
    { "every-layer", "bide", SIM_FIG_DEEPEST, 1, 1.1 },
    { "every-layer", "bide", SIM_FIG_RECOVER, 0, 6 },

    { "reconnect-storm", "no limit", SIM_FIG_SUCCESS, 0, 0.7 },
    { "reconnect-storm", "no limit", SIM_FIG_WASTED, 0.8, 1 },
    { "reconnect-storm", "jitter alone", SIM_FIG_WASTED, 0.8, 1 },
    { "reconnect-storm", "in-flight cap", SIM_FIG_SUCCESS, 0.999, 1 },
    { "reconnect-storm", "in-flight cap", SIM_FIG_WASTED, 0, 0.01 },
    { "reconnect-storm", "in-flight cap", SIM_FIG_P999, 5, 30 },

    { "rate-limited", "exactly then", SIM_FIG_P99, 80, 130 },
    { "rate-limited", "jitter 10%", SIM_FIG_P99, 45, 75 },
    { "rate-limited", "jitter 50%", SIM_FIG_P99, 20, 43 },
    { "rate-limited", "jitter 10%", SIM_FIG_SUCCESS, 0.999, 1 },

    { "tail-latency", "patient", SIM_FIG_P99, 0.4, 1 },
    { "tail-latency", "hedging", SIM_FIG_P99, 0, 0.25 },
    { "tail-latency", "hedging", SIM_FIG_HEDGES, 0.03, 0.08 },
    { "tail-latency", "hedging", SIM_FIG_FAILURES, 0, 0.001 },
    { "tail-latency", "short timeout", SIM_FIG_FAILURES, 0.005, 0.05 },

    { "double-charge", "careless", SIM_FIG_DUPLICATES, 500, 3000 },
    { "double-charge", "bide without keys", SIM_FIG_DUPLICATES, 0, 0 },
    { "double-charge", "bide without keys", SIM_FIG_FAILURES, 0.08, 0.2 },
    { "double-charge", "bide with keys", SIM_FIG_DUPLICATES, 0, 0 },
    { "double-charge", "bide with keys", SIM_FIG_FAILURES, 0, 0.02 },

    { "mixed-fleet", "all envoy", SIM_FIG_RECOVER, NEVER, NEVER },
    { "mixed-fleet", "all aws", SIM_FIG_RECOVER, 25, 68 },
    { "mixed-fleet", "all finagle", SIM_FIG_RECOVER, 4, 20 },
    { "mixed-fleet", "defaults", SIM_FIG_RECOVER, 4, 20 },

    /* A tenth of the users for 60 s of 110 are 5.5 %. */
    { "shard-down", "patient", SIM_FIG_SUCCESS, 0.05, 0.5 },
    { "shard-down", "bide", SIM_FIG_SUCCESS, 0.9, 0.95 },

    /* All but a tenth of the calls of 60 s of 110 would be 94.5 %. */
    { "black-hole", "least requests", SIM_FIG_SUCCESS, 0.5, 0.72 },
    { "black-hole", "two choices", SIM_FIG_SUCCESS, 0.86, 0.925 },
    { "black-hole", "random", SIM_FIG_SUCCESS, 0.935, 0.955 },
    { "black-hole", "retries", SIM_FIG_SUCCESS, 0.5, 0.75 },
    { "black-hole", "ejection", SIM_FIG_SUCCESS, 0.998, 1 },
    { "black-hole", "bide", SIM_FIG_SUCCESS, 0.9995, 1 },

    { "rolling-restart", "no retries", SIM_FIG_FAILURES, 0.03, 0.07 },
    { "rolling-restart", "ejection", SIM_FIG_FAILURES, 0.002, 0.012 },
    { "rolling-restart", "retries", SIM_FIG_FAILURES, 0, 0.0018 },
    { "rolling-restart", "retries", SIM_FIG_AMPLIFICATION, 1, 1.015 },
    { "rolling-restart", "bide", SIM_FIG_FAILURES, 0, 0.0018 },
    { "rolling-restart", "bide", SIM_FIG_AMPLIFICATION, 1, 1.015 },

    { "rush-hour", "naive", SIM_FIG_SUCCESS, 0.1, 0.5 },
    { "rush-hour", "naive", SIM_FIG_WASTED, 0.6, 0.9 },
    { "rush-hour", "no retries", SIM_FIG_SUCCESS, 0.65, 0.85 },
    { "rush-hour", "budget", SIM_FIG_SUCCESS, 0.6, 0.85 },
    { "rush-hour", "budget", SIM_FIG_AMPLIFICATION, 1, 1.1 },

    /* The work after the return is 13 600 half-seconds on 16 places: 425 s. */
    { "queue-outage", "sqs", SIM_FIG_DEAD, 12000, 14500 },
    { "queue-outage", "celery", SIM_FIG_DEAD, 12000, 14500 },
    { "queue-outage", "sidekiq", SIM_FIG_NUMBER, 9, 11 },
    { "queue-outage", "defaults", SIM_FIG_DEAD, 0, 0 },
    { "queue-outage", "defaults", SIM_FIG_NUMBER, 1, 2 },
    { "queue-outage", "defaults", SIM_FIG_PROBES, 0.05, 0.99 },
    { "queue-outage", "defaults", SIM_FIG_ALL_BACK, 7600, 7700 },

    { "queue-flaky", "sqs", SIM_FIG_DEAD, 1, 30 },
    { "queue-flaky", "defaults", SIM_FIG_DEAD, 0, 0 },
    { "queue-flaky", "defaults", SIM_FIG_RETRY_WAIT, 1, 2 },
    { "queue-flaky", "defaults", SIM_FIG_DEPTH, 1500, 6000 },

    { "queue-poison", "requeue at once", SIM_FIG_AMPLIFICATION, 15, 80 },
    { "queue-poison", "sqs", SIM_FIG_DEAD_AFTER, 120, 200 },
    { "queue-poison", "defaults", SIM_FIG_NUMBER, 15, 15 },
    { "queue-poison", "defaults", SIM_FIG_DEAD_AFTER, 16 * 3600., 28 * 3600. },
    { "queue-poison", "defaults", SIM_FIG_AMPLIFICATION, 1, 1.2 },
};
/* clang-format on */

enum { N_LESSONS = sizeof lessons / sizeof lessons[0] };

static uint32_t variant_of(const struct sim_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->n_variants; i++)
        if (strcmp(m->variants[i].name, name) == 0)
            return i;
    fail_msg("no variant %s", name);
    return 0;
}

static void check_run(const struct sim_model *m, const char *scenario,
                      const char *variant, uint64_t seed)
{
    struct sim_run_conf run_conf = { .steps = 0 };
    struct sim_result *r =
        sim_run_judged(m, variant_of(m, variant), seed, &run_conf);

    for (int i = 0; i < N_LESSONS; i++) {
        const struct lesson *l = &lessons[i];
        double found = r->figure[l->figure];

        if (strcmp(l->scenario, scenario) == 0 &&
            strcmp(l->variant, variant) == 0 &&
            !(found >= l->from && found <= l->to))
            fail_msg("%s, %s, seed %llu: %s is %g, not in %g .. %g", scenario,
                     variant, (unsigned long long)seed,
                     sim_figure_name(l->figure), found, l->from, l->to);
    }
    sim_result_free(r);
}

static void scenario_shows_its_lesson(void **state)
{
    const struct sim_builtin *b = *state;
    struct sim_model *m = NULL;

    assert_int_equal(sim_scenario_parse(&m, b->name, b->text, b->len, NULL), 0);
    for (uint32_t v = 0; v < m->n_variants; v++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            check_run(m, b->name, m->variants[v].name, seed);
    sim_model_free(m);
}

/* A scenario without a row, or a row that names nothing, would test nothing. */
static void every_scenario_has_a_lesson(void **state)
{
    size_t n;
    const struct sim_builtin *all = sim_builtins(&n);

    (void)state;
    for (size_t k = 0; k < n; k++) {
        struct sim_model *m = NULL;
        int rows = 0;

        assert_int_equal(
            sim_scenario_parse(&m, all[k].name, all[k].text, all[k].len, NULL),
            0);
        for (int i = 0; i < N_LESSONS; i++)
            if (strcmp(lessons[i].scenario, all[k].name) == 0) {
                variant_of(m, lessons[i].variant);
                rows++;
            }
        sim_model_free(m);
        if (rows < 2)
            fail_msg("%s", all[k].name);
    }
    for (int i = 0; i < N_LESSONS; i++)
        assert_non_null(sim_builtin_find(lessons[i].scenario));
}

int main(void)
{
    enum { MOST = 32 };
    struct CMUnitTest tests[MOST + 1] = { { 0 } };
    size_t n;
    const struct sim_builtin *all = sim_builtins(&n);

    assert_true(n < MOST);
    tests[0] = (struct CMUnitTest)cmocka_unit_test(every_scenario_has_a_lesson);
    for (size_t i = 0; i < n; i++)
        tests[i + 1] = (struct CMUnitTest){
            .name = all[i].name,
            .test_func = scenario_shows_its_lesson,
            .initial_state = (void *)&all[i],
        };
    return _cmocka_run_group_tests("lessons", tests, n + 1, NULL, NULL);
}
