/* test_breaker_half_open.c: probes: capped, reclaimed, and not retried. */
#include "breaker_steps.h"

static void breaker_half_open_lets_probes_through(void **state)
{
    (void)state;
    for (uint32_t probes = 1; probes <= 16; probes++) {
        bide_policy_conf conf = steady();
        conf.breaker.probes = probes;
        bide_dep *dep = new_dep(&conf);
        int64_t now = trip(dep, 0);
        bide_call calls[16];
        for (uint32_t i = 0; i < probes; i++)
            start(&calls[i], dep, now);
        assert_true(refused(dep, now).at_ns == BIDE_FOREVER);
        for (uint32_t i = 0; i < probes; i++) {
            /* a result that is in takes a probe's part as one that is out */
            refused(dep, now);
            assert_int_equal(view_of(dep, now).attempts, i);
            report(&calls[i], BIDE_SUCCESS, now);
            bide_call_end(&calls[i], now);
        }
        assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
        one_call(dep, BIDE_SUCCESS, now, now);
        bide_dep_free(dep);
    }
}

static void breaker_half_open_one_failure_reopens(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t now = trip(dep, 0);
    bide_call calls[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        start(&calls[i], dep, now);
    report(&calls[0], BIDE_SUCCESS, now);
    report(&calls[1], BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    report(&calls[2], BIDE_SUCCESS, now); /* too late to close anything */
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    for (int i = 0; i < 3; i++)
        bide_call_end(&calls[i], now);
    assert_int_equal(stats_of(dep, now).late_reports, 1);
    assert_int_equal(stats_of(dep, now).breaker_to[BIDE_BREAKER_OPEN], 2);
    bide_dep_free(dep);
}

/* Slow probes reopen it, and for longer, by the rate that slow attempts open it
 * by; {rate, how many of 4 probes are slow, the state then} */
static void breaker_half_open_slow_probes_reopen(void **state)
{
    static const struct {
        double rate;
        int slow;
        bide_breaker_state then;
    } rows[] = {
        { 1, 4, BIDE_BREAKER_OPEN },     { 1, 3, BIDE_BREAKER_CLOSED },
        { 0.5, 2, BIDE_BREAKER_OPEN },   { 0.5, 1, BIDE_BREAKER_CLOSED },
        { 0.01, 0, BIDE_BREAKER_CLOSED },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = steady();
        conf.breaker.probes = 4;
        conf.breaker.slow_rate = rows[i].rate;
        conf.breaker.slow_ns = S;
        bide_dep *dep = new_dep(&conf);
        int64_t now = S;
        while (bide_dep_breaker(dep, now) == BIDE_BREAKER_CLOSED)
            one_call(dep, BIDE_SUCCESS, now - S, now);
        int64_t opened = now;
        now = view_of(dep, now).open_until_ns;
        assert_true(now - opened <= 30 * S);
        for (int k = 0; k < 4; k++)
            one_call(dep, BIDE_SUCCESS, now, now + (k < rows[i].slow) * S);
        if (bide_dep_breaker(dep, now + S) != rows[i].then)
            fail_msg("row %zu", i);
        if (rows[i].then == BIDE_BREAKER_OPEN)
            assert_true(view_of(dep, now + S).open_until_ns - now > 59 * S);
        bide_dep_free(dep);
    }
}

/* {rate, outcomes of 4 probes, the state after each} */
static void breaker_half_open_by_rate(void **state)
{
    static const struct {
        double rate;
        const char *probes, *states;
    } rows[] = {
        { 0, "f", "o" },          { 0, "ssf", "hho" },
        { 0, "ssss", "hhhc" },    { 0.5, "ffss", "hhho" },
        { 0.5, "fsss", "hhhc" },  { 0.5, "ssff", "hhho" },
        { 0.25, "sssf", "hhho" }, { 1, "fffs", "hhhc" },
        { 1, "ffff", "hhho" },    { 0.5, "ifisisis", "hhhhhhhc" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = steady();
        conf.breaker.probes = 4;
        conf.breaker.probe_failure_rate = rows[i].rate;
        bide_dep *dep = new_dep(&conf);
        int64_t now = trip(dep, 0);
        for (const char *p = rows[i].probes, *s = rows[i].states; *p;
             p++, s++) {
            bide_class cls = *p == 's'   ? BIDE_SUCCESS
                             : *p == 'f' ? BIDE_TRANSIENT
                                         : BIDE_IGNORED;
            one_call(dep, cls, now, now);
            if ("coh"[bide_dep_breaker(dep, now)] != *s)
                fail_msg("row %zu, after %s", i, p);
        }
        bide_dep_free(dep);
    }
}

/* A probe that never reports gives its place up when its attempt must be over;
 * what it says after that is still heard, its place is no longer its own. */
static void breaker_half_open_silent_probe_is_reclaimed(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.probes = 1;
    bide_dep *dep = new_dep(&conf);
    int64_t now = trip(dep, 0);
    bide_call silent, next;
    (void)state;
    start(&silent, dep, now);
    refused(dep, now + 10 * S - 1);
    start(&next, dep, now + 10 * S);
    bide_call_end(&silent,
                  now + 11 * S); /* the first one is given up at last */
    refused(dep, now + 11 * S);  /* the second still has the place */
    report(&next, BIDE_SUCCESS, now + 12 * S);
    bide_call_end(&next, now + 12 * S);
    assert_int_equal(bide_dep_breaker(dep, now + 12 * S), BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

static void breaker_half_open_reclaimed_probe_is_still_heard(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.probes = 1;
    conf.attempt_timeout_ns = BIDE_FOREVER; /* then the longest open time */
    bide_dep *dep = new_dep(&conf);
    int64_t now = trip(dep, 0);
    bide_call silent, next;
    (void)state;
    start(&silent, dep, now);
    refused(dep, now + 300 * S - 1);
    now += 300 * S;
    start(&next, dep, now);
    report(&silent, BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    report(&next, BIDE_SUCCESS, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    bide_call_end(&silent, now);
    bide_call_end(&next, now);
    bide_dep_free(dep);
}

/* A probe of an earlier half-open time holds its place in the next one. */
static void breaker_half_open_counts_probes_of_before(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.probes = 2;
    conf.breaker.open_ns = conf.breaker.open_max_ns = S;
    bide_dep *dep = new_dep(&conf);
    int64_t now = trip(dep, 0);
    bide_call slow, bad, next;
    (void)state;
    start(&slow, dep, now);
    start(&bad, dep, now);
    report(&bad, BIDE_TRANSIENT, now);
    bide_call_end(&bad, now);
    now += S;
    start(&next, dep, now);
    refused(dep, now);
    report(&slow, BIDE_TRANSIENT, now); /* dropped, but it leaves */
    bide_call_end(&slow, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    one_call(dep, BIDE_SUCCESS, now, now);
    report(&next, BIDE_SUCCESS, now);
    bide_call_end(&next, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

static void breaker_half_open_ignored_probe_is_neutral(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t now = trip(dep, 0);
    bide_call call;
    (void)state;
    for (int i = 0; i < 20; i++) {
        one_call(dep, i % 2 ? BIDE_IGNORED : BIDE_THROTTLED, now, now);
        start(&call, dep, now);
        bide_call_cancel(&call); /* cancelled, or given up */
        bide_call_end(&call, now);
        assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
        assert_int_equal(view_of(dep, now).attempts, 0);
    }
    recover(dep, now);
    bide_dep_free(dep);
}

static void breaker_half_open_probe_is_not_retried(void **state)
{
    static const bide_class classes[] = { BIDE_TRANSIENT, BIDE_THROTTLED };
    bide_policy_conf conf = steady();
    (void)state;
    conf.attempts = 4;
    for (size_t i = 0; i < COUNT(classes); i++) {
        bide_dep *dep = new_dep(&conf);
        int64_t now = trip(dep, 0);
        bide_call call;
        start(&call, dep, now);
        bide_decision d = report(&call, classes[i], now);
        assert_int_equal(d.action, BIDE_DONE);
        assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
        if (classes[i] == BIDE_TRANSIENT)
            assert_in_range(d.at_ns - now, 60 * S - UNIT, 60 * S);
        bide_call_end(&call, now);
        bide_dep_free(dep);
    }
}

/* The retry of a call from before may become a probe. */
static void breaker_half_open_lets_a_waiting_retry_through(void **state)
{
    bide_policy_conf conf = steady();
    conf.attempts = 4;
    conf.backoff.base_ns = 29 * S;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    bide_dep *dep = new_dep(&conf);
    bide_call early, call;
    (void)state;
    start(&early, dep, 0);
    start(&call, dep, 0);
    assert_int_equal(report(&early, BIDE_TRANSIENT, 0).action, BIDE_WAIT);
    bide_decision d = report(&call, BIDE_TRANSIENT, 0);
    assert_int_equal(d.action, BIDE_WAIT);
    int64_t until = trip(dep, 0);
    assert_int_equal(bide_call_next(&early, until - 1).reason,
                     BIDE_BECAUSE_BREAKER_OPEN);
    assert_int_equal(bide_call_next(&call, until).action, BIDE_TRY);
    report(&call, BIDE_SUCCESS, until);
    assert_int_equal(view_of(dep, until).attempts, 1);
    bide_call_end(&early, until);
    bide_call_end(&call, until);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_half_open_lets_probes_through),
        cmocka_unit_test(breaker_half_open_one_failure_reopens),
        cmocka_unit_test(breaker_half_open_slow_probes_reopen),
        cmocka_unit_test(breaker_half_open_by_rate),
        cmocka_unit_test(breaker_half_open_silent_probe_is_reclaimed),
        cmocka_unit_test(breaker_half_open_reclaimed_probe_is_still_heard),
        cmocka_unit_test(breaker_half_open_counts_probes_of_before),
        cmocka_unit_test(breaker_half_open_ignored_probe_is_neutral),
        cmocka_unit_test(breaker_half_open_probe_is_not_retried),
        cmocka_unit_test(breaker_half_open_lets_a_waiting_retry_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
