/* test_budget_gauge.c: what the gauge says is what would be granted. */
#include "budget_steps.h"

/* However a call with a granted retry comes to its end, nothing leaks: what was
 * not used is given back at once, and the rest is paid in by successes. */
enum ending {
    CANCELLED_WAITING,
    ENDED_WAITING,
    CANCELLED_RUNNING,
    ENDED_RUNNING,
    IGNORED,
    SUCCEEDED,
    REFUSED_BY_BREAKER,
    REFUSED_BY_PLACES,
    TOO_LATE,
    N_ENDINGS
};

static void come_to_an_end(bide_call *call, bide_dep *dep, enum ending ending,
                           int64_t now)
{
    bide_call other;
    bide_decision d;
    switch (ending) {
    case CANCELLED_WAITING:
        bide_call_cancel(call);
        break;
    case CANCELLED_RUNNING:
    case ENDED_RUNNING:
        assert_int_equal(bide_call_next(call, now).action, BIDE_TRY);
        if (ending == CANCELLED_RUNNING)
            bide_call_cancel(call);
        break;
    case IGNORED:
    case SUCCEEDED:
        retry(call, ending == IGNORED ? BIDE_IGNORED : BIDE_SUCCESS, now);
        break;
    case REFUSED_BY_BREAKER:
        assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN),
                         0);
        d = bide_call_next(call, now);
        assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
        break;
    case REFUSED_BY_PLACES:
        start(&other, dep, now);
        d = bide_call_next(call, now);
        assert_int_equal(d.reason, BIDE_BECAUSE_IN_FLIGHT);
        bide_call_end(&other, now);
        break;
    case TOO_LATE:
        d = bide_call_next(call, now + 100 * S);
        assert_int_equal(d.reason, BIDE_BECAUSE_DEADLINE);
        break;
    default:
        break;
    }
    bide_call_end(call, now);
}

static void budget_is_whole_after_every_ending(void **state)
{
    static const bide_budget_kind kinds[] = { BIDE_BUDGET_WINDOW,
                                              BIDE_BUDGET_QUOTA,
                                              BIDE_BUDGET_IN_FLIGHT };
    (void)state;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        for (int e = 0; e < N_ENDINGS; e++) {
            bide_policy_conf conf = conf_of(kinds[k]);
            conf.breaker.kind = BIDE_BREAKER_TIME;
            conf.limits.in_flight = 1;
            conf.deadline_ns = 50 * S;
            bide_dep *dep = new_dep(&conf);
            int64_t left = bide_dep_budget_left(dep, 0);
            bool made = e == CANCELLED_RUNNING || e == ENDED_RUNNING ||
                        e == IGNORED || e == SUCCEEDED;

            assert_true(fails_and_waits(&calls[0], dep, 0));
            assert_int_equal(bide_dep_budget_left(dep, 0), left - 1);
            come_to_an_end(&calls[0], dep, (enum ending)e, 100 * MS);
            if (kinds[k] == BIDE_BUDGET_WINDOW && made)
                left--; /* until it expires */
            assert_int_equal(bide_dep_budget_left(dep, 100 * MS), left);
            assert_int_equal(stats_of(dep, 0).in_flight, 0);
            assert_int_equal(atomic_load(&dep->budget.calls), 0);
            bide_dep_free(dep);
        }
    }
}

/* Asks a copy of the budget for one retry after another, as calls that fail
 * would. */
static int64_t would_grant(bide_dep *dep, int64_t now)
{
    struct bide__budget copy;
    struct bide__ticket ticket = { 0, 0 };
    struct bide__failure failure = { BIDE_TRANSIENT, false, 0 };
    struct bide__budget_end end = { BIDE_TRANSIENT, false, true };
    int64_t n = 0;
    memcpy(&copy, &dep->budget, sizeof copy);
    for (;; n++) {
        bide__budget_report(&copy, &dep->policy, dep->lanes, &end, now);
        if (!bide__budget_take(&copy, &dep->policy, dep->lanes, &failure, now,
                               &ticket))
            return n;
    }
}

static void step(bide_call *call, bool *begun, bide_dep *dep,
                 const bide_rng *rng, int64_t now)
{
    if (!*begun) {
        begin(call, dep, now);
        *begun = true;
        return;
    }
    bide_class cls = (bide_class)bide_rng_between(rng, 0, BIDE_IGNORED);
    switch (bide_rng_between(rng, 0, 5)) {
    case 0:
        bide_call_end(call, now);
        *begun = false;
        break;
    case 1:
        bide_call_cancel(call);
        break;
    default:
        bide_call_report(call, bide_call_attempts(call),
                         &(bide_outcome){ .cls = bide_rng_between(rng, 0, 1)
                                                     ? BIDE_SUCCESS
                                                     : cls },
                         now);
        bide_call_next(call, now);
    }
}

static void walk(const bide_policy_conf *conf, int64_t now, uint64_t seed)
{
    enum { CALLS = 40 };
    bool begun[CALLS] = { false };
    bide_dep *dep = new_dep(conf);
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, seed);

    for (int i = 0; i < 3000; i++) {
        int64_t which = bide_rng_between(&rng, 0, CALLS - 1);
        if (bide_rng_between(&rng, 0, 9) == 0)
            now += bide_rng_between(&rng, 0, i % 100 ? S : 20 * S);
        if (bide_rng_between(&rng, 0, 19) == 0)
            now -= bide_rng_between(&rng, 0, S / 2); /* the clock steps back */
        step(&calls[which], &begun[which], dep, &rng, now);
        assert_int_equal(bide_dep_budget_left(dep, now), would_grant(dep, now));
    }
    for (int i = 0; i < CALLS; i++)
        if (begun[i])
            bide_call_end(&calls[i], now);
    assert_int_equal(bide_dep_budget_left(dep, now), would_grant(dep, now));
    assert_int_equal(atomic_load(&dep->budget.calls), 0);
    if (conf->budget.kind == BIDE_BUDGET_IN_FLIGHT)
        assert_int_equal(tokens(dep), 0);
    bide_dep_free(dep);
}

static void budget_gauge_is_what_would_be_granted(void **state)
{
    const int64_t starts[] = { S, INT64_C(1700000000) * S };
    (void)state;
    for (int kind = BIDE_BUDGET_WINDOW; kind <= BIDE_BUDGET_IN_FLIGHT; kind++) {
        for (uint64_t seed = 1; seed <= 8; seed++) {
            bide_policy_conf conf = conf_of((bide_budget_kind)kind);
            conf.attempts = 4;
            conf.budget.ratio = 0.29;
            conf.budget.capacity = 73;
            conf.budget.token_ratio = 0.7;
            conf.budget.deposit =
                seed % 2 ? BIDE_DEPOSIT_CALL : BIDE_DEPOSIT_SUCCESS;
            if (seed % 3 == 0)
                conf.budget.window_ns = 700 * MS;
            walk(&conf, starts[seed % 2], seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budget_is_whole_after_every_ending),
        cmocka_unit_test(budget_gauge_is_what_would_be_granted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
