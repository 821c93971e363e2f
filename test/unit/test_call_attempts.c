/* test_call_attempts.c: how many attempts a call has. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

#define MAX_ATTEMPTS (UINT32_C(1) << 31)

static void call_one_attempt_is_not_retried(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, DONE(ATTEMPTS) });
}

static void call_huge_attempts_keep_waiting_at_the_cap(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_call call;
    bide_decision d;
    int64_t now = 0, max = 0;

    (void)state;
    conf.attempts = MAX_ATTEMPTS;
    conf.backoff.jitter = BIDE_JITTER_FULL;
    dep = script_dep(&conf);
    bide_call_begin(&call, dep, GET, now);
    for (uint32_t n = 1; n <= 10000; n++) {
        d = bide_call_next(&call, now);
        if (d.action == BIDE_WAIT) {
            assert_true(d.at_ns > now && d.at_ns <= now + 30 * S);
            if (n > 5000 && d.at_ns - now > max)
                max = d.at_ns - now;
            now = d.at_ns;
            d = bide_call_next(&call, now);
        }
        assert_int_equal(d.action, BIDE_TRY);
        assert_int_equal(d.attempt, n);
        assert_int_equal(bide_call_attempts(&call), n);
        bide_call_report(&call, n, &(bide_outcome){ FAILED }, now);
    }
    assert_true(max > 29 * S); /* the jitter survives at the cap */
    bide_call_end(&call, now);
    bide_dep_free(dep);
}

/* As if 2^31 - 3 attempts had been made: the rest goes as with the first. */
static void call_attempts_up_to_their_bound(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .attempts_made = MAX_ATTEMPTS - 3 };

    (void)state;
    conf.attempts = MAX_ATTEMPTS;
    PLAY(&conf, &op,
         { 0, TRY(MAX_ATTEMPTS - 2, FIRST) },
         { 0, REPORT(MAX_ATTEMPTS - 2, FAILED) },
         { 0, WAIT(30 * S, BACKOFF) },
         { 30 * S, TRY(MAX_ATTEMPTS - 1, BACKOFF) },
         { 30 * S, REPORT(MAX_ATTEMPTS - 1, THROTTLED) },
         { 30 * S, WAIT(60 * S, BACKOFF) },
         { 60 * S, TRY(MAX_ATTEMPTS, BACKOFF) },
         { 60 * S, REPORT(MAX_ATTEMPTS, FAILED) },
         { 60 * S, DONE(ATTEMPTS) });
    op.attempts_made = UINT32_MAX; /* nonsense, but no reason to begin at 0 */
    PLAY(&conf, &op,
         { 0, TRY(UINT32_MAX, FIRST) },
         { 0, REPORT(UINT32_MAX, FAILED) },
         { 0, DONE(ATTEMPTS) });
}

static void call_op_set_anew_holds_from_the_next_decision(void **state)
{
    static const struct {
        bide_op op;
        bide_reason want;
    } rows[] = {
        { { .idempotent = false }, BIDE_BECAUSE_NOT_IDEMPOTENT },
        { { .idempotent = true }, BIDE_BECAUSE_BACKOFF },
        { { .has_key = true }, BIDE_BECAUSE_BACKOFF },
        { { .has_key = true, .one_shot_body = true },
          BIDE_BECAUSE_NOT_REPLAYABLE },
        { { .idempotent = true, .deadline_ns = 1, .upstream_attempt = 7,
            .attempts_made = 9 }, BIDE_BECAUSE_BACKOFF }, /* not those */
    };
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int first = 0; first <= 1; first++) {
            bide_op before = { .idempotent = i == 0, .one_shot_body = i == 1 };
            bide_call call;

            bide_call_begin(&call, dep, &before, 0);
            bide_call_next(&call, 0);
            if (first)
                bide_call_set_op(&call, &rows[i].op);
            bide_call_report(&call, 1, &(bide_outcome){ FAILED }, 0);
            if (!first)
                bide_call_set_op(&call, &rows[i].op);
            bide_call_set_op(&call, NULL); /* says nothing */
            assert_int_equal(bide_call_next(&call, 0).reason, rows[i].want);
            bide_call_end(&call, 0);
        }
    bide_dep_free(dep);
}

static void call_upstream_owns_the_retries(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op nested = { .idempotent = true, .upstream_attempt = 3 };

    (void)state;
    PLAY(&conf, &nested,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, DONE(UPSTREAM_RETRIES) });
    PLAY(&conf, &nested,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, WORKED) },
         { 0, DONE(SUCCESS) });
    conf.nested = BIDE_NESTED_RETRY;
    PLAY(&conf, &nested,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

/* A caller that may still hear, but will not wait: what runs is the last. */
static void call_no_more_lets_what_runs_be_the_last(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, NO_MORE }, /* the first is made all the same */
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, DONE(ATTEMPTS) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, NO_MORE },
         { 2 * MS, REPORT(1, WORKED) },
         { 2 * MS, DONE(SUCCESS) });
    PLAY(&conf, POST, /* and what comes first in the order comes first */
         { 0, TRY(1, FIRST) },
         { 1 * MS, NO_MORE },
         { 2 * MS, REPORT(1, FAILED) },
         { 2 * MS, DONE(NOT_IDEMPOTENT) });
    conf.attempts = 1;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 50 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, NO_MORE },
         { 50 * MS, WAIT(BIDE_FOREVER, RUNNING) },
         { 60 * MS, REPORT(1, FAILED) },
         { 60 * MS, DONE(ATTEMPTS) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_one_attempt_is_not_retried),
        cmocka_unit_test(call_huge_attempts_keep_waiting_at_the_cap),
        cmocka_unit_test(call_attempts_up_to_their_bound),
        cmocka_unit_test(call_op_set_anew_holds_from_the_next_decision),
        cmocka_unit_test(call_upstream_owns_the_retries),
        cmocka_unit_test(call_no_more_lets_what_runs_be_the_last),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
