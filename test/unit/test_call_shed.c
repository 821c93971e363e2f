/* test_call_shed.c: who is refused first when places in flight are short. */
#include "script.h"

static const bide_op normal = { .idempotent = true };
static const bide_op first = { .idempotent = true, .upstream_attempt = 1 };
static const bide_op again = { .idempotent = true, .upstream_attempt = 2 };
static const bide_op low = { .idempotent = true, .priority = -1 };
static const bide_op high = { .idempotent = true, .priority = 1 };
static const bide_op high_again = { .idempotent = true,
                                    .upstream_attempt = 3,
                                    .priority = 3 };

/* The tables are laid out by hand. */
/* clang-format off */

/* Of five places with `shed: 0.6`, a retry fills three, a call of low priority
 * four, and any other all of them. */
static void shed_refuses_retries_then_low_then_all(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 5;
    conf.limits.shed = 0.6;
    conf.limits.queue_timeout_ns = 700 * MS;
    PLAY(&conf, &normal,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(2), BEGIN(&again) },
         { 0, BY(2), TRY(1, FIRST) },
         { 5 * MS, BY(3), BEGIN(&again) },
         { 5 * MS, BY(3), DONE_UNTIL(SHED_RETRY, 705 * MS) },
         { 5 * MS, BY(4), BEGIN(&high_again) },
         { 5 * MS, BY(4), DONE_UNTIL(SHED_RETRY, 705 * MS) },
         { 5 * MS, BY(5), BEGIN(&low) },
         { 5 * MS, BY(5), TRY(1, FIRST) },
         { 5 * MS, BY(6), BEGIN(&low) },
         { 5 * MS, BY(6), DONE_UNTIL(SHED_PRIORITY, 705 * MS) },
         { 5 * MS, BY(7), BEGIN(&first) }, /* claimed, but a first attempt */
         { 5 * MS, BY(7), TRY(1, FIRST) },
         { 6 * MS, BY(6), END },
         { 6 * MS, BY(6), BEGIN(&high) },
         { 6 * MS, BY(6), DONE(IN_FLIGHT) });
}

static void shed_ends_when_places_are_free_again(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 2;
    conf.limits.shed = 0.5;
    PLAY(&conf, &normal,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), BEGIN(&again) },
         { 0, BY(1), DONE(SHED_RETRY) },
         { 9 * MS, REPORT(1, WORKED) },
         { 9 * MS, BY(2), BEGIN(&again) },
         { 9 * MS, BY(2), TRY(1, FIRST) });
}

static void shed_all_keeps_nothing_back(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 2;
    conf.limits.shed = 1;
    PLAY(&conf, &again,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), BEGIN(&low) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(2), DONE(SHED_RETRY) });
}

/* Neither waits for a place, and neither goes past those who do. */
static void shed_low_ranks_do_not_queue(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 4;
    PLAY(&conf, &normal,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), BEGIN(&low) },
         { 0, BY(1), DONE(SHED_PRIORITY) },
         { 0, BY(2), BEGIN(&normal) },
         { 0, BY(2), WAIT(1 * S, QUEUED) },
         { 9 * MS, REPORT(1, WORKED) },
         { 9 * MS, BY(3), BEGIN(&low) }, /* a place is free, one waits for it */
         { 9 * MS, BY(3), DONE(SHED_PRIORITY) },
         { 9 * MS, BY(4), BEGIN(&again) },
         { 9 * MS, BY(4), DONE(SHED_RETRY) },
         { 9 * MS, BY(2), TRY(1, FIRST) });
}

static void reserve_is_for_high_priority(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 3;
    conf.limits.reserve = 0.34;
    PLAY(&conf, &normal,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(2), DONE(SHED_PRIORITY) },
         { 0, BY(3), BEGIN(&high) },
         { 0, BY(3), TRY(1, FIRST) },
         { 0, BY(4), BEGIN(&high) },
         { 0, BY(4), DONE(IN_FLIGHT) },
         { 0, BY(5), DONE(IN_FLIGHT) });
}

static void reserve_lets_high_pass_those_that_queue(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.limits.in_flight = 2;
    conf.limits.reserve = 0.5;
    conf.limits.queue = 4;
    PLAY(&conf, &normal,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), WAIT(1 * S, QUEUED) },
         { 0, BY(2), BEGIN(&high) },
         { 0, BY(2), TRY(1, FIRST) },
         { 5 * MS, REPORT(1, WORKED) },
         { 5 * MS, BY(1), WAIT(1 * S, QUEUED) }, /* its one place is taken */
         { 9 * MS, BY(2), REPORT(1, WORKED) },
         { 9 * MS, BY(1), TRY(1, FIRST) });
}

static void shed_without_a_cap_refuses_nobody(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, &again,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), BEGIN(&low) },
         { 0, BY(1), TRY(1, FIRST) });
}

/* ===== bide_call_repeatable ===== */

static void repeatable_follows_the_rules_of_a_failure(void **state)
{
    static const struct {
        bide_op op;
        bide_outcome out;
        bool expected;
    } rows[] = {
        { { 0 }, { UNCONNECTED }, true },
        { { 0 }, { FAILED }, false },
        { { 0 }, { TIMED_OUT }, false },
        { { .idempotent = true }, { FAILED }, true },
        { { .has_key = true }, { TIMED_OUT }, true },
        { { .idempotent = true, .one_shot_body = true }, { FAILED }, false },
        { { .one_shot_body = true }, { UNCONNECTED }, true },
        { { .idempotent = true }, { OVERLOADED }, true },
        { { 0 }, { OVERLOADED }, false },
    };
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_call call;

    (void)state;
    conf.attempts = 1;
    dep = script_dep(&conf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_call_begin(&call, dep, &rows[i].op, 0);
        assert_true(bide_call_repeatable(&call)); /* nothing was sent */
        bide_decision d = bide_call_next(&call, 0);
        assert_int_equal(d.action, BIDE_TRY);
        assert_int_equal(bide_call_repeatable(&call),
                         (rows[i].op.idempotent || rows[i].op.has_key) &&
                             !rows[i].op.one_shot_body);
        assert_int_equal(bide_call_report(&call, 1, &rows[i].out, 1), 0);
        assert_int_equal(bide_call_next(&call, 1).action, BIDE_DONE);
        bide_call_end(&call, 1);
        assert_int_equal(bide_call_repeatable(&call), rows[i].expected);
    }
    bide_dep_free(dep);
}

/* clang-format on */

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shed_refuses_retries_then_low_then_all),
        cmocka_unit_test(shed_ends_when_places_are_free_again),
        cmocka_unit_test(shed_all_keeps_nothing_back),
        cmocka_unit_test(shed_low_ranks_do_not_queue),
        cmocka_unit_test(reserve_is_for_high_priority),
        cmocka_unit_test(reserve_lets_high_pass_those_that_queue),
        cmocka_unit_test(shed_without_a_cap_refuses_nobody),
        cmocka_unit_test(repeatable_follows_the_rules_of_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
