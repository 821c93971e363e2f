/* test_pace.c: the fixed rate: turns, bursts, and calls that wait for them. */
#include <math.h>

#include "lib/limit/pace.h"
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void pace_interval_never_makes_the_rate_higher(void **state)
{
    static const struct {
        double rate;
        int64_t interval;
    } rows[] = {
        { 0, 0 }, { -1, 0 }, { NAN, 0 },
        { 50, 20 * MS }, { 1, S }, { 0.001, 1000 * S }, { 1e6, 1000 },
        { 3, 333333334 }, { 999999, 1001 }, { 1000.0 / 3600, 3600 * MS },
        { 1e-300, INT64_MAX }, { INFINITY, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (bide__pace_interval(rows[i].rate) != rows[i].interval)
            fail_msg("%g/s: %lld ns", rows[i].rate,
                     (long long)bide__pace_interval(rows[i].rate));
}

/* {time, latest, taken, when it may be used}, at 10 apart. */
static void pace_turns_come_one_by_one(void **state)
{
    static const struct {
        int64_t burst, now, latest;
        bool taken;
        int64_t at; /* at or before now: at once */
    } rows[] = {
        /* a burst of 1 */
        { 0, 0, 1000, true, 0 }, { 0, 0, 1000, true, 10 },
        { 0, 0, 1000, true, 20 }, { 0, 5, 1000, true, 30 },
        { 0, 5, 39, false, 40 }, { 0, 5, 40, true, 40 },
        { 0, 45, 45, false, 50 }, { 0, 50, 50, true, 50 },
        { 0, 1000, 1000, true, 1000 }, { 0, 1000, 1000, false, 1010 },
        { 0, 999, 1000, false, 1010 }, /* the clock stepped back */
    };
    struct bide__pace pace = { 0 };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t at = -1;
        bool taken = bide__pace_take(&pace, 10, rows[i].burst, rows[i].now,
                                     rows[i].latest, &at);
        if (taken != rows[i].taken || at != rows[i].at)
            fail_msg("row %zu: %d, %lld", i, taken, (long long)at);
    }
}

static void pace_burst_is_saved_up_and_no_more(void **state)
{
    enum { INTERVAL = 10, BURST = 5 };
    struct bide__pace pace = { 0 };
    int64_t at;

    (void)state;
    for (int64_t now = 0; now <= 10000; now += 5000) {
        for (int i = 0; i < BURST; i++)
            assert_true(bide__pace_take(&pace, INTERVAL, (BURST - 1) * INTERVAL,
                                        now, now, &at));
        assert_false(bide__pace_take(&pace, INTERVAL, (BURST - 1) * INTERVAL,
                                     now, now, &at));
        assert_int_equal(at, now + INTERVAL);
    }
}

/* Whoever comes when: in any stretch of time there are at most burst turns and
 * one for each interval; and no turn is lost while someone wants it. */
static void pace_over_any_time_is_exact(void **state)
{
    enum { N = 4000, INTERVAL = 7 };
    static int64_t used[N];
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 7);

    (void)state;
    for (int64_t burst = 1; burst <= 20; burst += 6) {
        struct bide__pace pace = { 0 };
        int64_t now = 0, at;
        for (int i = 0; i < N; i++) {
            now += bide_rng_between(&rng, 0, 12); /* nearly its rate */
            assert_true(bide__pace_take(&pace, INTERVAL, (burst - 1) * INTERVAL,
                                        now, INT64_MAX, &at));
            used[i] = at > now ? at : now;
        }
        for (int i = 0; i < N; i++)
            for (int j = i; j < N && j < i + 200; j++)
                if (j - i + 1 > burst + (used[j] - used[i]) / INTERVAL)
                    fail_msg("burst %lld: %d turns in %lld ns",
                             (long long)burst, j - i + 1,
                             (long long)(used[j] - used[i]));
    }
}

static void pace_turn_given_back_is_there_again(void **state)
{
    struct bide__pace pace = { 0 };
    int64_t first, second, third, again;

    (void)state;
    assert_true(bide__pace_take(&pace, 10, 0, 100, 1000, &first));
    assert_true(bide__pace_take(&pace, 10, 0, 100, 1000, &second));
    assert_true(bide__pace_take(&pace, 10, 0, 100, 1000, &third));
    bide__pace_give(&pace, 10, 0, second); /* the third would go with another */
    assert_true(bide__pace_take(&pace, 10, 0, 100, 1000, &again));
    assert_int_equal(again, 130);
    bide__pace_give(&pace, 10, 0, again);
    assert_true(bide__pace_take(&pace, 10, 0, 100, 1000, &again));
    assert_int_equal(again, 130);
    bide__pace_give(&pace, 10, 0, again);
    bide__pace_give(&pace, 10, 0, again); /* once */
    assert_true(bide__pace_take(&pace, 10, 0, 100, 1000, &again));
    assert_int_equal(again, 130);
}

static void pace_at_the_end_of_time_does_not_wrap(void **state)
{
    struct bide__pace pace = { 0 };
    int64_t at;

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_true(bide__pace_take(&pace, INT64_MAX, 0, INT64_MAX - 1,
                                    INT64_MAX, &at));
    assert_int_equal(at, INT64_MAX);
}

/* ===== calls ===== */

static bide_policy_conf paced(double rate, uint32_t burst)
{
    bide_policy_conf conf = script_conf();

    conf.limits.rate = rate;
    conf.limits.burst = burst;
    return conf;
}

static void call_over_the_rate_waits_for_its_turn(void **state)
{
    bide_policy_conf conf = paced(50, 2);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, TRY(1, FIRST), BY(1) },
         { 0, WAIT(20 * MS, PACED), BY(2) },
         { 0, WAIT(40 * MS, PACED), BY(3) },
         { 10 * MS, WAIT(20 * MS, PACED), BY(2) }, /* asking costs nothing */
         { 20 * MS, TRY(1, FIRST), BY(2) },
         { 20 * MS, WAIT(60 * MS, PACED), BY(4) },
         { 40 * MS, TRY(1, FIRST), BY(3) });
}

/* Retries and hedges take turns, too; a hedge does not wait for one. */
static void call_retry_and_hedge_take_turns(void **state)
{
    bide_policy_conf conf = paced(1, 1);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 100 * MS, WAIT(S, PACED) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, WORKED) });
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 10 * MS;
    conf.hedge.extra_load = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, WAIT(10 * MS, RUNNING) },
         { 10 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 20 * MS, REPORT(1, WORKED) },
         { 20 * MS, DONE(SUCCESS) });
}

static void call_without_a_turn_in_time_is_refused(void **state)
{
    bide_policy_conf conf = paced(1, 1);

    (void)state;
    conf.deadline_ns = 500 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, DONE_UNTIL(RATE, S), BY(1) },
         { 600 * MS, WAIT(S, PACED), BY(2) },
         { 600 * MS, DONE_UNTIL(RATE, 2 * S), BY(3) });
    conf.deadline_ns = BIDE_FOREVER;
    conf.limits.rate_wait_ns = 0;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, DONE_UNTIL(RATE, S), BY(1) },
         { 999 * MS, DONE_UNTIL(RATE, S), BY(2) },
         { S, TRY(1, FIRST), BY(3) });
    conf.limits.rate_wait_ns = 2 * S;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, WAIT(S, PACED), BY(1) },
         { 0, WAIT(2 * S, PACED), BY(2) },
         { 0, DONE_UNTIL(RATE, 3 * S), BY(3) });
}

/* A call that is not made leaves its turn to the next one. */
static void call_that_is_not_made_gives_its_turn_back(void **state)
{
    bide_policy_conf conf = paced(1, 1);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, WAIT(S, PACED), BY(1) },
         { 0, CANCEL, BY(1) },
         { 0, WAIT(S, PACED), BY(2) },
         { 0, END, BY(2) },
         { 0, WAIT(S, PACED), BY(3) });
    conf.limits.in_flight = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { S, DONE(IN_FLIGHT), BY(1) },
         { S, DONE(IN_FLIGHT), BY(2) },
         { S, REPORT(1, WORKED), BY(0) },
         { S, TRY(1, FIRST), BY(3) });
    conf = breaker_conf(1);
    conf.limits.rate = 1;
    conf.attempts = 1;
    conf.limits.burst = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, WAIT(S, PACED), BY(1) },
         { S, REPORT(1, FAILED), BY(0) },
         { S, BREAKER(OPEN) },
         { S, DONE(BREAKER_OPEN), BY(1) },
         { 20 * S, TRY(1, FIRST), BY(2) });
}

/* While it queues for a place it keeps its turn, and does not give back another
 * one by accident. */
static void call_that_queues_keeps_its_turn(void **state)
{
    bide_policy_conf conf = paced(1, 2);

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 5;
    conf.limits.queue_timeout_ns = S;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, WAIT(S, QUEUED), BY(1) },
         { 0, WAIT(S, PACED), BY(2) },
         { 0, CANCEL, BY(1) }, /* at_ns is S, too */
         { 0, WAIT(2 * S, PACED), BY(3) });
}

static void call_under_both_rates_waits_for_the_later(void **state)
{
    bide_policy_conf conf = paced(10, 1);

    (void)state;
    conf.limits.adaptive_rate = true;
    conf.attempts = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST), BY(0) },
         { 0, WAIT(100 * MS, PACED), BY(1) },
         { 0, REPORT(1, THROTTLED), BY(0) },
         { 0, WAIT(2 * S, PACED), BY(2) }, /* now one in two seconds */
         { 0, CANCEL, BY(2) },
         { 100 * MS, TRY(1, FIRST), BY(1) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pace_interval_never_makes_the_rate_higher),
        cmocka_unit_test(pace_turns_come_one_by_one),
        cmocka_unit_test(pace_burst_is_saved_up_and_no_more),
        cmocka_unit_test(pace_over_any_time_is_exact),
        cmocka_unit_test(pace_turn_given_back_is_there_again),
        cmocka_unit_test(pace_at_the_end_of_time_does_not_wrap),
        cmocka_unit_test(call_over_the_rate_waits_for_its_turn),
        cmocka_unit_test(call_retry_and_hedge_take_turns),
        cmocka_unit_test(call_without_a_turn_in_time_is_refused),
        cmocka_unit_test(call_that_is_not_made_gives_its_turn_back),
        cmocka_unit_test(call_that_queues_keeps_its_turn),
        cmocka_unit_test(call_under_both_rates_waits_for_the_later),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
