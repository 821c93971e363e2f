/* test_breaker.c: when the breaker opens, for how long, and how it is probed.
 */
#include "breaker.h"
#include "fixture.h"

#define UNIT (INT64_C(1) << 16) /* the time that an open breaker is kept in */

/* One attempt a call; open for exactly 30 s, 60 s, ... */
static bide_policy_conf steady(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    conf.breaker.open_jitter = 0;
    return conf;
}

static void many(bide_dep *dep, bide_class cls, int n, int64_t now)
{
    for (int i = 0; i < n; i++)
        one_call(dep, cls, now, now);
}

static bide_breaker_view view_of(const bide_dep *dep, int64_t now)
{
    bide_breaker_view view;
    assert_int_equal(bide_dep_breaker_view(dep, now, &view), 0);
    return view;
}

/* Fails until it is open; gives when it may be probed. */
static int64_t trip(bide_dep *dep, int64_t now)
{
    while (bide_dep_breaker(dep, now) == BIDE_BREAKER_CLOSED)
        one_call(dep, BIDE_TRANSIENT, now, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    return view_of(dep, now).open_until_ns;
}

/* Lets the probes through, one after the other. */
static void recover(bide_dep *dep, int64_t now)
{
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    many(dep, BIDE_SUCCESS, (int)bide_dep_policy(dep)->breaker.probes, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
}

static bide_decision refused(bide_dep *dep, int64_t now)
{
    bide_call call;
    bide_decision d = begin(&call, dep, now);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    bide_call_end(&call, now);
    return d;
}

/* ===== opening ===== */

static void breaker_opens_at_min_calls_and_rate(void **state)
{
    static const struct {
        double rate;
        uint32_t min_calls;
        int good, bad, good_again, bad_again;
        bool open;
    } rows[] = {
        { 0.5, 20, 0, 19, 0, 0, false },
        { 0.5, 20, 0, 20, 0, 0, true },
        { 0.5, 20, 10, 9, 0, 0, false },
        { 0.5, 20, 10, 10, 0, 0, true },
        { 0.5, 20, 11, 10, 0, 0, false },
        { 0.5, 20, 11, 11, 0, 0, true },
        { 0.5, 20, 50, 49, 0, 0, false },
        { 0.5, 20, 50, 50, 0, 0, true },
        /* good news opens nothing, the next bad news does */
        { 0.5, 20, 0, 10, 10, 0, false },
        { 0.5, 20, 0, 10, 10, 1, true },
        { 1, 20, 1, 60, 0, 0, false },
        { 1, 20, 0, 20, 0, 0, true },
        { 0.5, 1, 0, 1, 0, 0, true },
        { 0.5, 1, 0, 0, 9, 0, false },
        { 0.29, 100, 71, 28, 0, 0, false },
        { 0.29, 100, 71, 29, 0, 0, true },
        { 0.01, 10, 100, 1, 0, 0, false },
        { 0.01, 10, 99, 1, 0, 0, true },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = steady();
        conf.breaker.failure_rate = rows[i].rate;
        conf.breaker.min_calls = rows[i].min_calls;
        bide_dep *dep = new_dep(&conf);
        many(dep, BIDE_SUCCESS, rows[i].good, S);
        many(dep, BIDE_TRANSIENT, rows[i].bad, S);
        many(dep, BIDE_SUCCESS, rows[i].good_again, S);
        many(dep, BIDE_TRANSIENT, rows[i].bad_again, S);
        if ((bide_dep_breaker(dep, S) == BIDE_BREAKER_OPEN) != rows[i].open)
            fail_msg("row %zu", i);
        bide_dep_free(dep);
    }
}

/* What an attempt says about the dependency. */
static void breaker_counts_by_outcome(void **state)
{
    static const struct {
        bide_outcome out;
        uint64_t attempts, failed;
    } rows[] = {
        { { .cls = BIDE_SUCCESS }, 1, 0 },
        { { .cls = BIDE_TRANSIENT }, 1, 1 },
        { { .cls = BIDE_OVERLOADED }, 1, 1 },
        { { .cls = BIDE_THROTTLED }, 0, 0 },
        { { .cls = BIDE_IGNORED }, 0, 0 },
        { { .cls = BIDE_PERMANENT, .status = 404 }, 1, 0 },
        { { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_TLS }, 1, 1 },
    };
    bide_policy_conf conf = steady();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        start(&call, dep, 0);
        bide_call_report(&call, 1, &rows[i].out, 0);
        bide_call_end(&call, 0);
        assert_int_equal(view_of(dep, 0).attempts, rows[i].attempts);
        assert_int_equal(view_of(dep, 0).failed, rows[i].failed);
        bide_dep_free(dep);
    }
}

static void breaker_window_slides(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    many(dep, BIDE_TRANSIENT, 19, 0);
    assert_int_equal(view_of(dep, 9999 * MS).attempts, 19);
    assert_int_equal(view_of(dep, 10 * S).attempts, 0);
    many(dep, BIDE_TRANSIENT, 19, 10 * S); /* the first 19 are gone */
    assert_int_equal(bide_dep_breaker(dep, 10 * S), BIDE_BREAKER_CLOSED);
    many(dep, BIDE_TRANSIENT, 1, 19 * S);
    assert_int_equal(bide_dep_breaker(dep, 19 * S), BIDE_BREAKER_OPEN);
    bide_dep_free(dep);
}

/* {how long each attempt takes, its outcome, how many, the state then} */
static void breaker_opens_by_slow_attempts(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.slow_ns = S;
    conf.breaker.slow_rate = 0.5;
    conf.breaker.min_calls = 10;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    for (int i = 0; i < 6; i++)
        one_call(dep, BIDE_SUCCESS, 0, S - 1);
    for (int i = 0; i < 5; i++)
        one_call(dep, BIDE_SUCCESS, 0, S); /* just slow */
    assert_int_equal(bide_dep_breaker(dep, S), BIDE_BREAKER_CLOSED);
    assert_int_equal(view_of(dep, S).slow, 5);
    assert_int_equal(view_of(dep, S).failed, 0);
    one_call(dep, BIDE_SUCCESS, 0, 2 * S);
    assert_int_equal(bide_dep_breaker(dep, 2 * S), BIDE_BREAKER_OPEN);
    bide_dep_free(dep);
}

static void breaker_opens_by_failures_in_a_row(void **state)
{
    bide_policy_conf conf = steady();
    static const bide_class between[] = { BIDE_SUCCESS, BIDE_PERMANENT,
                                          BIDE_IGNORED, BIDE_THROTTLED };
    (void)state;
    conf.breaker.consecutive = 5;
    for (size_t i = 0; i < COUNT(between); i++) {
        bool neutral = i >= 2;
        bide_dep *dep = new_dep(&conf);
        many(dep, BIDE_TRANSIENT, 4, 0);
        many(dep, between[i], 1, 60 * S); /* no window for these */
        many(dep, BIDE_TRANSIENT, 1, 60 * S);
        assert_int_equal(bide_dep_breaker(dep, 60 * S),
                         neutral ? BIDE_BREAKER_OPEN : BIDE_BREAKER_CLOSED);
        if (!neutral)
            many(dep, BIDE_TRANSIENT, 4, 60 * S);
        assert_int_equal(bide_dep_breaker(dep, 60 * S), BIDE_BREAKER_OPEN);
        recover(dep, 90 * S); /* and those of before do not count */
        many(dep, BIDE_TRANSIENT, 4, 90 * S);
        assert_int_equal(bide_dep_breaker(dep, 90 * S), BIDE_BREAKER_CLOSED);
        many(dep, BIDE_TRANSIENT, 1, 90 * S);
        assert_int_equal(bide_dep_breaker(dep, 90 * S), BIDE_BREAKER_OPEN);
        bide_dep_free(dep);
    }
}

/* ===== open ===== */

static void breaker_open_refuses_until_its_time(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t until = trip(dep, 7 * S);
    (void)state;
    assert_in_range(until, 37 * S - UNIT, 37 * S);
    assert_true(refused(dep, 7 * S).at_ns == until);
    assert_true(refused(dep, until - 1).at_ns == until);
    assert_int_equal(bide_dep_breaker(dep, until - 1), BIDE_BREAKER_OPEN);
    assert_int_equal(bide_dep_breaker(dep, until), BIDE_BREAKER_HALF_OPEN);
    one_call(dep, BIDE_SUCCESS, until, until);
    assert_int_equal(stats_of(dep, until).breaker_to[BIDE_BREAKER_HALF_OPEN],
                     1);
    bide_dep_free(dep);
}

static void breaker_open_ends_a_call_before_its_budget(void **state)
{
    bide_policy_conf conf = steady();
    conf.attempts = 4;
    bide_dep *dep = new_dep(&conf);
    bide_call call;
    (void)state;
    start(&call, dep, 0);
    int64_t until = trip(dep, 0);
    bide_decision d = report(&call, BIDE_TRANSIENT, 0);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    assert_true(d.at_ns == until);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void breaker_open_time_is_spread(void **state)
{
    bide_policy_conf conf = steady();
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 5);
    int64_t least = BIDE_FOREVER, most = 0, sum = 0;
    (void)state;
    conf.breaker.open_jitter = 0.2;
    conf.breaker.min_calls = 1;
    for (int i = 0; i < 2000; i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        bide_op op = { .rng = &rng };
        bide_call_begin(&call, dep, &op, S);
        bide_call_next(&call, S);
        report(&call, BIDE_TRANSIENT, S);
        bide_call_end(&call, S);
        int64_t open = view_of(dep, S).open_until_ns - S;
        least = open < least ? open : least;
        most = open > most ? open : most;
        sum += open / 2000;
        bide_dep_free(dep);
    }
    assert_in_range(least, 30 * S - UNIT, 30 * S + 50 * MS);
    assert_in_range(most, 36 * S - 50 * MS, 36 * S);
    assert_in_range(sum, 33 * S - 160 * MS, 33 * S + 160 * MS); /* 4 sigma */
}

/* Each reopening in a row doubles the time, up to the most; closing starts
 * over. */
static void breaker_open_time_grows(void **state)
{
    static const int64_t seconds[] = { 30, 60, 120, 240, 300, 300, 300 };
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t now = 0;
    (void)state;
    for (int round = 0; round < 2; round++) {
        int64_t until = trip(dep, now);
        for (size_t i = 0; i < COUNT(seconds); i++) {
            assert_in_range(until - now, seconds[i] * S - UNIT, seconds[i] * S);
            now = until;
            if (i + 1 < COUNT(seconds)) {
                many(dep, BIDE_TRANSIENT, 1, now); /* one failed probe */
                assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
                until = view_of(dep, now).open_until_ns;
            }
        }
        recover(dep, now);
    }
    bide_dep_free(dep);
}

static void breaker_hint_lengthens_open_time(void **state)
{
    static const struct {
        bool hinted;
        int64_t hint_s, open_s;
    } rows[] = {
        { false, 100, 30 }, { true, 0, 30 },     { true, 10, 30 },
        { true, 31, 31 },   { true, 100, 100 },  { true, 300, 300 },
        { true, 301, 300 }, { true, 3600, 300 }, { true, 9000000, 300 }
    };
    bide_policy_conf conf = steady();
    (void)state;
    conf.breaker.min_calls = 1;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int probe = 0; probe < 2; probe++) {
            bide_dep *dep = new_dep(&conf);
            int64_t now = probe ? trip(dep, 0) : 0;
            int64_t open_s = probe && rows[i].open_s < 60 ? 60 : rows[i].open_s;
            bide_outcome out = { .cls = BIDE_TRANSIENT,
                                 .hinted = rows[i].hinted,
                                 .hint_ns = rows[i].hint_s * S };
            bide_call call;
            start(&call, dep, now);
            bide_call_report(&call, 1, &out, now);
            bide_call_end(&call, now);
            assert_in_range(view_of(dep, now).open_until_ns - now,
                            open_s * S - UNIT, open_s * S);
            bide_dep_free(dep);
        }
    }
}

/* ===== half-open ===== */

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

/* ===== generations ===== */

static void breaker_late_results_are_dropped_and_counted(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    bide_call late[30];
    (void)state;
    for (int i = 0; i < 30; i++)
        start(&late[i], dep, 0);
    int64_t now = trip(dep, 0);
    report(&late[0], BIDE_SUCCESS, 0);
    assert_int_equal(stats_of(dep, now).late_reports, 1);
    one_call(dep, BIDE_SUCCESS, now, now);
    report(&late[1], BIDE_TRANSIENT, now); /* is no probe, so reopens nothing */
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    many(dep, BIDE_SUCCESS, 2, now);
    for (int i = 2; i < 30; i++)
        report(&late[i], BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
    assert_int_equal(view_of(dep, now).attempts, 0);
    assert_int_equal(stats_of(dep, now).late_reports, 30);
    for (int i = 0; i < 30; i++)
        bide_call_end(&late[i], now);
    bide_dep_free(dep);
}

/* Closing starts from nothing, though the failures of before are in the time
 * window still. */
static void breaker_recovered_forgets_the_old_window(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.open_ns = conf.breaker.open_max_ns = 10 * MS;
    bide_dep *dep = new_dep(&conf);
    int64_t now = 0;
    (void)state;
    for (int round = 0; round < 5; round++) {
        many(dep, BIDE_TRANSIENT, 19, now);
        assert_int_equal(view_of(dep, now).failed, 19);
        assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
        now = trip(dep, now);
        recover(dep, now);
        assert_int_equal(view_of(dep, now).attempts, 0);
    }
    bide_dep_free(dep);
}

/* An outage with any number of reopenings leaves a breaker that still works. */
static void regress_breaker_opens_after_a_long_outage(void **state)
{
    (void)state;
    for (int kind = BIDE_BREAKER_TIME; kind <= BIDE_BREAKER_COUNT; kind++) {
        for (int reopenings = 1; reopenings < 300; reopenings += 7) {
            bide_policy_conf conf = steady();
            conf.breaker.kind = (bide_breaker_kind)kind;
            bide_dep *dep = new_dep(&conf);
            for (int64_t t = 0; t < 10 * S; t += S / 2)
                many(dep, BIDE_SUCCESS, 8, t); /* all slots are in use */
            int64_t now = trip(dep, 10 * S);
            for (int i = 0; i < reopenings; i++) {
                many(dep, BIDE_TRANSIENT, 1, now);
                now = view_of(dep, now).open_until_ns;
            }
            recover(dep, now);
            many(dep, BIDE_TRANSIENT, 19, now);
            assert_int_equal(view_of(dep, now).failed, 19);
            assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
            many(dep, BIDE_TRANSIENT, 1, now);
            assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
            bide_dep_free(dep);
        }
    }
}

static void breaker_generation_goes_round(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.min_calls = 1;
    conf.breaker.probes = 1;
    conf.breaker.open_ns = conf.breaker.open_max_ns = MS;
    bide_dep *dep = new_dep(&conf);
    int64_t now = 0;
    (void)state;
    for (int i = 0; i < 12000; i++) { /* 36 000 transitions, past 2^15 */
        now = trip(dep, now);
        recover(dep, now);
    }
    assert_int_equal(stats_of(dep, now).breaker_to[BIDE_BREAKER_CLOSED], 12000);
    assert_int_equal(stats_of(dep, now).late_reports, 0);
    bide_dep_free(dep);
}

/* ===== modes ===== */

static void breaker_forced_open_refuses_all(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.mode = BIDE_BREAKER_FORCED_OPEN;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    assert_true(refused(dep, 0).at_ns == BIDE_FOREVER);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);
    assert_int_equal(view_of(dep, 0).mode, BIDE_BREAKER_FORCED_OPEN);
    assert_int_equal(bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL), 0);
    assert_int_equal(view_of(dep, 0).mode, BIDE_BREAKER_NORMAL);
    many(dep, BIDE_SUCCESS, 5, 0);
    assert_int_equal(stats_of(dep, 0).breaker_to[BIDE_BREAKER_OPEN], 0);

    /* and a call that runs meanwhile gets no retry */
    bide_call call;
    start(&call, dep, 0);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_OPEN);
    bide_decision d = report(&call, BIDE_THROTTLED, 0);
    assert_int_equal(d.action, BIDE_DONE);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

static void breaker_forced_closed_refuses_none(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.mode = BIDE_BREAKER_FORCED_CLOSED;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    many(dep, BIDE_TRANSIENT, 50, 0);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_CLOSED);
    assert_int_equal(stats_of(dep, 0).breaker_to[BIDE_BREAKER_OPEN], 0);
    assert_int_equal(view_of(dep, 0).failed,
                     50); /* what it has counted stays */
    bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL);
    many(dep, BIDE_TRANSIENT, 1, 0);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);

    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_CLOSED);
    many(dep, BIDE_TRANSIENT, 50, S); /* though it is open underneath */
    assert_int_equal(bide_dep_breaker(dep, S), BIDE_BREAKER_CLOSED);
    bide_dep_force_breaker(dep, BIDE_BREAKER_NORMAL);
    refused(dep, S);
    bide_dep_free(dep);
}

static void breaker_dry_run_counts_and_never_refuses(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    int64_t now = trip(dep, 0);
    many(dep, BIDE_TRANSIENT, 100, 0); /* not refused */
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    bide_call calls[10];
    for (int i = 0; i < 10; i++)
        start(&calls[i], dep, now); /* three of them are probes */
    for (int i = 3; i < 10; i++)
        report(&calls[i], BIDE_TRANSIENT, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    for (int i = 0; i < 3; i++)
        report(&calls[i], BIDE_SUCCESS, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
    for (int i = 0; i < 10; i++)
        bide_call_end(&calls[i], now);
    bide_stats s = stats_of(dep, now);
    assert_int_equal(s.breaker_to[BIDE_BREAKER_OPEN], 1);
    assert_int_equal(s.breaker_to[BIDE_BREAKER_HALF_OPEN], 1);
    assert_int_equal(s.breaker_to[BIDE_BREAKER_CLOSED], 1);
    assert_int_equal(s.done[BIDE_BECAUSE_BREAKER_OPEN], 0);
    bide_dep_free(dep);
}

static void regress_breaker_dry_run_retries_a_probe(void **state)
{
    bide_policy_conf conf = steady();
    conf.attempts = 4;
    conf.breaker.mode = BIDE_BREAKER_DRY_RUN;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    int64_t now = trip(dep, 0);
    bide_call call;
    start(&call, dep, now);
    assert_int_equal(report(&call, BIDE_TRANSIENT, now).action, BIDE_WAIT);
    bide_call_end(&call, now);
    bide_dep_free(dep);
}

/* Hedges go out while the breaker is closed, or is not to be listened to. */
static void regress_breaker_modes_let_hedges_through(void **state)
{
    static const struct {
        bide_breaker_mode mode;
        bool tripped, hedged;
    } rows[] = {
        { BIDE_BREAKER_NORMAL, false, true },
        { BIDE_BREAKER_NORMAL, true, false },
        { BIDE_BREAKER_FORCED_OPEN, false, false },
        { BIDE_BREAKER_FORCED_CLOSED, false, true },
        { BIDE_BREAKER_FORCED_CLOSED, true, true },
        { BIDE_BREAKER_DRY_RUN, false, true },
        { BIDE_BREAKER_DRY_RUN, true, true },
    };
    bide_policy_conf conf = steady();
    (void)state;
    conf.hedge.max = 1;
    conf.hedge.after_ns = 10 * MS;
    conf.hedge.extra_load = 1;
    conf.budget.kind = BIDE_BUDGET_OFF;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep = new_dep(&conf);
        bide_call call;
        start(&call, dep, 0);
        if (rows[i].tripped)
            trip(dep, 0);
        bide_dep_force_breaker(dep, rows[i].mode);
        bide_decision d = bide_call_next(&call, 10 * MS);
        if ((d.action == BIDE_TRY) != rows[i].hedged)
            fail_msg("row %zu", i);
        bide_call_end(&call, 10 * MS);
        bide_dep_free(dep);
    }
}

static void breaker_bad_mode_is_refused(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    bide_breaker_view view;
    (void)state;
    assert_int_equal(bide_dep_force_breaker(NULL, BIDE_BREAKER_NORMAL),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)4),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_force_breaker(dep, (bide_breaker_mode)-1),
                     BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker_view(NULL, 0, &view), BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker_view(dep, 0, NULL), BIDE_EINVAL);
    assert_int_equal(bide_dep_breaker(NULL, 0), BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

static void breaker_off_never_opens(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.kind = BIDE_BREAKER_OFF;
    bide_dep *dep = new_dep(&conf);
    (void)state;
    many(dep, BIDE_TRANSIENT, 500, 0);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_CLOSED);
    bide_dep_free(dep);
}

/* ===== the callback ===== */

struct watcher {
    bide_dep *dep;
    int n;
    char seen[64]; /* "co" for closed to open, and so on */
    bool inside;
};

/* Calls back into the dependency: reads it, and makes whole calls. */
static void watch(void *ctx, const bide_dep *dep, bide_breaker_state from,
                  bide_breaker_state to, int64_t now)
{
    struct watcher *w = ctx;
    bide_stats s;
    bide_call call;
    assert_ptr_equal(dep, w->dep);
    w->seen[w->n++] = "coh"[from];
    w->seen[w->n++] = "coh"[to];
    bide_dep_stats(dep, now, &s);
    assert_int_equal(s.breaker, to);
    if (w->inside)
        return;
    w->inside = true;
    bide_decision d = begin(&call, w->dep, now);
    assert_int_equal(d.action, to == BIDE_BREAKER_OPEN ? BIDE_DONE : BIDE_TRY);
    if (d.action == BIDE_TRY)
        report(&call, BIDE_SUCCESS, now);
    bide_call_end(&call, now);
    w->inside = false;
}

static void breaker_callback_is_called_once_per_transition(void **state)
{
    bide_policy_conf conf = steady();
    struct watcher w = { .n = 0 };
    bide_dep *dep =
        new_dep_in(&conf, (bide_host){ .ctx = &w, .on_breaker = watch });
    (void)state;
    w.dep = dep;
    w.inside = true; /* first without the calls */
    int64_t now = trip(dep, 0);
    assert_string_equal(w.seen, "co");
    refused(dep, now - 1);
    one_call(dep, BIDE_TRANSIENT, now, now);
    assert_string_equal(w.seen, "coohho");
    now = view_of(dep, now).open_until_ns;
    recover(dep, now);
    assert_string_equal(w.seen, "coohhoohhc");
    bide_dep_force_breaker(dep,
                           BIDE_BREAKER_FORCED_OPEN); /* not a transition */
    refused(dep, now);
    assert_string_equal(w.seen, "coohhoohhc");
    bide_dep_free(dep);
}

static void breaker_callback_may_call_the_dependency(void **state)
{
    bide_policy_conf conf = steady();
    conf.breaker.probes = 2;
    struct watcher w = { .n = 0 };
    bide_dep *dep =
        new_dep_in(&conf, (bide_host){ .ctx = &w, .on_breaker = watch });
    bide_call call;
    (void)state;
    w.dep = dep;
    int64_t now = trip(dep, 0);
    start(&call, dep, now); /* the callback's own call was the other probe */
    assert_int_equal(view_of(dep, now).attempts, 1);
    report(&call, BIDE_SUCCESS, now);
    bide_call_end(&call, now);
    assert_string_equal(w.seen, "coohhc");
    bide_dep_free(dep);
}

/* ===== clocks ===== */

static void breaker_clock_standing_still_or_back_does_no_harm(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t until = trip(dep, 100 * S);
    (void)state;
    for (int i = 0; i < 100; i++)
        refused(dep, 100 * S);
    refused(dep, 0);
    refused(dep, -1);
    refused(dep, INT64_MIN);
    recover(dep, until);
    many(dep, BIDE_SUCCESS, 10, until - 60 * S);
    many(dep, BIDE_TRANSIENT, 20, until - 120 * S);
    assert_int_equal(bide_dep_breaker(dep, 0), BIDE_BREAKER_OPEN);
    bide_dep_free(dep);
}

static void breaker_at_the_end_of_time_does_not_wrap(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    (void)state;
    while (stats_of(dep, 0).breaker_to[BIDE_BREAKER_OPEN] == 0)
        one_call(dep, BIDE_TRANSIENT, INT64_MAX - S, INT64_MAX - S);
    assert_int_equal(bide_dep_breaker(dep, INT64_MAX - S), BIDE_BREAKER_OPEN);
    refused(dep, INT64_MAX - S);
    one_call(dep, BIDE_SUCCESS, INT64_MAX, INT64_MAX);
    assert_int_equal(bide_dep_breaker(dep, INT64_MAX), BIDE_BREAKER_HALF_OPEN);
    bide_dep_free(dep);
}

static void breaker_view_tells_when_it_opens_only_while_it_is(void **state)
{
    bide_policy_conf conf = steady();
    bide_dep *dep = new_dep(&conf);
    int64_t until = trip(dep, 0);
    (void)state;
    assert_true(view_of(dep, until - 1).open_until_ns == until);
    assert_int_equal(view_of(dep, until - 1).state, BIDE_BREAKER_OPEN);
    assert_int_equal(view_of(dep, until).state, BIDE_BREAKER_HALF_OPEN);
    assert_int_equal(view_of(dep, until).open_until_ns, 0);
    bide_dep_force_breaker(dep, BIDE_BREAKER_FORCED_CLOSED);
    assert_int_equal(view_of(dep, 0).state, BIDE_BREAKER_CLOSED);
    assert_int_equal(view_of(dep, 0).open_until_ns, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_opens_at_min_calls_and_rate),
        cmocka_unit_test(breaker_counts_by_outcome),
        cmocka_unit_test(breaker_window_slides),
        cmocka_unit_test(breaker_opens_by_slow_attempts),
        cmocka_unit_test(breaker_opens_by_failures_in_a_row),
        cmocka_unit_test(breaker_open_refuses_until_its_time),
        cmocka_unit_test(breaker_open_ends_a_call_before_its_budget),
        cmocka_unit_test(breaker_open_time_is_spread),
        cmocka_unit_test(breaker_open_time_grows),
        cmocka_unit_test(breaker_hint_lengthens_open_time),
        cmocka_unit_test(breaker_half_open_lets_probes_through),
        cmocka_unit_test(breaker_half_open_one_failure_reopens),
        cmocka_unit_test(breaker_half_open_by_rate),
        cmocka_unit_test(breaker_half_open_silent_probe_is_reclaimed),
        cmocka_unit_test(breaker_half_open_reclaimed_probe_is_still_heard),
        cmocka_unit_test(breaker_half_open_counts_probes_of_before),
        cmocka_unit_test(breaker_half_open_ignored_probe_is_neutral),
        cmocka_unit_test(breaker_half_open_probe_is_not_retried),
        cmocka_unit_test(breaker_half_open_lets_a_waiting_retry_through),
        cmocka_unit_test(breaker_late_results_are_dropped_and_counted),
        cmocka_unit_test(breaker_recovered_forgets_the_old_window),
        cmocka_unit_test(regress_breaker_opens_after_a_long_outage),
        cmocka_unit_test(breaker_generation_goes_round),
        cmocka_unit_test(breaker_forced_open_refuses_all),
        cmocka_unit_test(breaker_forced_closed_refuses_none),
        cmocka_unit_test(breaker_dry_run_counts_and_never_refuses),
        cmocka_unit_test(regress_breaker_dry_run_retries_a_probe),
        cmocka_unit_test(regress_breaker_modes_let_hedges_through),
        cmocka_unit_test(breaker_bad_mode_is_refused),
        cmocka_unit_test(breaker_off_never_opens),
        cmocka_unit_test(breaker_callback_is_called_once_per_transition),
        cmocka_unit_test(breaker_callback_may_call_the_dependency),
        cmocka_unit_test(breaker_clock_standing_still_or_back_does_no_harm),
        cmocka_unit_test(breaker_at_the_end_of_time_does_not_wrap),
        cmocka_unit_test(breaker_view_tells_when_it_opens_only_while_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
