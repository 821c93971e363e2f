/* test_breaker_late.c: what was begun before the breaker changed its state. */
#include "breaker_steps.h"

static void breaker_late_results_are_dropped_and_counted(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    bide_call late[30];
    (void)state;
    for (int i = 0; i < 30; i++)
        start(&late[i], dep, 0);
    int64_t now = trip(dep, 0);
    report(&late[0], BIDE_SUCCESS, 0);
    assert_int_equal(stats_of(dep, now).late_reports, 1);
    one_call(dep, BIDE_SUCCESS, now, now);
    report(&late[1], BIDE_TRANSIENT, now); /* is no probe, so reopens nothing */
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    many(dep, BIDE_SUCCESS, 2, now);
    for (int i = 2; i < 30; i++)
        report(&late[i], BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
    assert_int_equal(view_of(dep, now).attempts, 0);
    assert_int_equal(stats_of(dep, now).late_reports, 30);
    for (int i = 0; i < 30; i++)
        bide_call_end(&late[i], now);
    bide_dep_free(dep);
}

/* Closing starts from nothing, though the failures of before are in the time
 * window still. */
static void breaker_recovered_forgets_the_old_window(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.open_ns = conf.breaker.open_max_ns = 10 * MS;
    bide_dep *dep = new_dep(&conf);
    int64_t now = 0;
    (void)state;
    for (int round = 0; round < 5; round++) {
        many(dep, BIDE_TRANSIENT, 19, now);
        assert_int_equal(view_of(dep, now).failed, 19);
        assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
        now = trip(dep, now);
        recover(dep, now);
        assert_int_equal(view_of(dep, now).attempts, 0);
    }
    bide_dep_free(dep);
}

/* An outage with any number of reopenings leaves a breaker that still works. */
static void regress_breaker_opens_after_a_long_outage(void **state)
{
    (void)state;
    for (int kind = BIDE_BREAKER_TIME; kind <= BIDE_BREAKER_COUNT; kind++) {
        for (int reopenings = 1; reopenings < 300; reopenings += 7) {
            bide_policy_conf conf = steady();
            conf.breaker.kind = (bide_breaker_kind)kind;
            bide_dep *dep = new_dep(&conf);
            for (int64_t t = 0; t < 10 * S; t += S / 2)
                many(dep, BIDE_SUCCESS, 8, t); /* all slots are in use */
            int64_t now = trip(dep, 10 * S);
            for (int i = 0; i < reopenings; i++) {
                many(dep, BIDE_TRANSIENT, 1, now);
                now = view_of(dep, now).open_until_ns;
            }
            recover(dep, now);
            many(dep, BIDE_TRANSIENT, 19, now);
            assert_int_equal(view_of(dep, now).failed, 19);
            assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
            many(dep, BIDE_TRANSIENT, 1, now);
            assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
            bide_dep_free(dep);
        }
    }
}

static void breaker_generation_goes_round(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.min_calls = 1;
    conf.breaker.probes = 1;
    conf.breaker.open_ns = conf.breaker.open_max_ns = MS;
    bide_dep *dep = new_dep(&conf);
    int64_t now = 0;
    (void)state;
    for (int i = 0; i < 12000; i++) { /* 36 000 transitions, past 2^15 */
        now = trip(dep, now);
        recover(dep, now);
    }
    assert_int_equal(stats_of(dep, now).breaker_to[BIDE_BREAKER_CLOSED], 12000);
    assert_int_equal(stats_of(dep, now).late_reports, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_late_results_are_dropped_and_counted),
        cmocka_unit_test(breaker_recovered_forgets_the_old_window),
        cmocka_unit_test(regress_breaker_opens_after_a_long_outage),
        cmocka_unit_test(breaker_generation_goes_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
