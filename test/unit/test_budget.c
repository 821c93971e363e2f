/* test_budget.c: the four kinds of retry budget, from inside and through calls.
 *
 * What a budget grants is seen as a caller sees it: a call fails, and is told
 * to wait for its retry, or that it is done because of the budget. */
#include "budget.h"
#include "fixture.h"

enum { MANY = 1000 };

static bide_call calls[MANY];

/* Two attempts, a wait of 100 ms between them, and nobody but the budget to
 * object. */
static bide_policy_conf conf_of(bide_budget_kind kind)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 2;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.budget.kind = kind;
    return conf;
}

/* Fails a first attempt; true if a retry is granted, which then waits. */
static bool fails_and_waits(bide_call *call, bide_dep *dep, int64_t now)
{
    start(call, dep, now);
    bide_decision d = report(call, BIDE_TRANSIENT, now);
    if (d.action == BIDE_DONE)
        assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
    return d.action == BIDE_WAIT;
}

/* As many calls fail at once; how many of them may retry? All are ended by
 * end_all(). */
static int fail_many(bide_dep *dep, int n, int64_t now)
{
    int granted = 0;
    for (int i = 0; i < n; i++)
        granted += fails_and_waits(&calls[i], dep, now);
    return granted;
}

static void end_all(int n, int64_t now)
{
    for (int i = 0; i < n; i++)
        bide_call_end(&calls[i], now);
}

/* Makes the retry that a call waits for. */
static void retry(bide_call *call, bide_class cls, int64_t now)
{
    bide_decision d = bide_call_next(call, now);
    assert_int_equal(d.action, BIDE_TRY);
    report(call, cls, now);
}

static void succeed(bide_dep *dep, int n, int64_t now)
{
    for (int i = 0; i < n; i++)
        one_call(dep, BIDE_SUCCESS, now, now);
}

/* ===== off ===== */

static void budget_off_grants_all(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_OFF);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, MANY, 0), MANY);
    assert_true(bide_dep_budget_left(dep, 0) == BIDE_FOREVER);
    end_all(MANY, 0);
    bide_dep_free(dep);
}

/* ===== window ===== */

static void budget_window_starts_with_the_floor(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(bide_dep_budget_left(dep, 0), 10);
    assert_int_equal(fail_many(dep, 50, 0), 10); /* those that wait count */
    assert_int_equal(bide_dep_budget_left(dep, 0), 0);
    end_all(50, 0);
    bide_dep_free(dep);
}

static void budget_window_cancelled_in_the_wait_is_given_back(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    const int64_t starts[] = { 0, 3 * S, 1000 * S, INT64_C(1) << 60 };
    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++) {
        int64_t t = starts[i];
        bide_dep *dep = new_dep(&conf);
        assert_int_equal(fail_many(dep, 10, t), 10);
        bide_call_cancel(&calls[4]);
        assert_int_equal(bide_dep_budget_left(dep, t), 1);
        bide_call_cancel(&calls[4]); /* once is enough */
        assert_int_equal(bide_dep_budget_left(dep, t), 1);
        bide_call_end(&calls[5], t + 50 * MS); /* and so does giving up */
        assert_int_equal(bide_dep_budget_left(dep, t), 2);
        assert_int_equal(stats_of(dep, t).retries_dropped, 2);
        calls[5] = calls[9];
        end_all(9, t);
        assert_int_equal(bide_dep_budget_left(dep, t), 10);
        bide_dep_free(dep);
    }
}

static void budget_window_retry_that_was_made_stays_spent(void **state)
{
    static const bide_class classes[] = { BIDE_SUCCESS,   BIDE_TRANSIENT,
                                          BIDE_THROTTLED, BIDE_OVERLOADED,
                                          BIDE_PERMANENT, BIDE_IGNORED };
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 7, 0), 7);
    for (int i = 0; i < 6; i++)
        retry(&calls[i], classes[i], 100 * MS);
    assert_int_equal(bide_call_next(&calls[6], 100 * MS).action, BIDE_TRY);
    end_all(7, 100 * MS); /* the last one without a report */
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 3);
    bide_dep_free(dep);
}

/* Spent at t, it counts up to t + window at least, and 1/63 longer at most. */
static void budget_window_expires_exactly(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    (void)state;
    for (int64_t t = 0; t < 20 * S; t += 777 * MS) {
        bide_dep *dep = new_dep(&conf);
        int64_t tick = bide__spend_tick_ns(conf.budget.window_ns);
        int64_t over = (t / tick + 64) * tick;
        assert_int_equal(fail_many(dep, 11, t), 10);
        assert_true(over > t + 10 * S);
        assert_true(over <= t + 10 * S + 2 * tick);
        assert_int_equal(bide_dep_budget_left(dep, t + 10 * S), 0);
        assert_int_equal(bide_dep_budget_left(dep, over - 1), 0);
        assert_false(fails_and_waits(&calls[11], dep, over - 1));
        assert_int_equal(bide_dep_budget_left(dep, over), 10);
        assert_true(fails_and_waits(&calls[12], dep, over));
        end_all(13, over);
        bide_dep_free(dep);
    }
}

static void budget_window_given_back_after_it_expired_does_nothing(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.backoff.base_ns = conf.backoff.cap_ns = 60 * S;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 10, 0), 10);
    assert_true(fails_and_waits(&calls[10], dep, 12 * S));
    assert_int_equal(bide_dep_budget_left(dep, 12 * S), 9);
    end_all(10, 12 * S);
    assert_int_equal(bide_dep_budget_left(dep, 12 * S), 9);
    bide_call_end(&calls[10], 12 * S);
    assert_int_equal(bide_dep_budget_left(dep, 12 * S), 10);
    bide_dep_free(dep);
}

/* A share of deposits, to the last unit: a double makes 28.999999999999996 of
 * 29 % of 100. */
static void budget_window_share_is_not_cut_off(void **state)
{
    static const struct {
        double ratio, floor_per_s;
        int deposits, granted;
    } rows[] = {
        { 0.29, 0, 100, 29 },  { 0.29, 0, 99, 28 },  { 0.1, 0, 9, 0 },
        { 0.1, 0, 10, 1 },     { 0.1, 0, 100, 10 },  { 0.07, 0, 100, 7 },
        { 0.57, 0, 100, 57 },  { 0.58, 0, 100, 58 }, { 1, 0, 123, 123 },
        { 0, 0, 500, 0 },      { 0.1, 1, 500, 60 },  { 0.1, 0.07, 3, 1 },
        { 0.1, 0.06, 3, 0 },   { 0.001, 0, 999, 0 }, { 0.001, 0, 1000, 1 },
        { 0.000001, 0, 5, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
        conf.budget.ratio = rows[i].ratio;
        conf.budget.floor_per_s = rows[i].floor_per_s;
        bide_dep *dep = new_dep(&conf);
        succeed(dep, rows[i].deposits, 5 * S);
        assert_int_equal(bide_dep_budget_left(dep, 5 * S), rows[i].granted);
        assert_int_equal(fail_many(dep, 200, 5 * S), rows[i].granted);
        end_all(200, 5 * S);
        bide_dep_free(dep);
    }
}

static void budget_window_deposits_only_first_successes(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.budget.ratio = 1;
    conf.budget.floor_per_s = 0.1; /* 1 a window */
    bide_dep *dep = new_dep(&conf);
    (void)state;
    for (int i = 0; i < 20; i++)
        one_call(dep, BIDE_PERMANENT, 0, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1);
    assert_true(fails_and_waits(&calls[0], dep, 0));
    retry(&calls[0], BIDE_SUCCESS, 100 * MS); /* not at the first attempt */
    bide_call_end(&calls[0], 100 * MS);
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 0);
    succeed(dep, 3, 100 * MS);
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 3);
    bide_dep_free(dep);
}

static void budget_window_usual_call_deposits_too(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_true(dep->policy.plain);
    succeed(dep, 50, S);
    assert_int_equal(bide_dep_budget_left(dep, S), 15);
    bide_dep_free(dep);
}

static void budget_window_deposit_call_counts_failures(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.budget.deposit = BIDE_DEPOSIT_CALL;
    conf.budget.floor_per_s = 0;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 9, 0), 0);
    end_all(9, 0);
    assert_int_equal(fail_many(dep, 91, 0), 10);
    retry(&calls[0], BIDE_SUCCESS, 100 * MS); /* the retry deposits nothing */
    end_all(91, 100 * MS);
    assert_int_equal(bide_dep_budget_left(dep, 100 * MS), 9);
    bide_dep_free(dep);
}

/* Deposits leave the window as well: after 15/16 of it at the earliest. */
static void budget_window_deposits_expire(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    conf.budget.floor_per_s = 0;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    succeed(dep, 100, 0);
    assert_int_equal(bide_dep_budget_left(dep, 10 * S - 1), 10);
    assert_int_equal(bide_dep_budget_left(dep, 10 * S), 0);
    bide_dep_free(dep);
}

static void
budget_window_clock_standing_still_or_back_grants_no_more(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    const int64_t times[] = { 100 * S, 100 * S, 99 * S, 95 * S,
                              50 * S,  0,       -5,     INT64_MIN };
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 20, 100 * S), 10);
    end_all(0, 0);
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_false(fails_and_waits(&calls[20], dep, times[i]));
        bide_call_end(&calls[20], times[i]);
    }
    end_all(20, 100 * S);
    assert_int_equal(bide_dep_budget_left(dep, 100 * S), 10);
    bide_dep_free(dep);
}

static void budget_window_short_on_a_clock_from_1970_is_kept(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_WINDOW);
    const int64_t starts[] = { INT64_C(1700000000) * S, INT64_C(5000000000) * S,
                               INT64_MAX - 20 * S };
    (void)state;
    conf.budget.window_ns = 100 * MS;
    conf.budget.floor_per_s = 50;
    for (size_t i = 0; i < COUNT(starts); i++) {
        bide_dep *dep = new_dep(&conf);
        for (int64_t t = starts[i]; t < starts[i] + S; t += 110 * MS) {
            assert_int_equal(fail_many(dep, 20, t), 5);
            end_all(2, t);
            assert_int_equal(bide_dep_budget_left(dep, t), 2);
            for (int k = 2; k < 20; k++)
                if (bide_call_next(&calls[k], t + 100 * MS).action == BIDE_TRY)
                    report(&calls[k], BIDE_SUCCESS, t + 100 * MS);
            for (int k = 2; k < 20; k++)
                bide_call_end(&calls[k], t + 100 * MS);
        }
        bide_dep_free(dep);
    }
}

/* ===== quota ===== */

static bide_policy_conf quota_conf(void)
{
    return conf_of(BIDE_BUDGET_QUOTA);
}

static int64_t tokens(bide_dep *dep)
{
    return atomic_load(&dep->budget.level);
}

/* One retry, after a failure of each kind: what is taken, and what comes back.
 */
static void budget_quota_costs_what_aws_says(void **state)
{
    static const struct {
        bide_outcome failure;
        bide_class retried;
        int64_t waiting, after;
    } rows[] = {
        { { .cls = BIDE_TRANSIENT }, BIDE_SUCCESS, 495, 500 },
        { { .cls = BIDE_TRANSIENT }, BIDE_TRANSIENT, 495, 495 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT },
          BIDE_SUCCESS,
          490,
          500 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT },
          BIDE_PERMANENT,
          490,
          490 },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_RESET },
          BIDE_SUCCESS,
          495,
          500 },
        { { .cls = BIDE_THROTTLED }, BIDE_SUCCESS, 493, 500 },
        { { .cls = BIDE_THROTTLED }, BIDE_THROTTLED, 493, 493 },
        { { .cls = BIDE_TRANSIENT }, BIDE_IGNORED, 495, 500 },
    };
    bide_policy_conf conf = quota_conf();
    (void)state;
    conf.budget.cost_throttled = 7;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        assert_int_equal(tokens(dep), 500);
        assert_int_equal(bide_dep_budget_left(dep, 0), 100);
        start(&calls[0], dep, 0);
        bide_call_report(&calls[0], 1, &rows[i].failure, 0);
        assert_int_equal(bide_call_next(&calls[0], 0).action, BIDE_WAIT);
        assert_int_equal(tokens(dep), rows[i].waiting);
        retry(&calls[0], rows[i].retried, S);
        assert_int_equal(tokens(dep), rows[i].after);
        bide_call_end(&calls[0], S);
        assert_int_equal(tokens(dep), rows[i].after);
        bide_dep_free(dep);
    }
}

static void budget_quota_grants_capacity_over_cost(void **state)
{
    bide_policy_conf conf = quota_conf();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(fail_many(dep, 150, 0), 100);
    assert_int_equal(tokens(dep), 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 0);
    end_all(150, 0); /* all were waiting, and all is given back */
    assert_int_equal(tokens(dep), 500);
    bide_dep_free(dep);

    conf.budget.capacity = 9;
    dep = new_dep(&conf);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1);
    assert_int_equal(fail_many(dep, 3, 0), 1);
    assert_int_equal(tokens(dep), 4);
    end_all(3, 0);
    bide_dep_free(dep);
}

static void budget_quota_first_success_gains_1_up_to_capacity(void **state)
{
    bide_policy_conf conf = quota_conf();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    succeed(dep, 10, 0);
    assert_int_equal(tokens(dep), 500);
    assert_int_equal(fail_many(dep, 100, 0), 100);
    for (int i = 0; i < 100; i++)
        retry(&calls[i], BIDE_TRANSIENT, S);
    end_all(100, S);
    assert_int_equal(tokens(dep), 0);
    for (int i = 1; i <= 600; i++) {
        succeed(dep, 1, S);
        assert_int_equal(tokens(dep), i < 500 ? i : 500);
    }
    one_call(dep, BIDE_PERMANENT, S, S);
    assert_int_equal(tokens(dep), 500);

    /* a refund that does not fit whole is cut to what does */
    assert_true(fails_and_waits(&calls[0], dep, S));
    succeed(dep, 3, S);
    assert_int_equal(tokens(dep), 498);
    retry(&calls[0], BIDE_SUCCESS, 2 * S);
    assert_int_equal(tokens(dep), 500);
    bide_call_end(&calls[0], 2 * S);
    bide_dep_free(dep);
}

static void budget_quota_cost_0_grants_all(void **state)
{
    bide_policy_conf conf = quota_conf();
    conf.budget.cost = 0;
    conf.budget.refund = 0;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_true(bide_dep_budget_left(dep, 0) == BIDE_FOREVER);
    assert_int_equal(fail_many(dep, MANY, 0), MANY);
    end_all(MANY, 0);
    succeed(dep, 1, 0);
    assert_int_equal(tokens(dep), 500);
    bide_dep_free(dep);
}

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

/* ===== throttle ===== */

static bide_policy_conf throttle_conf(double max_tokens, double ratio)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_THROTTLE);
    conf.budget.max_tokens = max_tokens;
    conf.budget.token_ratio = ratio;
    return conf;
}

/* Everything fails: 10 tokens grant exactly 4 retries. */
static void budget_throttle_grants_4_of_10(void **state)
{
    bide_policy_conf conf = throttle_conf(10, 0.1);
    bide_dep *dep = new_dep(&conf);
    int made = 0;
    (void)state;
    for (int64_t t = 0; t < 100 * S; t += S) {
        if (fails_and_waits(&calls[0], dep, t)) {
            made++;
            bide_call_end(&calls[0], t);
        }
        assert_int_equal(bide_dep_budget_left(dep, t), made < 4 ? 4 - made : 0);
    }
    assert_int_equal(made, 4);
    bide_dep_free(dep);
}

/* The failures of retries take tokens too: 10, 9 retry, 8, 7 retry, 6, 5. */
static void budget_throttle_counts_failed_retries(void **state)
{
    bide_policy_conf conf = throttle_conf(10, 0.1);
    conf.attempts = 100;
    bide_dep *dep = new_dep(&conf);
    bide_decision d = begin(&calls[0], dep, 0);
    int attempts = 0;
    int64_t now = 0;
    (void)state;
    while (d.action != BIDE_DONE) {
        if (d.action == BIDE_TRY) {
            attempts++;
            d = report(&calls[0], BIDE_TRANSIENT, now);
        } else {
            now = d.at_ns;
            d = bide_call_next(&calls[0], now);
        }
    }
    assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
    assert_int_equal(attempts, 5);
    bide_call_end(&calls[0], now);
    bide_dep_free(dep);
}

/* {failures before, successes, tokens then in thousandths} */
static void budget_throttle_gains_token_ratio(void **state)
{
    static const struct {
        double max_tokens, ratio;
        int failures, successes;
        int64_t level; /* millionths */
    } rows[] = {
        { 10, 0.1, 10, 0, 0 },
        { 10, 0.1, 20, 0, 0 },
        { 10, 0.1, 10, 1, 100000 },
        { 10, 1, 10, 3, 3000000 },
        { 10, 2, 10, 3, 6000000 },
        { 10, 0.001, 10, 7, 7000 },
        { 10, 0.125, 10, 8, 1000000 },
        { 10, 0.1, 5, 70, 10000000 },
        { 1000, 1000, 999, 1, 1000000000 },
        { 1, 0.5, 1, 1, 500000 },
        { 2.5, 0.1, 1, 0, 1500000 },
        { 2.5, 0.1, 3, 0, 0 },
        { 10, 0.3, 10, 33, 9900000 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf =
            throttle_conf(rows[i].max_tokens, rows[i].ratio);
        bide_dep *dep = new_dep(&conf);
        for (int n = 0; n < rows[i].failures; n++)
            one_call(dep, BIDE_TRANSIENT, 0, 0);
        succeed(dep, rows[i].successes, 0);
        assert_int_equal(tokens(dep), rows[i].level);
        bide_dep_free(dep);
    }
}

/* Which outcomes take a token: what gRPC calls retryable, and a pushback. */
static void budget_throttle_counts_what_could_be_retried(void **state)
{
    static const struct {
        bide_outcome out;
        int64_t level;
    } rows[] = {
        { { .cls = BIDE_TRANSIENT }, 9000000 },
        { { .cls = BIDE_THROTTLED }, 9000000 },
        { { .cls = BIDE_OVERLOADED }, 9000000 },
        { { .cls = BIDE_PERMANENT }, 10000000 },
        { { .cls = BIDE_PERMANENT, .refused = true }, 9000000 },
        { { .cls = BIDE_IGNORED }, 10000000 },
        { { .cls = BIDE_SUCCESS }, 10000000 },
    };
    bide_policy_conf conf = throttle_conf(10, 0.1);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        start(&calls[0], dep, 0);
        bide_call_report(&calls[0], 1, &rows[i].out, 0);
        bide_call_end(&calls[0], 0);
        assert_int_equal(tokens(dep), rows[i].level);
        bide_dep_free(dep);
    }
}

static void budget_throttle_grants_again_above_half(void **state)
{
    bide_policy_conf conf = throttle_conf(10, 1);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    fail_many(dep, 10, 0);
    end_all(10, 0);
    succeed(dep, 6, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 0);
    assert_false(fails_and_waits(&calls[0], dep, 0)); /* 5 is not above half */
    bide_call_end(&calls[0], 0);
    succeed(dep, 2, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 1);
    assert_true(fails_and_waits(&calls[0], dep, 0));
    bide_call_end(&calls[0], 0);
    bide_dep_free(dep);
}

/* ===== in_flight ===== */

/* 1000 calls fail at one instant: those that wait for their retry count, so a
 * fifth of the calls may, and not all of them. */
static void budget_in_flight_counts_those_that_wait(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_IN_FLIGHT);
    conf.budget.ratio = 0.2;
    bide_dep *dep = new_dep(&conf);
    int granted = 0, sent = 0;
    (void)state;
    for (int i = 0; i < MANY; i++)
        start(&calls[i], dep, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 200);
    for (int i = 0; i < MANY; i++)
        granted += report(&calls[i], BIDE_TRANSIENT, S).action == BIDE_WAIT;
    assert_int_equal(granted, 200);
    assert_int_equal(bide_dep_budget_left(dep, S), 0);
    for (int i = 0; i < MANY; i++)
        sent += bide_call_next(&calls[i], 2 * S).action == BIDE_TRY;
    assert_int_equal(sent, 200);
    assert_int_equal(tokens(dep), 200);
    end_all(MANY, 2 * S);
    assert_int_equal(tokens(dep), 0);
    bide_dep_free(dep);
}

static void budget_in_flight_floor_is_always_granted(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_IN_FLIGHT);
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_int_equal(bide_dep_budget_left(dep, 0), 3);
    assert_int_equal(fail_many(dep, 10, 0), 3);
    retry(&calls[0], BIDE_TRANSIENT, S); /* released by whatever outcome */
    assert_int_equal(bide_dep_budget_left(dep, S), 1);
    assert_true(fails_and_waits(&calls[10], dep, S));
    end_all(11, S);
    assert_int_equal(bide_dep_budget_left(dep, S), 3);
    bide_dep_free(dep);

    conf.budget.min_in_flight = 0;
    dep = new_dep(&conf);
    assert_int_equal(fail_many(dep, 9, 0), 0);
    assert_true(fails_and_waits(&calls[9], dep, 0)); /* the tenth: 10 % is 1 */
    end_all(10, 0);
    bide_dep_free(dep);
}

/* 29 % of 100 calls is 29 here too. */
static void budget_in_flight_share_is_not_cut_off(void **state)
{
    bide_policy_conf conf = conf_of(BIDE_BUDGET_IN_FLIGHT);
    conf.budget.ratio = 0.29;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    for (int i = 0; i < 100; i++)
        start(&calls[i], dep, 0);
    assert_int_equal(bide_dep_budget_left(dep, 0), 29);
    end_all(100, 0);
    bide_dep_free(dep);
}

/* ===== the gauge ===== */

/* Asks a copy of the budget for one retry after another, as calls that fail
 * would. */
static int64_t would_grant(const bide_dep *dep, int64_t now)
{
    struct bide__budget copy;
    struct bide__ticket ticket = { 0, 0 };
    int64_t n = 0;
    memcpy(&copy, &dep->budget, sizeof copy);
    for (;; n++) {
        bide__budget_report(&copy, &dep->policy, BIDE_TRANSIENT, false, true);
        if (!bide__budget_take(&copy, &dep->policy, dep->lanes, BIDE_TRANSIENT,
                               false, now, &ticket))
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
        cmocka_unit_test(budget_off_grants_all),
        cmocka_unit_test(budget_window_starts_with_the_floor),
        cmocka_unit_test(budget_window_cancelled_in_the_wait_is_given_back),
        cmocka_unit_test(budget_window_retry_that_was_made_stays_spent),
        cmocka_unit_test(budget_window_expires_exactly),
        cmocka_unit_test(
            budget_window_given_back_after_it_expired_does_nothing),
        cmocka_unit_test(budget_window_share_is_not_cut_off),
        cmocka_unit_test(budget_window_deposits_only_first_successes),
        cmocka_unit_test(budget_window_usual_call_deposits_too),
        cmocka_unit_test(budget_window_deposit_call_counts_failures),
        cmocka_unit_test(budget_window_deposits_expire),
        cmocka_unit_test(
            budget_window_clock_standing_still_or_back_grants_no_more),
        cmocka_unit_test(budget_window_short_on_a_clock_from_1970_is_kept),
        cmocka_unit_test(budget_quota_costs_what_aws_says),
        cmocka_unit_test(budget_quota_grants_capacity_over_cost),
        cmocka_unit_test(budget_quota_first_success_gains_1_up_to_capacity),
        cmocka_unit_test(budget_quota_cost_0_grants_all),
        cmocka_unit_test(budget_is_whole_after_every_ending),
        cmocka_unit_test(budget_throttle_grants_4_of_10),
        cmocka_unit_test(budget_throttle_counts_failed_retries),
        cmocka_unit_test(budget_throttle_gains_token_ratio),
        cmocka_unit_test(budget_throttle_counts_what_could_be_retried),
        cmocka_unit_test(budget_throttle_grants_again_above_half),
        cmocka_unit_test(budget_in_flight_counts_those_that_wait),
        cmocka_unit_test(budget_in_flight_floor_is_always_granted),
        cmocka_unit_test(budget_in_flight_share_is_not_cut_off),
        cmocka_unit_test(budget_gauge_is_what_would_be_granted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
