/* test_state.c: what a new dependency takes over from an old one: a changed
 * policy does not refill a budget, nor close a breaker. */
#include <math.h>

#include "script.h"

enum { NOW = 1000 };

static const int64_t now = NOW * BIDE_SECOND;

static bide_policy_conf plain_conf(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.backoff.base_ns = conf.backoff.cap_ns = 1;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.breaker.failure_rate = 0.5;
    conf.breaker.slow_rate = 1;
    conf.budget.ratio = 0.1;
    conf.lanes = 1;
    return conf;
}

static bide_dep *make(const bide_policy_conf *conf)
{
    static const uint64_t seed = 1;
    bide_host host = { .seed = &seed };
    bide_dep *dep = NULL;
    assert_int_equal(bide_dep_new_in(&dep, "state", conf, &host), 0);
    return dep;
}

static bide_dep *inherit(const bide_dep *old, const bide_policy_conf *conf,
                         int64_t at)
{
    bide_dep *dep = make(conf);
    assert_int_equal(bide_dep_inherit(dep, old, at), 0);
    return dep;
}

/* A call of one attempt, with this outcome. */
static void one(bide_dep *dep, bide_class cls, int64_t at)
{
    bide_call call;
    bide_outcome out = { .cls = cls, .status = cls ? 503 : 200 };
    bide_call_begin(&call, dep, NULL, at);
    if (bide_call_next(&call, at).action == BIDE_TRY)
        bide_call_report(&call, 1, &out, at);
    bide_call_end(&call, at);
}

/* Spends n retries; true if each was granted. */
static bool spend(bide_dep *dep, int n, int64_t at)
{
    bide_outcome out = { .cls = BIDE_TRANSIENT, .status = 503 };
    bool granted = true;
    for (int i = 0; i < n; i++) {
        bide_call call;
        bide_call_begin(&call, dep, &(bide_op){ .idempotent = true }, at);
        bide_call_next(&call, at);
        bide_call_report(&call, 1, &out, at);
        granted = granted && bide_call_next(&call, at).action == BIDE_WAIT &&
                  bide_call_next(&call, at + 1).action == BIDE_TRY;
        bide_call_report(&call, 2, &out, at + 1);
        bide_call_end(&call, at + 1);
    }
    return granted;
}

/* ===== budgets ===== */

/* What is left of a budget with these settings when half of the old one was
 * spent. */
struct row {
    bide_budget_kind kind;
    uint32_t capacity; /* quota */
    double tokens;     /* throttle */
    double floor;      /* window */
    int64_t window_s;
    int64_t left;      /* retries */
};

static bide_policy_conf conf_of_row(const struct row *r)
{
    bide_policy_conf conf = plain_conf();
    conf.budget.kind = r->kind;
    conf.budget.capacity = r->capacity ? r->capacity : conf.budget.capacity;
    conf.budget.max_tokens = r->tokens > 0 ? r->tokens : conf.budget.max_tokens;
    conf.budget.floor_per_s = r->floor;
    if (r->window_s)
        conf.budget.window_ns = r->window_s * S;
    return conf;
}

static void state_budget_stays_spent_whatever_it_becomes(void **state)
{
    static const struct row old = { BIDE_BUDGET_WINDOW, 0, 0, 1, 10, 5 };
    /* clang-format off */
    static const struct row rows[] = {
        { BIDE_BUDGET_WINDOW, 0, 0, 1, 10, 5 },
        { BIDE_BUDGET_WINDOW, 0, 0, 2, 10, 10 },  /* twice as much */
        { BIDE_BUDGET_WINDOW, 0, 0, 1, 20, 10 },
        { BIDE_BUDGET_WINDOW, 0, 0, 0.2, 10, 1 },
        { BIDE_BUDGET_WINDOW, 0, 0, 0.3, 10, 1 }, /* rounded down */
        { BIDE_BUDGET_QUOTA, 500, 0, 0, 0, 50 },  /* 5 tokens each */
        { BIDE_BUDGET_QUOTA, 100, 0, 0, 0, 10 },
        { BIDE_BUDGET_THROTTLE, 0, 10, 0, 0, 0 }, /* half is where it ends */
        { BIDE_BUDGET_IN_FLIGHT, 0, 0, 0, 0, 3 }, /* nothing is outstanding */
        { BIDE_BUDGET_OFF, 0, 0, 0, 0, BIDE_FOREVER },
    };
    /* clang-format on */
    bide_policy_conf conf = conf_of_row(&old);
    bide_dep *dep = make(&conf);

    (void)state;
    assert_true(spend(dep, 5, now));
    assert_int_equal(bide_dep_budget_left(dep, now + 1), old.left);
    for (size_t i = 0; i < COUNT(rows); i++) {
        conf = conf_of_row(&rows[i]);
        bide_dep *next = inherit(dep, &conf, now + 1);
        assert_int_equal(bide_dep_budget_left(next, now + 1), rows[i].left);
        bide_dep_free(next);
    }
    bide_dep_free(dep);
}

static void state_quota_and_throttle_are_scaled(void **state)
{
    bide_policy_conf conf = plain_conf();
    (void)state;
    conf.budget.kind = BIDE_BUDGET_QUOTA; /* 500, 5 each */
    bide_dep *quota = make(&conf);
    assert_true(spend(quota, 80, now));
    assert_int_equal(bide_dep_budget_left(quota, now), 20);
    conf.budget.capacity = 1000;
    bide_dep *next = inherit(quota, &conf, now);
    assert_int_equal(bide_dep_budget_left(next, now), 40);
    bide_dep_free(next);
    conf.budget.kind = BIDE_BUDGET_THROTTLE; /* 2 of 10 tokens left */
    next = inherit(quota, &conf, now);
    assert_int_equal(bide_dep_budget_left(next, now), 0);
    for (int i = 0; i < 31; i++) /* 0.1 for each: over 5 again */
        one(next, BIDE_SUCCESS, now);
    assert_false(bide_dep_budget_left(next, now) > 0);
    assert_true(spend(next, 1, now) == false);
    bide_dep_free(next);
    bide_dep_free(quota);
}

/* 100 calls a second deposited 10 retries a second, and half of that is spent.
 * A new policy does not have to begin with its floor alone. */
static void state_deposits_are_taken_over(void **state)
{
    bide_policy_conf conf = plain_conf();
    bide_dep *dep = make(&conf);
    (void)state;
    for (int i = 0; i < 900; i++)
        one(dep, BIDE_SUCCESS, now);
    assert_true(spend(dep, 50, now));
    assert_int_equal(bide_dep_budget_left(dep, now), 50);
    bide_dep *same = inherit(dep, &conf, now);
    assert_int_equal(bide_dep_budget_left(same, now), 50);
    conf.budget.ratio = 0.2;
    bide_dep *twice = inherit(dep, &conf, now);
    assert_int_equal(bide_dep_budget_left(twice, now), 95);
    assert_int_equal(bide_dep_budget_left(twice, now + 11 * S), 10); /* aged */
    bide_dep_free(twice);
    bide_dep_free(same);
    bide_dep_free(dep);
}

/* ===== breakers ===== */

static bide_policy_conf watched_conf(void)
{
    bide_policy_conf conf = plain_conf();
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.min_calls = 10;
    conf.breaker.open_ns = 30 * S;
    conf.breaker.open_max_ns = 60 * S;
    conf.breaker.open_jitter = 0;
    return conf;
}

static void state_open_breaker_stays_open(void **state)
{
    bide_policy_conf conf = watched_conf();
    bide_dep *dep = make(&conf);
    bide_breaker_view view;
    (void)state;
    for (int i = 0; i < 10; i++)
        one(dep, BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    conf.breaker.min_calls = 20;
    bide_dep *next = inherit(dep, &conf, now + 10 * S);
    bide_dep_breaker_view(next, now + 10 * S, &view);
    assert_int_equal(view.state, BIDE_BREAKER_OPEN);
    assert_in_range(view.open_until_ns, now + 29 * S, now + 30 * S);
    assert_int_equal(bide_dep_breaker(next, now + 30 * S),
                     BIDE_BREAKER_HALF_OPEN);
    bide_dep_free(next);

    conf.breaker.open_ns = conf.breaker.open_max_ns = S; /* but not for longer */
    next = inherit(dep, &conf, now + 10 * S);
    bide_dep_breaker_view(next, now + 10 * S, &view);
    assert_in_range(view.open_until_ns, now + 10 * S, now + 11 * S);
    bide_dep_free(next);

    next = inherit(dep, &conf, now + 31 * S); /* its probes are due */
    assert_int_equal(bide_dep_breaker(next, now + 31 * S),
                     BIDE_BREAKER_HALF_OPEN);
    bide_dep_free(next);
    bide_dep_free(dep);
}

/* Nine of ten that it needs were counted by the old one. */
static void state_counts_of_a_breaker_go_on(void **state)
{
    (void)state;
    for (int from = 0; from < 2; from++) {
        for (int to = 0; to < 2; to++) {
            bide_policy_conf conf = watched_conf();
            conf.breaker.kind = from ? BIDE_BREAKER_COUNT : BIDE_BREAKER_TIME;
            bide_dep *dep = make(&conf);
            for (int i = 0; i < 9; i++)
                one(dep, i % 2 ? BIDE_SUCCESS : BIDE_TRANSIENT, now);
            conf.breaker.kind = to ? BIDE_BREAKER_COUNT : BIDE_BREAKER_TIME;
            bide_dep *next = inherit(dep, &conf, now);
            assert_int_equal(bide_dep_breaker(next, now), BIDE_BREAKER_CLOSED);
            one(next, BIDE_SUCCESS, now); /* completes min_calls */
            assert_int_equal(bide_dep_breaker(next, now), BIDE_BREAKER_OPEN);
            bide_dep_free(next);
            bide_dep_free(dep);
        }
    }
}

static void state_failures_in_a_row_go_on(void **state)
{
    bide_policy_conf conf = watched_conf();
    (void)state;
    conf.breaker.consecutive = 3;
    bide_dep *dep = make(&conf);
    one(dep, BIDE_TRANSIENT, now);
    one(dep, BIDE_TRANSIENT, now);
    bide_dep *next = inherit(dep, &conf, now);
    one(next, BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(next, now), BIDE_BREAKER_OPEN);
    bide_dep_free(next);
    bide_dep_free(dep);
}

/* So does the switch that turns retries off. */
static void state_retries_stay_off(void **state)
{
    bide_policy_conf conf = plain_conf();
    bide_dep *dep = make(&conf);
    (void)state;
    bide_dep_set_retries(dep, false);
    conf.attempts = 7;
    bide_dep *next = inherit(dep, &conf, now);
    assert_false(bide_dep_retries(next));
    bide_dep_free(next);
    bide_dep_free(dep);
}

/* The policy's mode is the new one's; what somebody forced stays. */
static void state_forced_mode_is_kept(void **state)
{
    bide_policy_conf conf = watched_conf();
    bide_dep *dep = make(&conf);
    bide_breaker_view view;
    (void)state;
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    bide_dep *next = inherit(dep, &conf, now);
    bide_dep_breaker_view(next, now, &view);
    assert_int_equal(view.mode, BIDE_BREAKER_DRY_RUN);
    bide_dep_free(next);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    next = inherit(dep, &conf, now);
    bide_dep_breaker_view(next, now, &view);
    assert_int_equal(view.mode, BIDE_BREAKER_FORCED_OPEN);
    bide_dep_free(next);
    bide_dep_free(dep);
}

/* ===== limits ===== */

static void state_limits_are_taken_over(void **state)
{
    bide_policy_conf conf = plain_conf();
    bide_dep_state s = BIDE_DEP_STATE_INIT, back = BIDE_DEP_STATE_INIT;
    (void)state;
    conf.limits.adaptive_rate = conf.limits.adaptive_throttle = true;
    bide_dep *dep = make(&conf);
    assert_true(isinf(bide_dep_rate(dep, now)));
    s.rate = 40;
    s.throttle_requests = 1000;
    s.throttle_accepts = 100;
    assert_int_equal(bide_dep_state_set(dep, &s, now), 0);
    assert_true(fabs(bide_dep_rate(dep, now) - 40) < 1);
    bide_dep *next = inherit(dep, &conf, now + S);
    assert_int_equal(bide_dep_state_get(next, now + S, &back), 0);
    assert_true(back.rate > 39 && back.rate < 60); /* it has grown */
    assert_int_equal(back.throttle_requests, 1000);
    assert_int_equal(back.throttle_accepts, 100);
    bide_dep_free(next);
    bide_dep_free(dep);
}

/* ===== what is refused ===== */

static void state_nonsense_is_refused(void **state)
{
    static const bide_dep_state init = BIDE_DEP_STATE_INIT;
    bide_dep_state bad[12];
    bide_policy_conf conf = watched_conf();
    bide_dep *dep = make(&conf);
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++)
        bad[i] = init;
    bad[0].size = 1;
    bad[1].budget_spent = -0.1;
    bad[2].budget_spent = (double)NAN;
    bad[3].deposits_per_s = -1;
    bad[4].breaker = (bide_breaker_state)3;
    bad[5].mode = (bide_breaker_mode)9;
    bad[6].open_until_ns = -1;
    bad[7].failed = 1;
    bad[8].slow = 1;
    bad[9].attempts = UINT64_MAX;
    bad[10].rate = 0;
    bad[11].throttle_accepts = 1;
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(bide_dep_state_set(dep, &bad[i], now), BIDE_EINVAL);
    assert_int_equal(bide_dep_state_set(dep, NULL, now), BIDE_EINVAL);
    assert_int_equal(bide_dep_state_set(NULL, &init, now), BIDE_EINVAL);
    assert_int_equal(bide_dep_state_get(dep, now, &bad[0]), BIDE_EINVAL);
    assert_int_equal(bide_dep_state_get(NULL, now, &bad[1]), BIDE_EINVAL);
    assert_int_equal(bide_dep_inherit(dep, NULL, now), BIDE_EINVAL);
    assert_int_equal(bide_dep_inherit(NULL, dep, now), BIDE_EINVAL);
    bide_dep_free(dep);
}

/* Sizes that no budget has are clipped, not wrapped around. */
static void state_huge_values_spend_all(void **state)
{
    bide_dep_state s = BIDE_DEP_STATE_INIT;
    static const bide_budget_kind kinds[] = { BIDE_BUDGET_WINDOW,
                                              BIDE_BUDGET_QUOTA,
                                              BIDE_BUDGET_THROTTLE };
    (void)state;
    s.budget_spent = 1e300;
    s.deposits_per_s = 1e300;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        bide_policy_conf conf = plain_conf();
        conf.budget.kind = kinds[i];
        bide_dep *dep = make(&conf);
        assert_int_equal(bide_dep_state_set(dep, &s, now), 0);
        assert_int_equal(bide_dep_budget_left(dep, now), 0);
        bide_dep_free(dep);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_budget_stays_spent_whatever_it_becomes),
        cmocka_unit_test(state_quota_and_throttle_are_scaled),
        cmocka_unit_test(state_deposits_are_taken_over),
        cmocka_unit_test(state_open_breaker_stays_open),
        cmocka_unit_test(state_counts_of_a_breaker_go_on),
        cmocka_unit_test(state_failures_in_a_row_go_on),
        cmocka_unit_test(state_retries_stay_off),
        cmocka_unit_test(state_forced_mode_is_kept),
        cmocka_unit_test(state_limits_are_taken_over),
        cmocka_unit_test(state_nonsense_is_refused),
        cmocka_unit_test(state_huge_values_spend_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
