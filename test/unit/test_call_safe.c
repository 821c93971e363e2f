/* test_call_safe.c: which failures may be tried again, for whom. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_not_sent_is_safe_for_any_method(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 100 * MS, TRY(2, BACKOFF) },
         { 100 * MS, REPORT(2, FAILED, .not_processed = true) },
         { 100 * MS, WAIT(300 * MS, BACKOFF) },
         { 300 * MS, TRY(3, BACKOFF) },
         { 300 * MS, REPORT(3, TIMED_OUT) },
         { 300 * MS, DONE(NOT_IDEMPOTENT) });
}

static void call_null_op_is_cautious(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, NULL,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(NOT_IDEMPOTENT) });
}

static void call_key_makes_a_post_safe(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op keyed = { .has_key = true };

    (void)state;
    PLAY(&conf, &keyed,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT) },
         { 0, WAIT(100 * MS, BACKOFF) });
    conf.idempotency_key = BIDE_KEY_GENERATE;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_one_shot_body_refused_connection_is_retried(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op stream = { .idempotent = true, .one_shot_body = true };
    bide_op post = { .one_shot_body = true };

    (void)state;
    PLAY(&conf, &stream,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 100 * MS, TRY(2, BACKOFF) },
         { 101 * MS, REPORT(2, .cls = BIDE_TRANSIENT,
                            .fault = BIDE_FAULT_DNS, .not_processed = true) },
         { 101 * MS, WAIT(301 * MS, BACKOFF) },
         { 301 * MS, TRY(3, BACKOFF) },
         { 301 * MS, REPORT(3, FAILED) },
         { 301 * MS, DONE(NOT_REPLAYABLE) });
    PLAY(&conf, &post,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

/* An answer proves that the body has left, whatever became of the request. */
static void call_one_shot_body_answered_is_not_replayable(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op post = { .one_shot_body = true };

    (void)state;
    PLAY(&conf, &post,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED, .not_processed = true) },
         { 0, DONE(NOT_REPLAYABLE) });
}

static void call_overloaded_is_refused(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, OVERLOADED) },
         { 0, DONE(SERVER_REFUSED) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, OVERLOADED, HINT(S)) },
         { 0, DONE(SERVER_REFUSED) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, .refused = true) },
         { 0, DONE(SERVER_REFUSED) });
}

static void call_ignored_outcome_is_cancelled(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, IGNORED) },
         { 0, DONE(CANCELLED) });
}

static void call_success_that_says_no_retry_is_success(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, WORKED, .refused = true, HINT(BIDE_FOREVER)) },
         { 0, DONE(SUCCESS) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_not_sent_is_safe_for_any_method),
        cmocka_unit_test(call_null_op_is_cautious),
        cmocka_unit_test(call_key_makes_a_post_safe),
        cmocka_unit_test(call_one_shot_body_refused_connection_is_retried),
        cmocka_unit_test(call_one_shot_body_answered_is_not_replayable),
        cmocka_unit_test(call_overloaded_is_refused),
        cmocka_unit_test(call_ignored_outcome_is_cancelled),
        cmocka_unit_test(call_success_that_says_no_retry_is_success),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
