/* test_call_host.c: what a call tells the host of its dependency. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

struct heard {
    bide_call *queued; /* asked for from inside the hook */
    int64_t now;
    int places;
    bide_decision got;
    int transitions;
    bide_breaker_state to[4];
};

static void hear_place(void *ctx, const bide_dep *dep)
{
    struct heard *heard = ctx;

    (void)dep;
    heard->places++;
    if (heard->queued)
        heard->got = bide_call_next(heard->queued, heard->now);
}

static void hear_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                         bide_breaker_state to, int64_t now_ns)
{
    struct heard *heard = ctx;

    assert_true(from != to);
    assert_int_equal(bide_dep_breaker(dep, now_ns), to); /* nothing is locked */
    heard->to[heard->transitions++] = to;
}

static bide_dep *heard_dep(const bide_policy_conf *conf, struct heard *heard)
{
    bide_host host = { .ctx = heard, .on_breaker = hear_breaker,
                       .on_place = hear_place };
    bide_dep *dep;

    assert_int_equal(bide_dep_new_in(&dep, "heard", conf, &host), 0);
    return dep;
}

static void call_place_is_told_to_those_who_queue(void **state)
{
    bide_policy_conf conf = script_conf();
    struct heard heard = { 0 };
    bide_dep *dep;
    bide_call one, two;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    dep = heard_dep(&conf, &heard);
    bide_call_begin(&one, dep, GET, 0);
    bide_call_next(&one, 0);
    bide_call_report(&one, 1, &BIDE_OUTCOME_SUCCESS, 0);
    assert_int_equal(heard.places, 0); /* nobody queues */
    bide_call_end(&one, 0);

    bide_call_begin(&one, dep, GET, 0);
    bide_call_begin(&two, dep, GET, 0);
    bide_call_next(&one, 0);
    assert_int_equal(bide_call_next(&two, 0).reason, BIDE_BECAUSE_QUEUED);
    heard.queued = &two;
    bide_call_report(&one, 1, &BIDE_OUTCOME_SUCCESS, 0);
    assert_int_equal(heard.places, 1);
    assert_int_equal(heard.got.action, BIDE_TRY);
    assert_int_equal(bide_call_next(&one, 0).reason, BIDE_BECAUSE_SUCCESS);
    bide_call_end(&one, 0);
    bide_call_end(&two, 0);
    assert_int_equal(heard.places, 1);
    script_at_rest(dep, 0, "hooks");
    bide_dep_free(dep);
}

/* An attempt that is simply dropped leaves a place, too. */
static void call_place_of_an_ended_call_is_told(void **state)
{
    bide_policy_conf conf = script_conf();
    struct heard heard = { 0 };
    bide_dep *dep;
    bide_call one, two;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    dep = heard_dep(&conf, &heard);
    bide_call_begin(&one, dep, GET, 0);
    bide_call_begin(&two, dep, GET, 0);
    bide_call_next(&one, 0);
    bide_call_next(&two, 0);
    heard.queued = &two;
    bide_call_end(&one, 0);
    assert_int_equal(heard.places, 1);
    assert_int_equal(heard.got.action, BIDE_TRY);
    heard.queued = NULL;
    bide_call_end(&two, 0);
    script_at_rest(dep, 0, "hooks");
    bide_dep_free(dep);
}

static void call_breaker_transitions_are_told_once(void **state)
{
    bide_policy_conf conf = breaker_conf(1);
    struct heard heard = { 0 };
    bide_dep *dep;

    (void)state;
    conf.breaker.probes = 1;
    dep = heard_dep(&conf, &heard);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, DONE(BREAKER_OPEN) },
            { S, BY(1), DONE(BREAKER_OPEN) },
            { 11 * S, BY(2), TRY(1, FIRST) },
            { 11 * S, BY(2), REPORT(1, WORKED) });
    assert_int_equal(heard.transitions, 3);
    assert_int_equal(heard.to[0], BIDE_BREAKER_OPEN);
    assert_int_equal(heard.to[1], BIDE_BREAKER_HALF_OPEN);
    assert_int_equal(heard.to[2], BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

/* The probes are taken, the place is free: the place must not leak. */
static void call_refused_by_the_probes_leaves_its_place(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 1;
    conf.limits.in_flight = 3;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(2), DONE(BREAKER_OPEN) },
         { 11 * S, BY(3), DONE(BREAKER_OPEN) },
         { 11 * S, BY(4), DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), REPORT(1, WORKED) },
         { 11 * S, BY(5), TRY(1, FIRST) },
         { 11 * S, BY(6), TRY(1, FIRST) },
         { 11 * S, BY(7), TRY(1, FIRST) });
}

static void call_goes_on_where_another_process_stopped(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .attempts_made = 2 };
    bide_dep *dep = script_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, &op,
            { 0, TRY(3, FIRST) },
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, REPORT(3, FAILED) },
            { 0, WAIT(400 * MS, BACKOFF) },
            { S, TRY(4, BACKOFF) },
            { S, REPORT(4, FAILED) },
            { S, DONE(ATTEMPTS) });
    PLAY_ON(dep, &op,
            { 0, TRY(3, FIRST) },
            { 0, REPORT(3, WORKED) },
            { 0, DONE(SUCCESS) });
    s = script_stats(dep, 0);
    assert_int_equal(s.attempts, 3);
    assert_int_equal(s.first_successes, 0);
    assert_int_equal(s.late_successes, 1);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_goes_on_where_another_process_stopped),
        cmocka_unit_test(call_place_is_told_to_those_who_queue),
        cmocka_unit_test(call_place_of_an_ended_call_is_told),
        cmocka_unit_test(call_breaker_transitions_are_told_once),
        cmocka_unit_test(call_refused_by_the_probes_leaves_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
