/* test_profile.c: load over time: the area below the lines, and when calls come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bed.h"

#define S BIDE_SECOND

static void near(double found, double expected)
{
    if (found < expected - 1e-6 || found > expected + 1e-6)
        fail_msg("%g, not %g", found, expected);
}

/* 10/s; from 10 s on a ramp to 30/s within 10 s; from 30 s a burst of 100/s for
 * 2 s. */
static const struct sim_rate_step steps[] = {
    { .at_ns = 10 * S, .rate = 30, .over_ns = 10 * S },
    { .at_ns = 30 * S, .rate = 100, .for_ns = 2 * S },
};
static const struct sim_profile profile = { steps, 2, .factor = 1 };

static void rate_follows_its_steps(void **state)
{
    static const struct {
        int64_t s;
        double rate;
    } rows[] = {
        { 0, 10 },  { 9, 10 },   { 10, 10 },  { 15, 20 }, { 20, 30 },
        { 29, 30 }, { 30, 100 }, { 31, 100 }, { 32, 30 }, { 1000, 30 }
    };
    struct sim_rates r;
    (void)state;
    sim_rates_init(&r, &profile, 10, 60 * S);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        near(sim_rates_at(&r, rows[i].s * S), rows[i].rate);
    sim_rates_done(&r);
    /* 100 + 200 + 300 + 200 + 28 * 30 calls in a minute */
    near(sim_profile_mean(&profile, 10, 60 * S), 1640.0 / 60);
}

static void rate_steps_begin_again(void **state)
{
    const struct sim_rate_step day[] = { { .at_ns = 1 * S, .rate = 5 },
                                         { .at_ns = 3 * S, .rate = 1 } };
    const struct sim_profile p = { day, 2, .factor = 2, .repeat_ns = 4 * S };
    struct sim_rates r;
    (void)state;
    sim_rates_init(&r, &p, 2, 100 * S);
    for (int64_t k = 0; k < 25; k++) {
        near(sim_rates_at(&r, (4 * k) * S), 2);
        near(sim_rates_at(&r, (4 * k + 2) * S), 10);
        near(sim_rates_at(&r, (4 * k + 3) * S), 2);
    }
    sim_rates_done(&r);
    near(sim_profile_mean(&p, 2, 100 * S), 6);
}

/* Calls that are even come when the area is 1, 2, 3: on the ramp, after t
 * seconds of 10 + 2t a second, that is at the root of 10 t + t^2 = n. */
static void calls_come_when_the_area_is_full(void **state)
{
    struct sim_rates r;
    int64_t at = 0;
    (void)state;
    sim_rates_init(&r, &profile, 10, 60 * S);
    for (int n = 1; n <= 100; n++)
        at = sim_rates_next(&r, at, 1);
    assert_true(at > 10 * S - 200 && at < 10 * S + 200);
    for (int n = 1; n <= 75; n++)
        at = sim_rates_next(&r, at, 1);
    assert_true(at > 15 * S - 500 && at < 15 * S + 500);
    at = sim_rates_next(&r, at, 425 + 1); /* to 30 s, and one in the burst */
    assert_true(at > 30 * S && at < 30 * S + S / 50);
    sim_rates_done(&r);
}

static void no_calls_come_at_a_rate_of_0(void **state)
{
    const struct sim_rate_step night[] = { { .at_ns = 1 * S, .rate = 0 },
                                           { .at_ns = 5 * S, .rate = 1 },
                                           { .at_ns = 6 * S, .rate = 0 } };
    const struct sim_profile p = { night, 3, .factor = 1 };
    struct sim_rates r;
    (void)state;
    sim_rates_init(&r, &p, 1, 10 * S);
    assert_true(sim_rates_next(&r, 0, 1.5) == 5 * S + S / 2);
    assert_true(sim_rates_next(&r, 5 * S + S / 2, 1) == INT64_MAX);
    sim_rates_done(&r);
}

/* Whether it is even or at random, as many calls come. */
static void fleet_follows_its_load(void **state)
{
    static const struct sim_rate_step burst[] = {
        { .at_ns = 4 * S, .rate = 1000, .for_ns = 2 * S }
    };
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.fleets[0].rate = 100;
    bed.fleets[0].load = (struct sim_profile){ burst, 1, .factor = 1 };
    bed.run_conf.steps = 10;
    for (int k = 0; k < 2; k++) {
        bed.fleets[0].steady = k;
        struct sim_result *r = bed_run(&bed);
        const double *calls = r->callers[0].value[SIM_CALLS];
        double wide = k ? 2 : 200; /* over 6 sigma */
        assert_true(calls[1] > 100 - wide && calls[1] < 100 + wide);
        assert_true(calls[4] > 1000 - wide && calls[4] < 1000 + wide);
        assert_true(calls[7] > 100 - wide && calls[7] < 100 + wide);
        sim_result_free(r);
    }
}

/* Ten clients every 3 s, from 1 s on: at 1, 4 and 7 s. */
static void clients_call_by_the_clock(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.fleets[0].arrival = SIM_CRON;
    bed.fleets[0].clients = 10;
    bed.fleets[0].every_ns = 3 * S;
    bed.fleets[0].from_ns = 1 * S;
    bed.run_conf.steps = 10;
    struct sim_result *r = bed_run(&bed);
    for (int i = 0; i < 9; i++)
        near(r->callers[0].value[SIM_CALLS][i], i % 3 == 1 ? 10 : 0);
    sim_result_free(r);
    bed.fleets[0].spread_ns =
        3 * S; /* each at its own moment, again and again */
    r = bed_run(&bed);
    const double *calls = r->callers[0].value[SIM_CALLS];
    near(calls[1] + calls[2] + calls[3], 10);
    for (int i = 1; i + 3 < 10; i++)
        near(calls[i + 3], calls[i]);
    sim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_follows_its_steps),
        cmocka_unit_test(rate_steps_begin_again),
        cmocka_unit_test(calls_come_when_the_area_is_full),
        cmocka_unit_test(no_calls_come_at_a_rate_of_0),
        cmocka_unit_test(fleet_follows_its_load),
        cmocka_unit_test(clients_call_by_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
