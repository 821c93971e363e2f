/* test_call_deadline.c: no wait and no attempt goes past the deadline. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

static void call_deadline_before_the_first_attempt(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op past = { .deadline_ns = S };
    bide_op tight = { .deadline_ns = 2 * S + MS };

    (void)state;
    PLAY(&conf, &past, { 2 * S, DONE(DEADLINE) });
    PLAY(&conf, &past, { S, DONE(DEADLINE) });
    PLAY(&conf, &tight, { 2 * S, TRY_FOR(1, FIRST, MS) });
    PLAY(&conf, &tight, { 2 * S + 1, DONE(DEADLINE) });
    /* begun in time, asked too late */
    PLAY(&conf, &tight, { S, BEGIN(NULL) }, { 2 * S + 1, DONE(DEADLINE) });
    conf.attempt_min_ns = 0;
    PLAY(&conf, &tight, { 2 * S + MS - 1, TRY_FOR(1, FIRST, 1) });
    PLAY(&conf, &tight, { 2 * S + MS + 1, DONE(DEADLINE) });
}

static void call_deadline_retry_fits_exactly_or_not(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .deadline_ns = 102 * MS };

    (void)state;
    PLAY(&conf, &op,
         { 0, TRY_FOR(1, FIRST, 102 * MS) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, WAIT(101 * MS, BACKOFF) },
         { 101 * MS, TRY_FOR(2, BACKOFF, 1 * MS) },
         { 101 * MS, REPORT(2, FAILED) },
         { 101 * MS, DONE(DEADLINE) });
    op.deadline_ns--;
    PLAY(&conf, &op,
         { 0, TRY_FOR(1, FIRST, 102 * MS - 1) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, DONE(DEADLINE) });
}

static void call_deadline_the_earlier_one_counts(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .deadline_ns = 7 * S };
    bide_dep *dep;
    bide_call call;

    (void)state;
    conf.deadline_ns = 3 * S;
    PLAY(&conf, &op, { 2 * S, TRY_FOR(1, FIRST, 3 * S) });
    PLAY(&conf, &op, { 4 * S, TRY_FOR(1, FIRST, 3 * S) });
    PLAY(&conf, &op, { 5 * S, TRY_FOR(1, FIRST, 2 * S) });
    PLAY(&conf, GET, { 5 * S, TRY_FOR(1, FIRST, 3 * S) });
    conf.attempt_timeout_ns = S;
    PLAY(&conf, GET, { 5 * S, TRY_FOR(1, FIRST, 1 * S) });

    dep = script_dep(&conf);
    bide_call_begin(&call, dep, &op, 5 * S);
    assert_true(bide_call_deadline(&call) == 7 * S);
    bide_call_end(&call, 0);
    bide_call_begin(&call, dep, &op, 2 * S);
    assert_true(bide_call_deadline(&call) == 5 * S);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
    conf.deadline_ns = BIDE_FOREVER;
    dep = script_dep(&conf);
    bide_call_begin(&call, dep, NULL, 2 * S);
    assert_true(bide_call_deadline(&call) == BIDE_FOREVER);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void call_deadline_passed_in_the_wait_gives_up(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .deadline_ns = 200 * MS };
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    dep = script_dep(&conf);
    PLAY_ON(dep, &op,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 200 * MS, DONE(DEADLINE) },
            { 200 * MS, LEFT(10) });
    s = script_stats(dep, 200 * MS);
    assert_int_equal(s.retries_dropped, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_DEADLINE], 1);
    bide_dep_free(dep);
}

static void call_timeout_forever_is_forever(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempt_timeout_ns = BIDE_FOREVER;
    PLAY(&conf, GET, { S, TRY_FOR(1, FIRST, BIDE_FOREVER) });
    conf.deadline_ns = S;
    PLAY(&conf, GET, { S, TRY_FOR(1, FIRST, S) });
}

/* Whatever the policy, no wait ends where no attempt fits any more. */
static void call_never_waits_past_the_deadline(void **state)
{
    bide_rng_seeded mem;
    bide_rng rng = bide_rng_seed(&mem, 7);
    int waited = 0;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        bide_policy_conf conf = script_conf();
        bide_op op = { .idempotent = true };
        int64_t now = bide_rng_between(&rng, 0, 10 * S), deadline;
        bide_dep *dep;
        bide_call call;
        bide_decision d;

        conf.attempts = (uint32_t)bide_rng_between(&rng, 1, 20);
        conf.backoff.jitter = (bide_jitter)bide_rng_between(&rng, 0, 4);
        conf.backoff.base_ns = bide_rng_between(&rng, 0, S);
        conf.backoff.cap_ns = bide_rng_between(&rng, conf.backoff.base_ns,
                                               2 * S);
        conf.backoff.floor_ns =
            bide_rng_between(&rng, 0, conf.backoff.cap_ns);
        conf.retry_after.jitter = bide_rng_unit(&rng);
        conf.retry_after.mode = (bide_hint_mode)bide_rng_between(&rng, 0, 1);
        conf.attempt_min_ns = bide_rng_between(&rng, 0, 300 * MS);
        conf.deadline_ns = bide_rng_between(&rng, 1, 5 * S);
        op.deadline_ns = now + bide_rng_between(&rng, 1, 5 * S);
        deadline = now + conf.deadline_ns < op.deadline_ns
                       ? now + conf.deadline_ns
                       : op.deadline_ns;
        op.rng = &rng;
        dep = script_dep(&conf);
        bide_call_begin(&call, dep, &op, now);
        assert_true(bide_call_deadline(&call) == deadline);
        for (;;) {
            bide_outcome out = { FAILED };

            d = bide_call_next(&call, now);
            if (d.action == BIDE_DONE)
                break;
            if (d.action == BIDE_WAIT) {
                assert_true(d.at_ns > now);
                assert_true(d.at_ns + conf.attempt_min_ns <= deadline);
                now = d.at_ns;
                waited++;
                continue;
            }
            assert_true(d.timeout_ns >= conf.attempt_min_ns);
            assert_true(now + d.timeout_ns <= deadline);
            out.hinted = bide_rng_between(&rng, 0, 2) == 0;
            out.hint_ns = bide_rng_between(&rng, 0, S);
            now += bide_rng_between(&rng, 0, 100 * MS);
            bide_call_report(&call, d.attempt, &out, now);
        }
        assert_true(d.reason == BIDE_BECAUSE_DEADLINE ||
                    d.reason == BIDE_BECAUSE_ATTEMPTS);
        bide_call_end(&call, now);
        bide_dep_free(dep);
    }
    assert_true(waited > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_deadline_before_the_first_attempt),
        cmocka_unit_test(call_deadline_retry_fits_exactly_or_not),
        cmocka_unit_test(call_deadline_the_earlier_one_counts),
        cmocka_unit_test(call_deadline_passed_in_the_wait_gives_up),
        cmocka_unit_test(call_timeout_forever_is_forever),
        cmocka_unit_test(call_never_waits_past_the_deadline),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
