/* test_call_limit.c: a call is capped, queued, paced or throttled. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_in_flight_cap_fails_fast(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 2;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(2), DONE(IN_FLIGHT) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) }, /* a waiting call holds no place */
         { 0, BY(3), TRY(1, FIRST) },
         { 100 * MS, DONE(IN_FLIGHT) }); /* and must find one again */
}

static void call_in_flight_queue_waits_for_a_place(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    conf.limits.queue_timeout_ns = 500 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), WAIT(500 * MS, QUEUED) },
         { 0, BY(2), DONE(IN_FLIGHT) },
         { 100 * MS, BY(1), WAIT(500 * MS, QUEUED) },
         { 200 * MS, REPORT(1, WORKED) },
         { 200 * MS, BY(1), TRY(1, FIRST) },
         { 200 * MS, BY(3), WAIT(700 * MS, QUEUED) },
         { 700 * MS, BY(3), DONE(IN_FLIGHT) });
}

static void call_in_flight_queue_respects_the_deadline(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .deadline_ns = 301 * MS };

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), BEGIN(&op) },
         { 0, BY(1), WAIT(301 * MS, QUEUED) },
         { 301 * MS, BY(1), DONE(DEADLINE) });
}

static void call_adaptive_rate_paces(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_call call;
    bide_decision d, again;
    bide_op op = { .idempotent = true, .deadline_ns = 10 * S + 100 * MS };

    (void)state;
    conf.limits.adaptive_rate = true;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 10 * S, TRY(1, FIRST) },
            { 10 * S, REPORT(1, THROTTLED, .refused = true) },
            { 10 * S, DONE(SERVER_REFUSED) });
    assert_true(bide_dep_rate(dep, 10 * S) < 1.0);
    for (int i = 0; i < 3; i++) { /* use up what the bucket may hold */
        bide_call_begin(&call, dep, GET, 10 * S);
        d = bide_call_next(&call, 10 * S);
        if (d.action == BIDE_WAIT)
            break;
        bide_call_end(&call, 10 * S);
    }
    assert_int_equal(d.action, BIDE_WAIT);
    assert_int_equal(d.reason, BIDE_BECAUSE_PACED);
    assert_true(d.at_ns > 10 * S);
    again = bide_call_next(&call, 10 * S + 1);
    assert_int_equal(again.action, BIDE_WAIT);
    assert_true(again.at_ns == d.at_ns);
    PLAY_ON(dep, &op, { 10 * S, DONE(ADAPTIVE_RATE) });
    again = bide_call_next(&call, d.at_ns);
    assert_int_equal(again.action, BIDE_TRY);
    assert_int_equal(again.reason, BIDE_BECAUSE_FIRST);
    bide_call_end(&call, d.at_ns);
    bide_dep_free(dep);
}

static void call_adaptive_throttle_refuses_locally(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    int refused = 0, sent = 0;

    (void)state;
    conf.limits.adaptive_throttle = true;
    conf.attempts = 1;
    dep = script_dep(&conf);
    for (int i = 0; i < 2000; i++) {
        bide_call call;
        bide_decision d;

        bide_call_begin(&call, dep, GET, S);
        d = bide_call_next(&call, S);
        if (d.action == BIDE_TRY) {
            bide_call_report(&call, 1, &(bide_outcome){ THROTTLED }, S);
            sent++;
        } else {
            assert_int_equal(d.action, BIDE_DONE);
            assert_int_equal(d.reason, BIDE_BECAUSE_LOCAL_THROTTLE);
            refused++;
        }
        bide_call_end(&call, S);
    }
    assert_int_equal(sent + refused, 2000);
    assert_true(refused > 1900);
    assert_int_equal(script_stats(dep, S).attempts, (uint64_t)sent);
    bide_dep_free(dep);
}

/* A call that waited for the rate and then for a place is let in when there is
 * one, not when the queue's time is up. */
static void regress_call_paced_and_queued_gets_its_place(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_call one, two;
    bide_decision d;
    int64_t now = 10 * S;

    (void)state;
    conf.limits.adaptive_rate = true;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    conf.limits.queue_timeout_ns = 3600 * S;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { now, TRY(1, FIRST) },
            { now, REPORT(1, THROTTLED, .refused = true) });
    now += 100 * S; /* the bucket is full */
    bide_call_begin(&one, dep, GET, now);
    assert_int_equal(bide_call_next(&one, now).action, BIDE_TRY);
    bide_call_begin(&two, dep, GET, now);
    d = bide_call_next(&two, now);
    if (d.reason == BIDE_BECAUSE_PACED) {
        now = d.at_ns;
        d = bide_call_next(&two, now);
    }
    assert_int_equal(d.reason, BIDE_BECAUSE_QUEUED);
    d = bide_call_next(&two, now);
    assert_int_equal(d.reason, BIDE_BECAUSE_QUEUED);
    assert_int_equal(bide_call_report(&one, 1, &BIDE_OUTCOME_SUCCESS, now), 0);
    d = bide_call_next(&two, now);
    assert_int_equal(d.action, BIDE_TRY);
    bide_call_end(&one, now);
    bide_call_end(&two, now);
    script_at_rest(dep, now, "paced and queued");
    bide_dep_free(dep);
}

/* What was slept is the wait, whatever the retry waits for afterwards. */
static void regress_call_slept_is_not_the_queue_or_the_rate(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    for (int i = 0; i < 2; i++) {
        bide_dep *dep;
        bide_stats s;

        conf.limits.adaptive_rate = i == 0;
        conf.limits.in_flight = i == 0 ? BIDE_UNLIMITED : 1;
        conf.limits.queue = 1;
        dep = script_dep(&conf);
        PLAY_ON(dep, GET,
                { 50 * S, TRY(1, FIRST) },
                { 50 * S, REPORT(1, FAILED) },
                { 50 * S, WAIT(50 * S + 100 * MS, BACKOFF) },
                { 50 * S + 101 * MS, TRY(2, BACKOFF) },
                { 60 * S, REPORT(2, WORKED) });
        if (i == 1)
            PLAY_ON(dep, GET,
                    { 70 * S, TRY(1, FIRST) },
                    { 70 * S, REPORT(1, FAILED) },
                    { 70 * S, WAIT(70 * S + 100 * MS, BACKOFF) },
                    { 70 * S, BY(1), TRY(1, FIRST) },
                    { 70 * S + 101 * MS, WAIT(71 * S + 101 * MS, QUEUED) },
                    { 71 * S, BY(1), REPORT(1, WORKED) },
                    { 71 * S, TRY(2, BACKOFF) });
        s = script_stats(dep, 0);
        assert_int_equal(s.wait_slept.count, (uint64_t)i + 1);
        assert_int_equal(s.wait_slept.sum_ns,
                         101 * (uint64_t)MS * ((uint64_t)i + 1));
        bide_dep_free(dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_in_flight_cap_fails_fast),
        cmocka_unit_test(call_in_flight_queue_waits_for_a_place),
        cmocka_unit_test(call_in_flight_queue_respects_the_deadline),
        cmocka_unit_test(call_adaptive_rate_paces),
        cmocka_unit_test(call_adaptive_throttle_refuses_locally),
        cmocka_unit_test(regress_call_paced_and_queued_gets_its_place),
        cmocka_unit_test(regress_call_slept_is_not_the_queue_or_the_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
