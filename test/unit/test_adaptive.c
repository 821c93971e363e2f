/* test_adaptive.c: the cap that adapts. First what its authors test
 * (concurrency-limits: AIMDLimitTest, ExpAvgMeasurementTest, and what the comment
 * of Gradient2Limit promises), then what is ours: calls, ranks, the queue. */
#include <math.h>

#include "lib/limit/adaptive.h"
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static bide_limit_conf limits(bide_adaptive kind, uint32_t min, uint32_t initial,
                              uint32_t max)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    conf.limits.adaptive = kind;
    conf.limits.adaptive_min = min;
    conf.limits.adaptive_initial = initial;
    conf.limits.adaptive_max = max;
    return conf.limits;
}

/* ===== theirs ===== */

static void aimd_as_its_authors_test_it(void **state)
{
    static const struct {
        uint32_t min, initial, max;
        uint64_t in_flight;
        bool drop;
        uint32_t expected;
    } rows[] = {
        { 1, 10, 200, 10, false, 11 },  /* increaseOnSuccess */
        { 20, 20, 200, 10, false, 21 }, /* the same, half in use */
        { 1, 10, 200, 0, true, 9 },     /* decreaseOnDrops */
        { 20, 30, 200, 0, true, 27 },
        { 1, 21, 21, 10, false, 21 },   /* successOverflow: at its maximum */
        { 1, 21, 21, 11, false, 21 },
        { 1, 20, 200, 9, false, 20 },   /* not half in use: nothing was learned */
        { 20, 21, 200, 0, true, 20 },   /* 18, but for the minimum */
        { 1, 1, 200, 1, true, 1 },
        { 1, 2, 200, 2, true, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_limit_conf conf = limits(BIDE_ADAPTIVE_AIMD, rows[i].min,
                                      rows[i].initial, rows[i].max);
        bide_outcome good = { WORKED }, bad = { THROTTLED };
        struct bide__adaptive a;
        bide__adaptive_init(&a, &conf);
        assert_int_equal(bide__adaptive_limit(&a), rows[i].initial);
        bide__adaptive_report(&a, &conf, rows[i].drop ? &bad : &good, MS,
                              rows[i].in_flight);
        if (bide__adaptive_limit(&a) != rows[i].expected)
            fail_msg("row %zu: %u", i, bide__adaptive_limit(&a));
    }
}

/* The first ten samples are averaged: 10, 10.5, ... 14.5; from then on the
 * average is exponential over 600 samples. */
static void gradient_long_term_latency_warms_up(void **state)
{
    bide_limit_conf conf = limits(BIDE_ADAPTIVE_GRADIENT, 20, 20, 200);
    bide_outcome good = { WORKED };
    struct bide__adaptive a;

    (void)state;
    bide__adaptive_init(&a, &conf);
    for (int i = 0; i < 10; i++) {
        bide__adaptive_report(&a, &conf, &good, (i + 10) * MS, 1);
        double expected = 10e6 + i * 0.5e6;
        assert_true(fabs((double)bide__adaptive_latency(&a) - expected) < 1e4);
    }
    bide__adaptive_report(&a, &conf, &good, 100 * MS, 1);
    double expected = 14.5e6 * (1 - 2.0 / 601) + 100e6 * 2.0 / 601;
    assert_true(fabs((double)bide__adaptive_latency(&a) - expected) < 1e4);
}

/* One sample at a time, by the published formula with its constants: smoothing
 * 0.2, a queue of 4, a tolerance of 1.5, a slope from 0.5 to 1. */
static void gradient_follows_the_published_formula(void **state)
{
    bide_limit_conf conf = limits(BIDE_ADAPTIVE_GRADIENT, 1, 100, 1000);
    bide_outcome good = { WORKED };
    struct bide__adaptive a;
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 3);
    double cap = 100, latency = 0;

    (void)state;
    bide__adaptive_init(&a, &conf);
    for (int i = 0; i < 2000; i++) {
        double rtt = (double)bide_rng_between(&rng, 5 * MS, 40 * MS);
        uint64_t in_flight = i % 3 ? 1000 : 0;
        latency = i < 10 ? (latency * i + rtt) / (i + 1)
                         : latency * (1 - 2.0 / 601) + rtt * 2.0 / 601;
        double slope = fmax(0.5, fmin(1.0, 1.5 * latency / rtt));
        if (latency / rtt > 2)
            latency *= 0.95;
        if (in_flight != 0)
            cap = cap * 0.8 + (cap * slope + 4) * 0.2;
        bide__adaptive_report(&a, &conf, &good, (int64_t)rtt, in_flight);
        uint32_t got = bide__adaptive_limit(&a);
        cap = cap < 1 ? 1 : cap > 1000 ? 1000 : cap;
        /* the word keeps the cap to 1/256 and the latency to 24 bits */
        if (fabs(got - cap) > 1.1)
            fail_msg("sample %d: %u, expected %.2f", i, got, cap);
    }
}

/* "1. Steady state": the cap grows to where the load is, or to its maximum. */
static void gradient_steady_latency_lets_the_cap_rise(void **state)
{
    bide_limit_conf conf = limits(BIDE_ADAPTIVE_GRADIENT, 20, 20, 200);
    bide_outcome good = { WORKED };
    struct bide__adaptive a;

    (void)state;
    bide__adaptive_init(&a, &conf);
    for (int i = 0; i < 1000; i++)
        bide__adaptive_report(&a, &conf, &good, 10 * MS,
                              bide__adaptive_limit(&a));
    assert_int_equal(bide__adaptive_limit(&a), 200);
    bide__adaptive_init(&a, &conf);
    for (int i = 0; i < 1000; i++) /* 30 at once, and no more */
        bide__adaptive_report(&a, &conf, &good, 10 * MS, 30);
    assert_in_range(bide__adaptive_limit(&a), 60, 61);
}

/* "2. Transition from steady state to load": latency rises, the cap falls. "3."
 * Latency falls again, so does the long-term one, and the cap rises. */
static void gradient_load_lowers_the_cap_and_its_end_raises_it(void **state)
{
    bide_limit_conf conf = limits(BIDE_ADAPTIVE_GRADIENT, 20, 20, 200);
    bide_outcome good = { WORKED };
    struct bide__adaptive a;

    (void)state;
    bide__adaptive_init(&a, &conf);
    for (int i = 0; i < 1000; i++)
        bide__adaptive_report(&a, &conf, &good, 10 * MS, 200);
    for (int i = 0; i < 60; i++)
        bide__adaptive_report(&a, &conf, &good, 100 * MS, 200);
    assert_in_range(bide__adaptive_limit(&a), 20, 40);
    for (int i = 0; i < 3000; i++) /* a long overload */
        bide__adaptive_report(&a, &conf, &good, 100 * MS, 200);
    assert_true(bide__adaptive_latency(&a) > 90 * MS);
    for (int i = 0; i < 60; i++)
        bide__adaptive_report(&a, &conf, &good, 10 * MS, 200);
    assert_true(bide__adaptive_latency(&a) < 25 * MS);
}

/* ===== ours ===== */

/* What is overload, what is a sample, and what says nothing. */
static void adaptive_outcomes_mean_what_they_say(void **state)
{
    static const struct {
        bide_outcome out;
        int change;
    } rows[] = {
        { { WORKED }, 1 },
        { { THROTTLED }, -1 },
        { { OVERLOADED }, -1 },
        { { FAILED }, -1 }, /* 503 */
        { { TIMED_OUT }, -1 },
        { { .cls = BIDE_TRANSIENT, .status = 500 }, 0 },
        { { UNCONNECTED }, 0 },
        { { PERMANENT }, 0 },
        { { IGNORED }, 0 },
        { { .cls = BIDE_IGNORED, .fault = BIDE_FAULT_TIMEOUT }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        bide_limit_conf conf = limits(i % 2 ? BIDE_ADAPTIVE_AIMD
                                            : BIDE_ADAPTIVE_GRADIENT,
                                      1, 100, 1000);
        struct bide__adaptive a;
        bide__adaptive_init(&a, &conf);
        for (int k = 0; k < 2; k++) /* 0.8 is not yet one more */
            bide__adaptive_report(&a, &conf, &rows[i / 2].out, MS, 100);
        int change = (int)bide__adaptive_limit(&a) - 100;
        if ((change > 0) - (change < 0) != rows[i / 2].change)
            fail_msg("row %zu: %d", i / 2, change);
    }
}

static void adaptive_extremes_stay_within_bounds(void **state)
{
    static const int64_t times[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
    static const uint64_t flights[] = { 0, 1, 1000000, UINT64_MAX };

    (void)state;
    for (int kind = BIDE_ADAPTIVE_AIMD; kind <= BIDE_ADAPTIVE_GRADIENT; kind++) {
        bide_limit_conf conf = limits((bide_adaptive)kind, 3, 5, 1000000);
        struct bide__adaptive a;
        bide__adaptive_init(&a, &conf);
        for (size_t i = 0; i < 100000; i++) {
            bide_outcome out = { .cls = i % 7 ? BIDE_SUCCESS : BIDE_THROTTLED };
            bide__adaptive_report(&a, &conf, &out, times[i % COUNT(times)],
                                  flights[i / 5 % COUNT(flights)]);
            assert_in_range(bide__adaptive_limit(&a), 3, 1000000);
        }
    }
}

static bide_policy_conf adaptive_conf(uint32_t initial, uint32_t in_flight)
{
    bide_policy_conf conf = script_conf();

    conf.attempts = 1;
    conf.limits = limits(BIDE_ADAPTIVE_AIMD, 1, initial, 200);
    conf.limits.in_flight = in_flight;
    return conf;
}

static void call_over_the_adaptive_cap_is_refused(void **state)
{
    bide_policy_conf conf = adaptive_conf(2, BIDE_UNLIMITED);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, TRY(1, FIRST), BY(1) },
         { 0, DONE(IN_FLIGHT), BY(2) },
         { 0, REPORT(1, WORKED), BY(0) }, /* now 3 */
         { 0, TRY(1, FIRST), BY(3) },
         { 0, TRY(1, FIRST), BY(4) },
         { 0, DONE(IN_FLIGHT), BY(5) },
         { 0, REPORT(1, FAILED), BY(1) }, /* 2 again, and two run */
         { 0, DONE(IN_FLIGHT), BY(6) });
}

static void call_under_both_caps_obeys_the_lower(void **state)
{
    bide_policy_conf conf = adaptive_conf(5, 1);
    bide_dep *dep = script_dep(&conf);

    (void)state;
    assert_int_equal(bide_dep_in_flight_limit(dep), 1);
    bide_dep_free(dep);
    conf.limits.in_flight = 6;
    dep = script_dep(&conf);
    assert_int_equal(bide_dep_in_flight_limit(dep), 5);
    assert_int_equal(script_stats(dep, 0).in_flight_limit, 5);
    bide_dep_free(dep);
    conf = script_conf();
    dep = script_dep(&conf);
    assert_int_equal(bide_dep_in_flight_limit(dep), BIDE_UNLIMITED);
    assert_int_equal(bide_dep_in_flight_limit(NULL), BIDE_UNLIMITED);
    bide_dep_free(dep);
}

/* One attempt that ends makes room for two when the cap rises: both are told. */
static int told;

static void count_place(void *ctx, const bide_dep *dep)
{
    (void)ctx, (void)dep;
    told++;
}

static void call_queues_under_a_cap_that_rises(void **state)
{
    bide_policy_conf conf = adaptive_conf(1, BIDE_UNLIMITED);
    bide_host host = { .on_place = count_place };
    bide_dep *dep;

    (void)state;
    conf.limits.queue = 5;
    assert_int_equal(bide_dep_new_in(&dep, "a", &conf, &host), 0);
    script_play(dep, GET, __LINE__, STEPS(
         { 0, TRY(1, FIRST), BY(0) },
         { 0, WAIT(S, QUEUED), BY(1) },
         { 0, WAIT(S, QUEUED), BY(2) },
         { 0, REPORT(1, WORKED), BY(0) }, /* the cap is now 2 */
         { 0, TRY(1, FIRST), BY(1) },
         { 0, TRY(1, FIRST), BY(2) }));
    assert_true(told >= 2);
    bide_dep_free(dep);
}

static void call_ranks_share_the_adaptive_cap(void **state)
{
    static const bide_op high = { .idempotent = true, .priority = 1 };
    bide_policy_conf conf = adaptive_conf(4, BIDE_UNLIMITED);

    (void)state;
    conf.limits.reserve = 0.5;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, TRY(1, FIRST), BY(1) },
         { 0, DONE(SHED_PRIORITY), BY(2) },
         { 0, BEGIN(&high), BY(3) },
         { 0, TRY(1, FIRST), BY(3) },
         { 0, BEGIN(&high), BY(4) },
         { 0, TRY(1, FIRST), BY(4) },
         { 0, BEGIN(&high), BY(5) },
         { 0, DONE(IN_FLIGHT), BY(5) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aimd_as_its_authors_test_it),
        cmocka_unit_test(gradient_long_term_latency_warms_up),
        cmocka_unit_test(gradient_follows_the_published_formula),
        cmocka_unit_test(gradient_steady_latency_lets_the_cap_rise),
        cmocka_unit_test(gradient_load_lowers_the_cap_and_its_end_raises_it),
        cmocka_unit_test(adaptive_outcomes_mean_what_they_say),
        cmocka_unit_test(adaptive_extremes_stay_within_bounds),
        cmocka_unit_test(call_over_the_adaptive_cap_is_refused),
        cmocka_unit_test(call_under_both_caps_obeys_the_lower),
        cmocka_unit_test(call_queues_under_a_cap_that_rises),
        cmocka_unit_test(call_ranks_share_the_adaptive_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
