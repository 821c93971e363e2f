/* test_call.c: what a call decides, rule by rule and in which order. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

#define MAX_ATTEMPTS (UINT32_C(1) << 31)

/* ===== the order of the rules =====
 *
 * Every rule is a way to spoil a failure that would be retried. All 4096 ways to
 * combine them are tried: the first that applies decides. */

struct scene {
    bide_policy_conf conf;
    bide_op op;
    bide_outcome out;
    bool cancel;
    bool open;
};

static void spoil_cancelled(struct scene *s)
{
    s->cancel = true;
}

static void spoil_permanent(struct scene *s)
{
    s->out.cls = BIDE_PERMANENT;
}

static void spoil_server_refused(struct scene *s)
{
    s->out.refused = true;
}

static void spoil_not_idempotent(struct scene *s)
{
    s->op.idempotent = false;
}

static void spoil_not_replayable(struct scene *s)
{
    s->op.one_shot_body = true;
}

static void spoil_attempts(struct scene *s)
{
    s->conf.attempts = 1;
}

static void spoil_upstream_retries(struct scene *s)
{
    s->op.upstream_attempt = 1;
}

static void spoil_no_hint(struct scene *s)
{
    s->conf.retry_after.throttled_without_hint = BIDE_UNHINTED_STOP;
    s->out.cls = BIDE_THROTTLED;
    s->out.hinted = false;
}

static void spoil_hint_too_long(struct scene *s)
{
    s->out.hinted = true;
    s->out.hint_ns = s->conf.retry_after.max_ns + 1;
}

static void spoil_deadline(struct scene *s)
{
    s->op.deadline_ns = s->conf.backoff.base_ns;
}

static void spoil_breaker_open(struct scene *s)
{
    s->open = true;
}

static void spoil_budget(struct scene *s)
{
    s->conf.budget.kind = BIDE_BUDGET_WINDOW;
    s->conf.budget.ratio = 0;
    s->conf.budget.floor_per_s = 0;
}

static const struct rule {
    bide_reason reason;
    void (*spoil)(struct scene *scene);
} rules[] = {
    { BIDE_BECAUSE_CANCELLED, spoil_cancelled },
    { BIDE_BECAUSE_PERMANENT, spoil_permanent },
    { BIDE_BECAUSE_SERVER_REFUSED, spoil_server_refused },
    { BIDE_BECAUSE_NOT_IDEMPOTENT, spoil_not_idempotent },
    { BIDE_BECAUSE_NOT_REPLAYABLE, spoil_not_replayable },
    { BIDE_BECAUSE_ATTEMPTS, spoil_attempts },
    { BIDE_BECAUSE_UPSTREAM_RETRIES, spoil_upstream_retries },
    { BIDE_BECAUSE_NO_HINT, spoil_no_hint },
    { BIDE_BECAUSE_HINT_TOO_LONG, spoil_hint_too_long },
    { BIDE_BECAUSE_DEADLINE, spoil_deadline },
    { BIDE_BECAUSE_BREAKER_OPEN, spoil_breaker_open },
    { BIDE_BECAUSE_BUDGET, spoil_budget },
};

/* Plays the scene to its first decision after the failure. */
static bide_decision play_scene(const struct scene *scene, bide_verdict *ret)
{
    bide_dep *dep = script_dep(&scene->conf);
    bide_call call;
    bide_decision d;

    bide_call_begin(&call, dep, &scene->op, 0);
    d = bide_call_next(&call, 0);
    assert_int_equal(d.action, BIDE_TRY);
    assert_int_equal(d.reason, BIDE_BECAUSE_FIRST);
    assert_int_equal(bide_call_report(&call, 1, &scene->out, MS), 0);
    if (scene->cancel)
        bide_call_cancel(&call);
    if (scene->open)
        bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    d = bide_call_next(&call, MS);
    assert_int_equal(bide_call_verdict(&call, ret), 0);
    assert_int_equal(ret->reason, d.reason);
    assert_int_equal(ret->cls, scene->out.cls);
    bide_call_end(&call, MS);
    script_at_rest(dep, MS, "scene");
    bide_dep_free(dep);
    return d;
}

static void check_scene(unsigned set)
{
    struct scene scene = { .conf = script_conf(), .op = script_get,
                           .out = { FAILED } };
    bide_reason want = BIDE_BECAUSE_BACKOFF;
    bide_verdict verdict;
    bide_decision d;

    scene.conf.breaker.kind = BIDE_BREAKER_TIME;
    /* From the last to the first, so that the earlier ones have the last word
     * where two write to the same field. */
    for (size_t i = COUNT(rules); i-- > 0;)
        if (set & 1u << i) {
            rules[i].spoil(&scene);
            want = rules[i].reason;
        }
    d = play_scene(&scene, &verdict);
    if (d.reason != want)
        fail_msg("rules %#x: %s, expected %s", set, bide_reason_name(d.reason),
                 bide_reason_name(want));
    assert_int_equal(d.action, set ? BIDE_DONE : BIDE_WAIT);
}

static void call_each_rule_alone_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++)
        check_scene(1u << i);
    check_scene(0);
}

static void call_adjacent_rules_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < COUNT(rules); i++)
        check_scene(3u << i);
}

static void call_all_rules_first_that_applies_decides(void **state)
{
    (void)state;
    for (unsigned set = 0; set < 1u << COUNT(rules); set++)
        check_scene(set);
}

static void call_rules_stand_in_the_order_of_the_reasons(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rules); i++)
        assert_int_equal(rules[i].reason, BIDE_BECAUSE_CANCELLED + (int)i);
    assert_int_equal(BIDE_BECAUSE_BUDGET, BIDE_BECAUSE_CANCELLED + 11);
}

/* ===== the plain course of things ===== */

static void call_success_is_done(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 5 * MS, REPORT(1, WORKED) },
         { 5 * MS, DONE(SUCCESS) });
}

static void call_four_attempts_then_done(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY_FOR(1, FIRST, 10 * S) },
         { 0, WAIT(BIDE_FOREVER, RUNNING) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, WAIT(101 * MS, BACKOFF) },
         { 101 * MS, TRY_FOR(2, BACKOFF, 10 * S) },
         { 102 * MS, REPORT(2, TIMED_OUT) },
         { 102 * MS, WAIT(302 * MS, BACKOFF) },
         { 302 * MS, TRY(3, BACKOFF) },
         { 303 * MS, REPORT(3, THROTTLED) },
         { 303 * MS, WAIT(703 * MS, BACKOFF) },
         { 703 * MS, TRY(4, BACKOFF) },
         { 704 * MS, REPORT(4, FAILED) },
         { 704 * MS, DONE(ATTEMPTS) });
}

static void call_zero_wait_tries_at_once(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.base_ns = 0;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1, REPORT(1, FAILED) },
         { 1, TRY(2, BACKOFF) },
         { 2, REPORT(2, FAILED) },
         { 2, TRY(3, BACKOFF) });
}

static void call_asked_often_answers_the_same(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.backoff.jitter = BIDE_JITTER_FULL;
    dep = script_dep(&conf);
    for (int round = 0; round < 5; round++) {
        bide_call call;
        bide_decision d, e;

        bide_call_begin(&call, dep, GET, 0);
        d = bide_call_next(&call, 0);
        assert_int_equal(d.action, BIDE_TRY);
        for (int i = 0; i < 9; i++) {
            d = bide_call_next(&call, i);
            assert_int_equal(d.action, BIDE_WAIT);
            assert_int_equal(d.reason, BIDE_BECAUSE_RUNNING);
            assert_true(d.at_ns == BIDE_FOREVER);
        }
        bide_call_report(&call, 1, &(bide_outcome){ FAILED }, 10);
        d = bide_call_next(&call, 10);
        assert_int_equal(d.action, BIDE_WAIT);
        for (int64_t t = 11; t < d.at_ns; t += d.at_ns / 7 + 1) {
            e = bide_call_next(&call, t);
            assert_int_equal(e.action, BIDE_WAIT);
            assert_true(e.at_ns == d.at_ns);
            assert_int_equal(e.reason, BIDE_BECAUSE_BACKOFF);
        }
        bide_call_cancel(&call);
        for (int i = 0; i < 3; i++) {
            e = bide_call_next(&call, d.at_ns);
            assert_int_equal(e.action, BIDE_DONE);
            assert_int_equal(e.reason, BIDE_BECAUSE_CANCELLED);
        }
        bide_call_end(&call, d.at_ns);
    }
    s = script_stats(dep, 0);
    assert_int_equal(s.calls, 5);
    assert_int_equal(s.attempts, 5);
    assert_int_equal(s.done[BIDE_BECAUSE_CANCELLED], 5);
    assert_int_equal(s.retries_dropped, 5);
    assert_int_equal(s.budget_left, 10);
    bide_dep_free(dep);
}

/* ===== who may be retried ===== */

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

/* ===== attempts ===== */

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

/* ===== deadlines ===== */

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

/* ===== hints ===== */

static void call_hint_replaces_the_backoff(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(7 * S)) },
         { 0, WAIT(7 * S, HINT) },
         { 7 * S, TRY(2, HINT) },
         { 7 * S, REPORT(2, FAILED, HINT(1)) }, /* shorter than the backoff */
         { 7 * S, WAIT(7 * S + 1, HINT) },
         { 7 * S + 1, TRY(3, HINT) },
         { 7 * S + 1, REPORT(3, FAILED) }, /* and back to computing */
         { 7 * S + 1, WAIT(7 * S + 1 + 400 * MS, BACKOFF) });
}

static void call_hint_as_floor_takes_the_longer(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.retry_after.mode = BIDE_HINT_FLOOR;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(7 * S)) },
         { 0, WAIT(7 * S, HINT) },
         { 7 * S, TRY(2, HINT) },
         { 7 * S, REPORT(2, FAILED, HINT(199 * MS)) },
         { 7 * S, WAIT(7 * S + 200 * MS, BACKOFF) },
         { 8 * S, TRY(3, BACKOFF) },
         { 8 * S, REPORT(3, FAILED, HINT(401 * MS)) },
         { 8 * S, WAIT(8 * S + 401 * MS, HINT) });
}

static void call_hint_of_zero_leaves_it_to_the_backoff(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(0)) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, .hinted = false, .hint_ns = 7 * S) },
         { 0, WAIT(100 * MS, BACKOFF) });
    /* a caller's nonsense is no hint either */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(-1)) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(INT64_MIN)) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_hint_of_zero_is_a_hint_for_a_throttled_one(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.retry_after.throttled_without_hint = BIDE_UNHINTED_STOP;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED, HINT(0)) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) }, /* only throttled ones stop */
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_hint_too_long_says_when_a_new_call_may_go(void **state)
{
    (void)state;
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_call call;
    bide_outcome out = { .cls = BIDE_THROTTLED, .hinted = true,
                         .hint_ns = BIDE_HOUR };
    assert_int_equal(bide_dep_new(&dep, "test", &conf), 0);
    bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, 0);
    bide_call_next(&call, 0);
    bide_call_report(&call, 1, &out, BIDE_SECOND);
    bide_decision d = bide_call_next(&call, BIDE_SECOND);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_HINT_TOO_LONG);
    assert_int_equal(d.at_ns, BIDE_SECOND + BIDE_HOUR);
    bide_call_end(&call, BIDE_SECOND);
    bide_dep_free(dep);
}

static void call_hint_too_long_by_one(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(300 * S)) },
         { S, WAIT(301 * S, HINT) });
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(300 * S + 1)) },
         { S, DONE(HINT_TOO_LONG) });
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER)) },
         { S, DONE(HINT_TOO_LONG) });
    conf.retry_after.max_ns = 0;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(1)) },
         { S, DONE(HINT_TOO_LONG) });
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(0)) },
         { S, WAIT(S + 100 * MS, BACKOFF) });
}

static void call_hint_of_forever_saturates(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_op op = { .idempotent = true, .deadline_ns = BIDE_FOREVER };

    (void)state;
    conf.retry_after.max_ns = BIDE_FOREVER;
    conf.retry_after.jitter = 1;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER)) },
         { S, WAIT(BIDE_FOREVER, HINT) });
    PLAY(&conf, &op,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER - 1)) },
         { S, WAIT_IN(BIDE_FOREVER, BIDE_FOREVER, HINT) });
    conf.deadline_ns = 10 * S;
    PLAY(&conf, GET,
         { S, TRY(1, FIRST) },
         { S, REPORT(1, THROTTLED, HINT(BIDE_FOREVER)) },
         { S, DONE(DEADLINE) });
}

static void call_hint_jitter_only_adds(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    int64_t lo = BIDE_FOREVER, hi = 0;

    (void)state;
    conf.retry_after.jitter = 0.1;
    dep = script_dep(&conf);
    for (int i = 0; i < 10000; i++) {
        bide_call call;
        bide_verdict v;
        bide_decision d;

        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_report(&call, 1, &(bide_outcome){ THROTTLED, HINT(120 * S) },
                         0);
        d = bide_call_next(&call, 0);
        assert_int_equal(d.reason, BIDE_BECAUSE_HINT);
        assert_true(d.at_ns >= 120 * S && d.at_ns <= 132 * S);
        lo = d.at_ns < lo ? d.at_ns : lo;
        hi = d.at_ns > hi ? d.at_ns : hi;
        assert_int_equal(bide_call_verdict(&call, &v), 0);
        assert_true(v.value_ns == 120 * S && v.wait_ns == d.at_ns);
        assert_true(v.wait_min_ns == 120 * S && v.wait_max_ns == 132 * S);
        bide_call_end(&call, 0);
    }
    assert_true(lo < 120 * S + 10 * MS && hi > 132 * S - 10 * MS);
    bide_dep_free(dep);
}

static void call_throttled_base_is_for_throttled_ones(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.throttled_base_ns = S;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, THROTTLED) },
         { 0, WAIT(S, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, FAILED) },
         { S, WAIT(S + 200 * MS, BACKOFF) },
         { 2 * S, TRY(3, BACKOFF) },
         { 2 * S, REPORT(3, THROTTLED) },
         { 2 * S, WAIT(6 * S, BACKOFF) });
}

static void call_immediate_first_is_for_failures_to_connect(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.immediate_first = true;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, TRY(2, IMMEDIATE) },
         { 0, REPORT(2, UNCONNECTED) },
         { 0, WAIT(200 * MS, BACKOFF) }); /* only the first retry */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_DNS,
                     .not_processed = true) },
         { 0, TRY(2, IMMEDIATE) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, UNCONNECTED) }, /* not the first retry any more */
         { S, WAIT(S + 200 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, TIMED_OUT, .not_processed = true) },
         { 0, TRY(2, IMMEDIATE) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_RESET) },
         { 0, TRY(2, IMMEDIATE) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL) },
         { 0, WAIT(100 * MS, BACKOFF) });
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED, HINT(S)) }, /* a hint is a hint */
         { 0, WAIT(S, HINT) });
    conf.backoff.immediate_first = false;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, WAIT(100 * MS, BACKOFF) });
}

static void call_immediate_retry_spends_the_budget(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.backoff.immediate_first = true;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0.1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, UNCONNECTED) },
         { 0, LEFT(1) },
         { 0, TRY(2, IMMEDIATE) },
         { 0, LEFT(0) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(1), REPORT(1, UNCONNECTED) },
         { 0, BY(1), DONE(BUDGET) });
}

/* Decorrelated waits grow from computed one to computed one, whatever servers
 * say in between. */
static void call_hint_leaves_the_decorrelated_wait_alone(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_rng_seeded a, b;
    bide_rng rng = bide_rng_seed(&a, 3), twin = bide_rng_seed(&b, 3);
    bide_op op = { .idempotent = true, .rng = &rng };
    bide_dep *dep;
    bide_call call;
    bide_verdict v;
    int64_t now = 0, previous = 0;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_DECORRELATED;
    conf.attempts = 10;
    dep = script_dep(&conf);
    bide_call_begin(&call, dep, &op, now);
    for (uint32_t n = 0; n < 5; n++) {
        bool hinted = n != 0 && n != 4;
        bide_outcome out = { FAILED, .hinted = hinted, .hint_ns = 20 * S };
        int64_t lo, hi;

        assert_int_equal(bide_call_next(&call, now).action, BIDE_TRY);
        bide_call_report(&call, n + 1, &out, now);
        now = bide_call_next(&call, now).at_ns;
        bide_call_verdict(&call, &v);
        bide_backoff_range(&conf.backoff, n, previous, &lo, &hi);
        previous = bide_backoff_wait(&conf.backoff, n, previous, &twin);
        if (hinted) {
            bide_rng_between(&twin, 20 * S, 20 * S);
            assert_true(v.wait_ns == 20 * S);
        } else {
            assert_true(v.wait_min_ns == lo && v.wait_max_ns == hi);
            assert_true(v.wait_ns == previous);
        }
    }
    bide_call_end(&call, now);
    bide_dep_free(dep);
}

/* ===== odd clocks ===== */

static void call_clock_stands_still_or_steps_back(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    PLAY(&conf, GET,
         { 9 * S, TRY(1, FIRST) },
         { 5 * S, WAIT(BIDE_FOREVER, RUNNING) },
         { 5 * S, REPORT(1, FAILED) },
         { 5 * S, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 5 * S, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 1 * S, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 5 * S + 100 * MS - 1, WAIT(5 * S + 100 * MS, BACKOFF) },
         { 5 * S + 100 * MS, TRY(2, BACKOFF) },
         { 0, REPORT(2, WORKED) },
         { 0, DONE(SUCCESS) });
}

static void call_clock_steps_back_deadline_stays(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.deadline_ns = S;
    PLAY(&conf, GET,
         { 9 * S, BEGIN(NULL) },
         { 8 * S, TRY_FOR(1, FIRST, 2 * S) },
         { 1 * S, REPORT(1, FAILED) },
         { 9 * S, WAIT(9 * S + 100 * MS, BACKOFF) });
}

static void call_negative_clock_is_a_clock_at_zero(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { -5 * S, TRY(1, FIRST) },
         { INT64_MIN, WAIT(BIDE_FOREVER, RUNNING) },
         { -4 * S, REPORT(1, FAILED) },
         { INT64_MIN, WAIT(100 * MS, BACKOFF) },
         { -1, WAIT(100 * MS, BACKOFF) },
         { 100 * MS, TRY(2, BACKOFF) },
         { INT64_MIN, REPORT(2, WORKED) },
         { INT64_MIN, DONE(SUCCESS) },
         { INT64_MIN, END });
}

static void call_clock_at_its_end_saturates(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_op op = { .idempotent = true, .deadline_ns = BIDE_FOREVER };

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { INT64_MAX, TRY(1, FIRST) },
         { INT64_MAX, REPORT(1, FAILED) },
         { INT64_MAX, TRY(2, BACKOFF) }, /* the wait is over before it began */
         { INT64_MAX, REPORT(2, WORKED) },
         { INT64_MAX, DONE(SUCCESS) });
    PLAY(&conf, &op,
         { INT64_MAX - 1, TRY(1, FIRST) },
         { INT64_MAX - 1, REPORT(1, FAILED) },
         { INT64_MAX - 1, WAIT(BIDE_FOREVER, BACKOFF) });
    conf.deadline_ns = S;
    PLAY(&conf, GET, { INT64_MAX - 5, TRY(1, FIRST) });
}

/* ===== cancel and end ===== */

static void call_cancel_in_every_state(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    dep = script_dep(&conf);
    /* before it asked */
    PLAY_ON(dep, GET, { 0, CANCEL }, { 0, DONE(CANCELLED) });
    /* running */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, CANCEL },
            { 0, DONE(CANCELLED) },
            { 1, REPORT(1, IGNORED) },
            { 1, DONE(CANCELLED) });
    /* failed, not judged */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, CANCEL },
            { 0, DONE(CANCELLED) },
            { 0, LEFT(10) });
    /* waiting */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 0, CANCEL },
            { 0, LEFT(10) },
            { 0, DONE(CANCELLED) },
            { 0, CANCEL },
            { 0, LEFT(10) });
    /* queued */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), WAIT(S, QUEUED) },
            { 0, BY(1), CANCEL },
            { 0, BY(1), DONE(CANCELLED) },
            { 0, BY(2), WAIT(S, QUEUED) });
    /* succeeded, and not asked since: it has succeeded */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, WORKED) },
            { 0, CANCEL },
            { 0, DONE(SUCCESS) });
    /* done */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, PERMANENT) },
            { 0, DONE(PERMANENT) },
            { 0, CANCEL },
            { 0, DONE(PERMANENT) });
    s = script_stats(dep, 0);
    /* ... and the two of the queue that were simply ended */
    assert_int_equal(s.done[BIDE_BECAUSE_CANCELLED], 7);
    assert_int_equal(s.calls, 9);
    assert_int_equal(s.retries_dropped, 1);
    bide_dep_free(dep);
}

static void call_end_in_every_state(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.limits.in_flight = 1;
    conf.limits.queue = 1;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET, { 0, BEGIN(NULL) }, { 0, END });
    PLAY_ON(dep, GET, { 0, CANCEL }, { 0, END });
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, END });
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, CANCEL }, { 0, END });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, END });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 0, END },
            { 0, LEFT(10) });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, BY(1), WAIT(S, QUEUED) },
            { 0, BY(1), END },
            { 0, BY(2), WAIT(S, QUEUED) },
            { 0, BY(2), END });
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, WORKED) },
            { 0, END }); /* without having asked again: it did work */
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, PERMANENT) },
            { 0, DONE(PERMANENT) },
            { 0, END });
    s = script_stats(dep, 0);
    assert_int_equal(s.calls, 11);
    assert_int_equal(s.first_successes, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_SUCCESS], 1);
    assert_int_equal(s.done[BIDE_BECAUSE_PERMANENT], 1);
    assert_int_equal(s.attempts, 7);
    assert_int_equal(s.by_class[BIDE_IGNORED], 3);
    assert_int_equal(s.retries_dropped, 1);
    bide_dep_free(dep);
}

/* ===== reports that make no sense ===== */

static void call_report_twice_counts_once(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_stats s;

    (void)state;
    PLAY_ON(dep, GET,
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(0, BIDE_ESTATE, WORKED) },
            { 0, TRY(1, FIRST) },
            { 0, REPORT_RC(0, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(2, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(UINT32_MAX, BIDE_ESTATE, WORKED) },
            { 0, REPORT(1, FAILED) },
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, REPORT_RC(1, BIDE_ESTATE, WORKED) },
            { 0, REPORT_RC(2, BIDE_ESTATE, WORKED) },
            { S, TRY(2, BACKOFF) },
            { S, REPORT_RC(1, BIDE_ESTATE, FAILED) },
            { S, REPORT(2, WORKED) },
            { S, REPORT_RC(2, BIDE_ESTATE, WORKED) },
            { S, DONE(SUCCESS) },
            { S, REPORT_RC(2, BIDE_ESTATE, FAILED) },
            { S, REPORT_RC(3, BIDE_ESTATE, FAILED) },
            { S, DONE(SUCCESS) });
    s = script_stats(dep, S);
    assert_int_equal(s.attempts, 2);
    assert_int_equal(s.by_class[BIDE_TRANSIENT], 1);
    assert_int_equal(s.by_class[BIDE_SUCCESS], 1);
    bide_dep_free(dep);
}

static void call_report_of_nothing_is_refused(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_outcome odd[] = {
        { .cls = BIDE_N_CLASSES },
        { .cls = (bide_class)-1 },
        { .cls = (bide_class)INT32_MAX },
    };
    bide_call call;
    bide_stats s;

    (void)state;
    bide_call_begin(&call, dep, GET, 0);
    bide_call_next(&call, 0);
    assert_int_equal(bide_call_report(&call, 1, NULL, 0), BIDE_EINVAL);
    for (size_t i = 0; i < COUNT(odd); i++)
        assert_int_equal(bide_call_report(&call, 1, &odd[i], 0), BIDE_EINVAL);
    s = script_stats(dep, 0);
    assert_int_equal(s.attempts, 0);
    assert_int_equal(bide_call_next(&call, 0).reason, BIDE_BECAUSE_RUNNING);
    assert_int_equal(bide_call_report(&call, 1, &BIDE_OUTCOME_SUCCESS, 0), 0);
    assert_int_equal(bide_call_next(&call, 0).reason, BIDE_BECAUSE_SUCCESS);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void call_report_with_odd_fields_is_taken(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, .cls = BIDE_TRANSIENT, .fault = (bide_fault)-1,
                     .status = -7) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, .cls = BIDE_TRANSIENT, .fault = (bide_fault)9999,
                     .status = INT32_MAX) },
         { S, WAIT(S + 200 * MS, BACKOFF) });
}

static void call_verdict_needs_a_failure(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_call call;
    bide_verdict v = { .value_ns = 77 };

    (void)state;
    bide_call_begin(&call, dep, GET, 0);
    assert_int_equal(bide_call_verdict(&call, &v), BIDE_ESTATE);
    bide_call_next(&call, 0);
    assert_int_equal(bide_call_verdict(&call, &v), BIDE_ESTATE);
    assert_true(v.value_ns == 77);
    bide_call_report(&call, 1, &(bide_outcome){ THROTTLED }, 0);
    bide_call_next(&call, 0);
    assert_int_equal(bide_call_verdict(&call, &v), 0);
    assert_int_equal(v.reason, BIDE_BECAUSE_BACKOFF);
    assert_int_equal(v.cls, BIDE_THROTTLED);
    assert_true(v.value_ns == 100 * MS && v.wait_ns == 100 * MS);
    assert_true(v.wait_min_ns == 100 * MS && v.wait_max_ns == 100 * MS);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void call_verdict_gives_the_range_of_the_wait(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.attempts = 12;
    for (int jitter = 0; jitter <= BIDE_JITTER_PROPORTIONAL; jitter++) {
        bide_dep *dep;
        bide_call call;
        bide_verdict v;
        int64_t now = 0, previous = 0;

        conf.backoff.jitter = (bide_jitter)jitter;
        dep = script_dep(&conf);
        bide_call_begin(&call, dep, GET, 0);
        for (uint32_t n = 0; n < 11; n++) {
            int64_t lo, hi;
            bide_decision d = bide_call_next(&call, now);

            assert_int_equal(d.action, BIDE_TRY);
            bide_call_report(&call, n + 1, &(bide_outcome){ FAILED }, now);
            d = bide_call_next(&call, now);
            assert_int_equal(d.action, BIDE_WAIT);
            assert_int_equal(bide_call_verdict(&call, &v), 0);
            bide_backoff_range(&conf.backoff, n, previous, &lo, &hi);
            assert_true(v.wait_min_ns == lo && v.wait_max_ns == hi);
            assert_true(v.wait_ns >= lo && v.wait_ns <= hi);
            assert_true(v.wait_ns == d.at_ns - now);
            assert_true(v.value_ns == bide_backoff_value(&conf.backoff, n));
            previous = v.wait_ns;
            now = d.at_ns;
        }
        bide_call_end(&call, now);
        bide_dep_free(dep);
    }
}

static void call_verdict_gives_the_range_of_a_hint(void **state)
{
    static const struct {
        bide_hint_mode mode;
        int64_t hint_ns, min_ns, max_ns;
    } rows[] = {
        { BIDE_HINT_REPLACE, 50 * MS, 50 * MS, 60 * MS },
        { BIDE_HINT_REPLACE, 500 * MS, 500 * MS, 600 * MS },
        { BIDE_HINT_FLOOR, 20 * MS, 50 * MS, 100 * MS },
        { BIDE_HINT_FLOOR, 60 * MS, 60 * MS, 100 * MS },
        { BIDE_HINT_FLOOR, 90 * MS, 90 * MS, 108 * MS },
        { BIDE_HINT_FLOOR, 500 * MS, 500 * MS, 600 * MS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = script_conf();
        bide_dep *dep;

        conf.backoff.jitter = BIDE_JITTER_EQUAL; /* 50 to 100 ms */
        conf.retry_after.mode = rows[i].mode;
        conf.retry_after.jitter = 0.2;
        dep = script_dep(&conf);
        for (int n = 0; n < 100; n++) {
            bide_call call;
            bide_verdict v;
            bide_decision d;

            bide_call_begin(&call, dep, GET, 0);
            bide_call_next(&call, 0);
            bide_call_report(&call, 1,
                             &(bide_outcome){ FAILED, HINT(rows[i].hint_ns) },
                             0);
            d = bide_call_next(&call, 0);
            bide_call_verdict(&call, &v);
            assert_true(v.wait_min_ns == rows[i].min_ns);
            assert_true(v.wait_max_ns == rows[i].max_ns);
            assert_true(d.at_ns == v.wait_ns);
            assert_true(v.wait_ns >= v.wait_min_ns);
            assert_true(v.wait_ns <= v.wait_max_ns);
            bide_call_end(&call, 0);
        }
        bide_dep_free(dep);
    }
}

static void call_op_rng_is_used(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_rng_seeded a, b;
    bide_rng rng = bide_rng_seed(&a, 5), twin = bide_rng_seed(&b, 5);
    bide_op op = { .idempotent = true, .rng = &rng };
    bide_dep *dep;

    (void)state;
    conf.backoff.jitter = BIDE_JITTER_FULL;
    dep = script_dep(&conf);
    for (int i = 0; i < 10; i++) {
        int64_t want = bide_backoff_wait(&conf.backoff, 0, 0, &twin);

        PLAY_ON(dep, &op,
                { 0, TRY(1, FIRST) },
                { 0, REPORT(1, FAILED) },
                { 0, WAIT(want, BACKOFF) });
    }
    bide_dep_free(dep);
}

/* ===== breaker ===== */

static bide_policy_conf breaker_conf(uint32_t consecutive)
{
    bide_policy_conf conf = script_conf();

    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = consecutive;
    conf.breaker.open_ns = 10 * S;
    conf.breaker.open_jitter = 0;
    return conf;
}

static void call_breaker_opened_by_this_failure(void **state)
{
    bide_policy_conf conf = breaker_conf(2);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { S, TRY(2, BACKOFF) },
         { S, REPORT(2, FAILED) },
         { S, DONE(BREAKER_OPEN) },
         { 2 * S, BY(1), DONE(BREAKER_OPEN) });
}

static void call_breaker_done_says_when_it_may_fare_better(void **state)
{
    bide_policy_conf conf = breaker_conf(1);
    bide_dep *dep = script_dep(&conf);
    bide_call call;
    bide_decision d;

    (void)state;
    PLAY_ON(dep, GET, { 0, TRY(1, FIRST) }, { 0, REPORT(1, FAILED) });
    bide_call_begin(&call, dep, GET, S);
    d = bide_call_next(&call, S);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_true(d.at_ns > 10 * S - MS && d.at_ns <= 10 * S);
    bide_call_end(&call, S);
    PLAY_ON(dep, GET,
            { d.at_ns, BY(1), TRY(1, FIRST) },
            { d.at_ns, BREAKER(HALF_OPEN) });
    bide_dep_free(dep);
}

static void call_breaker_opens_during_the_wait(void **state)
{
    bide_policy_conf conf = breaker_conf(2);
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, FAILED) },
            { 0, WAIT(100 * MS, BACKOFF) },
            { 0, LEFT(9) },
            { 0, BY(1), TRY(1, FIRST) },
            { 0, BY(1), REPORT(1, FAILED) },
            { 0, BREAKER(OPEN) },
            { 0, BY(1), DONE(BREAKER_OPEN) },
            { 0, LEFT(9) },
            { 100 * MS, DONE(BREAKER_OPEN) },
            { 100 * MS, LEFT(10) });
    s = script_stats(dep, 0);
    assert_int_equal(s.retries_dropped, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_BREAKER_OPEN], 2);
    bide_dep_free(dep);
}

static void call_breaker_closed_again_after_the_wait(void **state)
{
    bide_policy_conf conf = breaker_conf(0);

    (void)state;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, FORCE(FORCED_OPEN) },
         { 0, BY(1), DONE(BREAKER_OPEN) },
         { 50 * MS, FORCE(NORMAL) },
         { 100 * MS, TRY(2, BACKOFF) });
}

static void call_probe_is_not_retried(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 2;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(2), TRY(1, FIRST) },
         { 11 * S, BY(3), DONE(BREAKER_OPEN) }, /* no more probes than two */
         { 11 * S, BY(1), REPORT(1, FAILED) },
         { 11 * S, BREAKER(OPEN) },
         { 11 * S, BY(1), DONE(BREAKER_OPEN) });
}

/* Half-open stays half-open where a rate of the probes decides: a failed probe is
 * not retried then either. */
static void call_probe_is_not_retried_while_half_open(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 3;
    conf.breaker.probe_failure_rate = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(1), REPORT(1, FAILED) },
         { 11 * S, BREAKER(HALF_OPEN) },
         { 11 * S, BY(1), DONE(BREAKER_OPEN) });
}

static void call_ignored_probe_gives_its_place_back(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.probes = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(2), DONE(BREAKER_OPEN) },
         { 11 * S, BY(1), REPORT(1, IGNORED) },
         { 11 * S, BREAKER(HALF_OPEN) },
         { 11 * S, BY(3), TRY(1, FIRST) },
         { 11 * S, BY(3), END }, /* unreported: as good as ignored */
         { 11 * S, BREAKER(HALF_OPEN) },
         { 11 * S, BY(4), TRY(1, FIRST) },
         { 11 * S, BY(4), REPORT(1, WORKED) },
         { 11 * S, BREAKER(CLOSED) });
}

static void call_breaker_forced_open_refuses_the_first(void **state)
{
    bide_policy_conf conf = breaker_conf(0);

    (void)state;
    conf.breaker.mode = BIDE_BREAKER_FORCED_OPEN;
    PLAY(&conf, GET, { S, DONE_UNTIL(BREAKER_OPEN, BIDE_FOREVER) });
}

/* ===== budget ===== */

static void call_budget_waiting_retries_count(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.floor_per_s = 0.2; /* two a window */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, BY(2), TRY(1, FIRST) },
         { 1, REPORT(1, FAILED) },
         { 1, BY(1), REPORT(1, FAILED) },
         { 1, BY(2), REPORT(1, FAILED) },
         { 1, LEFT(2) },
         { 1, WAIT(100 * MS + 1, BACKOFF) },
         { 1, BY(1), WAIT(100 * MS + 1, BACKOFF) },
         { 1, LEFT(0) },
         { 1, BY(2), DONE(BUDGET) },
         { 1, BY(1), CANCEL },
         { 1, LEFT(1) },
         { 1, BY(3), TRY(1, FIRST) }, /* first attempts are free */
         { 1, BY(3), REPORT(1, FAILED) },
         { 1, BY(3), WAIT(100 * MS + 1, BACKOFF) },
         { 1, LEFT(0) });
}

static void call_budget_in_flight_counts_until_the_report(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_IN_FLIGHT;
    conf.budget.min_in_flight = 1;
    conf.budget.ratio = 0;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, BY(1), REPORT(1, FAILED) },
         { 0, BY(1), DONE(BUDGET) },
         { S, TRY(2, BACKOFF) },
         { S, LEFT(0) },
         { S, REPORT(2, FAILED) },
         { S, LEFT(1) },
         { S, WAIT(S + 200 * MS, BACKOFF) },
         { S, LEFT(0) },
         { S, CANCEL },
         { S, LEFT(1) });
}

static void call_budget_refused_waits_for_nobody(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_QUOTA;
    conf.budget.capacity = 12;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
            { 0, TRY(1, FIRST) },
            { 0, REPORT(1, TIMED_OUT) }, /* costs 10 */
            { 0, WAIT(100 * MS, BACKOFF) },
            { S, TRY(2, BACKOFF) },
            { S, REPORT(2, FAILED) }, /* costs 5, and 2 are left */
            { S, DONE(BUDGET) });
    s = script_stats(dep, S);
    assert_int_equal(s.retries, 1);
    assert_int_equal(s.done[BIDE_BECAUSE_BUDGET], 1);
    assert_int_equal(s.wait_jittered.count, 1);
    bide_dep_free(dep);
}

/* ===== limits ===== */

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

/* dry_run never refuses: what it takes for a probe is retried. */
static void regress_call_dry_run_retries_a_probe(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 11 * S, BY(1), TRY(1, FIRST) },
         { 11 * S, BY(1), REPORT(1, FAILED) },
         { 11 * S, BY(1), WAIT(11 * S + 100 * MS, BACKOFF) },
         { 12 * S, BY(1), TRY(2, BACKOFF) });
}

/* ===== hooks ===== */

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

/* ===== the rest of the face ===== */

/* A driver that learns the method only while the first attempt runs. */
static void call_set_op_holds_from_the_next_decision(void **state)
{
    (void)state;
    static const struct {
        bide_op op;
        bide_reason reason;
    } rows[] = {
        { { .idempotent = true }, BIDE_BECAUSE_BACKOFF },
        { { .has_key = true }, BIDE_BECAUSE_BACKOFF },
        { { .idempotent = true, .one_shot_body = true },
          BIDE_BECAUSE_NOT_REPLAYABLE },
        { { .deadline_ns = 1 }, BIDE_BECAUSE_NOT_IDEMPOTENT },
    };
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_call call;
        bide_outcome failed = { FAILED };
        bide_call_begin(&call, dep, NULL, 0);
        assert_int_equal(bide_call_next(&call, 0).action, BIDE_TRY);
        bide_call_set_op(&call, &rows[i].op);
        bide_call_set_op(&call, NULL);
        assert_int_equal(bide_call_report(&call, 1, &failed, MS), 0);
        assert_int_equal(bide_call_next(&call, MS).reason, rows[i].reason);
        bide_call_end(&call, MS);
    }
    bide_dep_free(dep);
}

static void call_null_arguments_do_no_harm(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep = script_dep(&conf);
    bide_call call;

    (void)state;
    bide_call_begin(&call, dep, NULL, 0);
    assert_int_equal(bide_call_verdict(&call, NULL), BIDE_EINVAL);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void call_size_is_within_its_bound(void **state)
{
    (void)state;
    assert_true(sizeof(bide_call) <= 256);
}

static void call_reasons_have_names_and_words(void **state)
{
    (void)state;
    for (int r = 0; r < BIDE_N_REASONS; r++) {
        assert_non_null(bide_reason_name((bide_reason)r));
        assert_non_null(bide_reason_text((bide_reason)r));
        for (int q = 0; q < r; q++)
            assert_string_not_equal(bide_reason_name((bide_reason)r),
                                    bide_reason_name((bide_reason)q));
    }
    assert_string_equal(bide_reason_name(BIDE_BECAUSE_HINT_TOO_LONG),
                        "hint_too_long");
    assert_null(bide_reason_name(BIDE_N_REASONS));
    assert_null(bide_reason_text(BIDE_N_REASONS));
    assert_null(bide_reason_name((bide_reason)-1));
    assert_null(bide_reason_text((bide_reason)-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_each_rule_alone_decides),
        cmocka_unit_test(call_adjacent_rules_in_order),
        cmocka_unit_test(call_all_rules_first_that_applies_decides),
        cmocka_unit_test(call_rules_stand_in_the_order_of_the_reasons),
        cmocka_unit_test(call_success_is_done),
        cmocka_unit_test(call_four_attempts_then_done),
        cmocka_unit_test(call_zero_wait_tries_at_once),
        cmocka_unit_test(call_asked_often_answers_the_same),
        cmocka_unit_test(call_not_sent_is_safe_for_any_method),
        cmocka_unit_test(call_null_op_is_cautious),
        cmocka_unit_test(call_key_makes_a_post_safe),
        cmocka_unit_test(call_one_shot_body_refused_connection_is_retried),
        cmocka_unit_test(call_one_shot_body_answered_is_not_replayable),
        cmocka_unit_test(call_overloaded_is_refused),
        cmocka_unit_test(call_ignored_outcome_is_cancelled),
        cmocka_unit_test(call_success_that_says_no_retry_is_success),
        cmocka_unit_test(call_one_attempt_is_not_retried),
        cmocka_unit_test(call_huge_attempts_keep_waiting_at_the_cap),
        cmocka_unit_test(call_attempts_up_to_their_bound),
        cmocka_unit_test(call_op_set_anew_holds_from_the_next_decision),
        cmocka_unit_test(call_upstream_owns_the_retries),
        cmocka_unit_test(call_deadline_before_the_first_attempt),
        cmocka_unit_test(call_deadline_retry_fits_exactly_or_not),
        cmocka_unit_test(call_deadline_the_earlier_one_counts),
        cmocka_unit_test(call_deadline_passed_in_the_wait_gives_up),
        cmocka_unit_test(call_timeout_forever_is_forever),
        cmocka_unit_test(call_never_waits_past_the_deadline),
        cmocka_unit_test(call_hint_replaces_the_backoff),
        cmocka_unit_test(call_hint_as_floor_takes_the_longer),
        cmocka_unit_test(call_hint_of_zero_leaves_it_to_the_backoff),
        cmocka_unit_test(call_hint_of_zero_is_a_hint_for_a_throttled_one),
        cmocka_unit_test(call_hint_too_long_by_one),
        cmocka_unit_test(call_hint_too_long_says_when_a_new_call_may_go),
        cmocka_unit_test(call_hint_of_forever_saturates),
        cmocka_unit_test(call_hint_jitter_only_adds),
        cmocka_unit_test(call_throttled_base_is_for_throttled_ones),
        cmocka_unit_test(call_immediate_first_is_for_failures_to_connect),
        cmocka_unit_test(call_immediate_retry_spends_the_budget),
        cmocka_unit_test(call_hint_leaves_the_decorrelated_wait_alone),
        cmocka_unit_test(call_clock_stands_still_or_steps_back),
        cmocka_unit_test(call_clock_steps_back_deadline_stays),
        cmocka_unit_test(call_negative_clock_is_a_clock_at_zero),
        cmocka_unit_test(call_clock_at_its_end_saturates),
        cmocka_unit_test(call_cancel_in_every_state),
        cmocka_unit_test(call_end_in_every_state),
        cmocka_unit_test(call_report_twice_counts_once),
        cmocka_unit_test(call_report_of_nothing_is_refused),
        cmocka_unit_test(call_report_with_odd_fields_is_taken),
        cmocka_unit_test(call_verdict_needs_a_failure),
        cmocka_unit_test(call_verdict_gives_the_range_of_the_wait),
        cmocka_unit_test(call_verdict_gives_the_range_of_a_hint),
        cmocka_unit_test(call_op_rng_is_used),
        cmocka_unit_test(call_breaker_opened_by_this_failure),
        cmocka_unit_test(call_breaker_done_says_when_it_may_fare_better),
        cmocka_unit_test(call_breaker_opens_during_the_wait),
        cmocka_unit_test(call_breaker_closed_again_after_the_wait),
        cmocka_unit_test(call_probe_is_not_retried),
        cmocka_unit_test(call_probe_is_not_retried_while_half_open),
        cmocka_unit_test(call_ignored_probe_gives_its_place_back),
        cmocka_unit_test(call_breaker_forced_open_refuses_the_first),
        cmocka_unit_test(call_budget_waiting_retries_count),
        cmocka_unit_test(call_budget_in_flight_counts_until_the_report),
        cmocka_unit_test(call_budget_refused_waits_for_nobody),
        cmocka_unit_test(call_in_flight_cap_fails_fast),
        cmocka_unit_test(call_in_flight_queue_waits_for_a_place),
        cmocka_unit_test(call_in_flight_queue_respects_the_deadline),
        cmocka_unit_test(call_adaptive_rate_paces),
        cmocka_unit_test(call_adaptive_throttle_refuses_locally),
        cmocka_unit_test(regress_call_paced_and_queued_gets_its_place),
        cmocka_unit_test(regress_call_slept_is_not_the_queue_or_the_rate),
        cmocka_unit_test(regress_call_dry_run_retries_a_probe),
        cmocka_unit_test(call_goes_on_where_another_process_stopped),
        cmocka_unit_test(call_place_is_told_to_those_who_queue),
        cmocka_unit_test(call_place_of_an_ended_call_is_told),
        cmocka_unit_test(call_breaker_transitions_are_told_once),
        cmocka_unit_test(call_refused_by_the_probes_leaves_its_place),
        cmocka_unit_test(call_set_op_holds_from_the_next_decision),
        cmocka_unit_test(call_null_arguments_do_no_harm),
        cmocka_unit_test(call_size_is_within_its_bound),
        cmocka_unit_test(call_reasons_have_names_and_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
