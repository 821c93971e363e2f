/* test_wait.c: which backoff applies, and waits that the program computes. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

#define CONFLICT .cls = BIDE_TRANSIENT, .status = 409, .conflict = true

static void wait_after_each_failure_has_its_own_backoff(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 8;
    conf.backoff_throttled.base_ns = S;
    conf.backoff_throttled.factor = 3;
    conf.backoff_conflict.base_ns = 0;
    conf.backoff_timeout.delays = (bide_delays){ 2, { 7 * MS, 9 * MS } };
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, CONFLICT) },
         { 0, TRY(2, BACKOFF) },
         { 0, REPORT(2, CONFLICT) },
         { 0, TRY(3, BACKOFF) },
         { 0, REPORT(3, TIMED_OUT) },
         { 0, WAIT(9 * MS, BACKOFF) },
         { 9 * MS, TRY(4, BACKOFF) },
         { 9 * MS, REPORT(4, FAILED) },
         { 9 * MS, WAIT(809 * MS, BACKOFF) },
         { S, TRY(5, BACKOFF) },
         { S, REPORT(5, THROTTLED) },
         { S, WAIT(31 * S, BACKOFF) }); /* 81 s, capped at 30 s */
}

/* A conflict may be throttled, or time out: the first of the three counts. */
static void wait_after_two_kinds_goes_by_the_first(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff_throttled.base_ns = 1 * MS;
    conf.backoff_conflict.base_ns = 2 * MS;
    conf.backoff_timeout.base_ns = 3 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, .conflict = true) },
         { 0, WAIT(1 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT, .conflict = true) },
         { 0, WAIT(2 * MS, BACKOFF) });
}

/* A list is inherited by a kind that says nothing, and by no other. */
static void wait_by_a_list_gives_way_to_a_base(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.delays = (bide_delays){ 2, { 1 * S, 5 * S } };
    conf.backoff_conflict.base_ns = 10 * MS;
    conf.backoff_timeout.cap_ns = 50 * MS;
    conf.backoff.base_ns = 50 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED) },
         { 0, WAIT(1 * S, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, CONFLICT) },
         { S, WAIT(S + 20 * MS, BACKOFF) },
         { 2 * S, TRY(3, BACKOFF) },
         { 2 * S, REPORT(3, TIMED_OUT) },
         { 2 * S, WAIT(2 * S + 50 * MS, BACKOFF) });
}

/* 409 that nobody made retryable is permanent; to a retry with the same key it
 * means "still at it", and is waited for as any failure. */
static void wait_after_conflict_is_for_what_a_policy_retries(void **state)
{
    static const bide_rule retried = { .status_min = 409, .status_max = 409,
                                       .cls = BIDE_TRANSIENT };
    static const bide_rule aborted = { .grpc = 1u << BIDE_GRPC_ABORTED,
                                       .cls = BIDE_TRANSIENT };
    static const bide_rule throttled = { .status_min = 409, .status_max = 409,
                                         .cls = BIDE_THROTTLED };
    static const struct {
        const bide_rule *rule;
        bide_response response;
        bool conflict;
    } rows[] = {
        { &retried, { .status = 409 }, true },
        { &retried, { .status = 503 }, false },
        { &retried, { .status = 412 }, false },
        { &throttled, { .status = 409 }, false },
        { NULL, { .status = 409 }, false },
        { &aborted, { .is_grpc = true, .grpc_status = BIDE_GRPC_ABORTED }, true },
        { &aborted, { .is_grpc = true, .grpc_status = BIDE_GRPC_UNAVAILABLE }, false },
        { NULL, { .is_grpc = true, .grpc_status = BIDE_GRPC_ABORTED }, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = script_conf();
        conf.rules = rows[i].rule;
        conf.n_rules = rows[i].rule ? 1 : 0;
        bide_dep *dep = script_dep(&conf);
        bide_outcome out = bide_classify(dep, &rows[i].response);
        if (out.conflict != rows[i].conflict)
            fail_msg("row %zu", i);
        bide_dep_free(dep);
    }
    bide_policy_conf conf = script_conf();
    conf.backoff_conflict.base_ns = 0;
    PLAY(&conf, &((bide_op){ .has_key = true }),
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, .cls = BIDE_PERMANENT, .status = 409) },
         { S, WAIT(S + 200 * MS, BACKOFF) });
}

/* ===== the program's own ===== */

struct own {
    int64_t result;
    bide_wait_facts facts;
    int calls;
};

static int64_t own_wait(void *ctx, const bide_wait_facts *facts)
{
    struct own *own = ctx;
    own->facts = *facts;
    own->calls++;
    return own->result;
}

static void wait_by_the_program_is_checked(void **state)
{
    static const struct {
        int64_t result, until;
    } rows[] = {
        { 0, 0 },
        { 7 * MS, 7 * MS },
        { 30 * S, 30 * S },
        { 30 * S + 1, 30 * S },
        { INT64_MAX, 30 * S },
        { -1, 100 * MS },
        { INT64_MIN, 100 * MS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct own own = { .result = rows[i].result };
        bide_policy_conf conf = script_conf();
        conf.wait = own_wait;
        conf.wait_ctx = &own;
        if (rows[i].until == 0)
            PLAY(&conf, GET,
                 { 0, TRY(1, FIRST) },
                 { 0, REPORT(1, FAILED) },
                 { 0, TRY(2, BACKOFF) });
        else
            PLAY(&conf, GET,
                 { 0, TRY(1, FIRST) },
                 { 0, REPORT(1, FAILED) },
                 { 0, WAIT(rows[i].until, BACKOFF) });
        assert_int_equal(own.calls, 1);
    }
}

static void wait_by_the_program_is_jittered_and_has_a_floor(void **state)
{
    struct own own = { .result = 8 * MS };
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.wait = own_wait;
    conf.wait_ctx = &own;
    conf.backoff.jitter = BIDE_JITTER_EQUAL;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT_IN(4 * MS, 8 * MS, BACKOFF) });
    conf.backoff.floor_ns = 20 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(20 * MS, BACKOFF) });
    conf.backoff.jitter = BIDE_JITTER_DECORRELATED; /* would not look at it */
    assert_int_equal(bide_policy_check(&conf) > 0, 0);
    assert_string_equal(bide_strerror(bide_policy_check(&conf)) != NULL
                            ? "refused" : "", "refused");
    assert_true(bide_policy_check(&conf) <= BIDE_EFIELD);
}

static void wait_by_the_program_is_told_the_facts(void **state)
{
    struct own own = { .result = 3 * MS };
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.wait = own_wait;
    conf.wait_ctx = &own;
    conf.deadline_ns = 5 * S;
    conf.retry_after.mode = BIDE_HINT_FLOOR;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S + MS, REPORT(1, FAILED) },
         { S + MS, WAIT(S + 4 * MS, BACKOFF) },
         { S + 4 * MS, TRY(2, BACKOFF) },
         { S + 5 * MS, REPORT(2, TIMED_OUT, HINT(2 * MS)) },
         { S + 5 * MS, WAIT(S + 8 * MS, BACKOFF) });
    assert_int_equal(own.calls, 2);
    assert_int_equal(own.facts.retry, 1);
    assert_int_equal(own.facts.cls, BIDE_TRANSIENT);
    assert_int_equal(own.facts.fault, BIDE_FAULT_TIMEOUT);
    assert_int_equal(own.facts.after, BIDE_AFTER_TIMEOUT);
    assert_int_equal(own.facts.value_ns, 200 * MS);
    assert_int_equal(own.facts.previous_ns, 3 * MS);
    assert_int_equal(own.facts.elapsed_ns, 5 * MS);
    assert_int_equal(own.facts.left_ns, 5 * S - 5 * MS);
    assert_int_equal(own.facts.hint_ns, 2 * MS);
}

static void wait_verdict_names_the_backoff(void **state)
{
    struct own own = { .result = -1 };
    bide_policy_conf conf = script_conf();
    bide_verdict v;
    bide_call call;

    (void)state;
    conf.wait = own_wait;
    conf.wait_ctx = &own;
    bide_dep *dep = script_dep(&conf);
    bide_call_begin(&call, dep, GET, 0);
    bide_call_next(&call, 0);
    bide_call_report(&call, 1, &(bide_outcome){ CONFLICT }, 0);
    bide_call_next(&call, 0);
    assert_int_equal(bide_call_verdict(&call, &v), 0);
    assert_int_equal(v.after, BIDE_AFTER_CONFLICT);
    assert_true(v.by_wait_fn);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_after_each_failure_has_its_own_backoff),
        cmocka_unit_test(wait_after_two_kinds_goes_by_the_first),
        cmocka_unit_test(wait_by_a_list_gives_way_to_a_base),
        cmocka_unit_test(wait_after_conflict_is_for_what_a_policy_retries),
        cmocka_unit_test(wait_by_the_program_is_checked),
        cmocka_unit_test(wait_by_the_program_is_jittered_and_has_a_floor),
        cmocka_unit_test(wait_by_the_program_is_told_the_facts),
        cmocka_unit_test(wait_verdict_names_the_backoff),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
