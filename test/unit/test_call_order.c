/* test_call_order.c: of the rules that apply, the first decides. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* Every rule is a way to spoil a failure that would be retried. All 65536 ways to
 * combine them are tried: the first that applies decides. */

struct scene {
    bide_policy_conf conf;
    bide_op op;
    bide_outcome out;
    bool cancel;
    bool open;
    bool off;
    bool clipped; /* its timeout says nothing, so it is ignored */
};

static void spoil_cancelled(struct scene *s)
{
    s->cancel = true;
}

static void spoil_client_timeout(struct scene *s)
{
    s->op.deadline_ns = MS;
    s->out.cls = BIDE_TRANSIENT;
    s->out.fault = BIDE_FAULT_TIMEOUT;
    s->clipped = true;
}

static void spoil_upload(struct scene *s)
{
    s->out.cls = BIDE_IGNORED;
    s->out.fault = BIDE_FAULT_UPLOAD;
}

static void spoil_connection_wait(struct scene *s)
{
    s->out.cls = BIDE_IGNORED;
    s->out.fault = BIDE_FAULT_CONNECTION_WAIT;
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

static void spoil_retries_off(struct scene *s)
{
    s->off = true;
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
    { BIDE_BECAUSE_CLIENT_TIMEOUT, spoil_client_timeout },
    { BIDE_BECAUSE_UPLOAD, spoil_upload },
    { BIDE_BECAUSE_CONNECTION_WAIT, spoil_connection_wait },
    { BIDE_BECAUSE_PERMANENT, spoil_permanent },
    { BIDE_BECAUSE_SERVER_REFUSED, spoil_server_refused },
    { BIDE_BECAUSE_NOT_IDEMPOTENT, spoil_not_idempotent },
    { BIDE_BECAUSE_NOT_REPLAYABLE, spoil_not_replayable },
    { BIDE_BECAUSE_ATTEMPTS, spoil_attempts },
    { BIDE_BECAUSE_UPSTREAM_RETRIES, spoil_upstream_retries },
    { BIDE_BECAUSE_RETRIES_OFF, spoil_retries_off },
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
    if (scene->off)
        bide_dep_set_retries(dep, false);
    if (scene->open)
        bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    d = bide_call_next(&call, MS);
    assert_int_equal(bide_call_verdict(&call, ret), 0);
    assert_int_equal(ret->reason, d.reason);
    assert_int_equal(ret->cls, scene->clipped ? BIDE_IGNORED : scene->out.cls);
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
    assert_int_equal(BIDE_BECAUSE_BUDGET, BIDE_BECAUSE_CANCELLED + 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_each_rule_alone_decides),
        cmocka_unit_test(call_adjacent_rules_in_order),
        cmocka_unit_test(call_all_rules_first_that_applies_decides),
        cmocka_unit_test(call_rules_stand_in_the_order_of_the_reasons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
