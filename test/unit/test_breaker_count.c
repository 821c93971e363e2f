/* test_breaker_count.c: what a closed breaker counts: rates over the last
 * calls, and the arithmetic of shares. */
#include "lib/breaker.h"
#include "fixture.h"

static void breaker_share_is_compared_in_integers(void **state)
{
    static const struct {
        uint64_t part, all;
        double rate;
        bool reached;
    } rows[] = {
        { 29, 100, 0.29, true },
        { 28, 100, 0.29, false },
        { 1, 3, 0.333333, true },
        { 1, 3, 0.333334, false },
        { 1, 1, 1, true },
        { 999999, 1000000, 1, false },
        { 0, 5, 0.000001, false },
        { 1, 1000000, 0.000001, true },
        { 57, 100, 0.57, true },
        { UINT64_C(2147483647), UINT64_C(4294967294), 0.5, true },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(bide__reaches(rows[i].part, rows[i].all,
                                       bide__millionths(rows[i].rate)),
                         rows[i].reached);
}

/* A breaker over the last `window` calls. */
static bide_dep *over_calls(uint32_t window, uint32_t min_calls, double rate)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    conf.breaker.kind = BIDE_BREAKER_COUNT;
    conf.breaker.window_calls = window;
    conf.breaker.min_calls = min_calls;
    conf.breaker.failure_rate = rate;
    conf.breaker.slow_ns = S;
    conf.breaker.slow_rate = 0.75;
    conf.breaker.open_jitter = 0;
    conf.breaker.open_ns = conf.breaker.open_max_ns = MS;
    conf.breaker.probes = 1;
    return new_dep(&conf);
}

/* 's' success, 'f' failure, 'S' and 'F' slow ones, 'i' ignored; '|' is a
 * minute. The breaker must be open after the last one, and not before. */
static void breaker_ring_opens_by_the_last_calls(void **state)
{
    static const struct {
        uint32_t window, min_calls;
        double rate;
        const char *calls;
        bool open;
    } rows[] = {
        { 10, 4, 0.5, "fff", false },
        { 10, 4, 0.5, "ffff", true },
        { 10, 4, 0.5, "fifiifi", false },
        { 10, 4, 0.5, "ssff", true },
        { 10, 4, 0.5, "sssff", false },
        { 10, 4, 0.5, "sssfff", true },
        /* time does not matter, the number of calls does */
        { 4, 4, 0.5, "s|s|f|f", true },
        { 4, 4, 0.5, "f|sss|sss|f", false },
        { 4, 4, 0.5, "ssssssssss|f|f", true },
        /* 10 calls are remembered: the first failures are pushed out */
        { 10, 10, 0.5, "ffffssssssssssffff", false },
        { 10, 10, 0.5, "ffffssssssssssfffff", true },
        { 1, 1, 1, "ssssssf", true },
        { 3, 3, 1, "ffsffsff", false },
        { 3, 3, 1, "ffsffsfff", true },
        /* slow ones, three in four */
        { 8, 4, 1, "sSSS", true },
        { 8, 4, 1, "ssSSSsSS", false },
        { 8, 4, 1, "ssSSSsSSS", true },
        { 4, 4, 1, "SSsssSSS", true },
        { 8, 4, 0.5, "SFss", false },
        { 8, 4, 0.5, "SssFF", false },
        { 8, 4, 0.5, "SssFFF", true },
        { 1024, 1024, 0.5, "ffffffff", false },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_dep *dep =
            over_calls(rows[i].window, rows[i].min_calls, rows[i].rate);
        int64_t now = BIDE_MINUTE;
        for (const char *c = rows[i].calls; *c; c++) {
            if (*c == '|') {
                now += BIDE_MINUTE;
                continue;
            }
            if (bide_dep_breaker(dep, now) != BIDE_BREAKER_CLOSED)
                fail_msg("row %zu opened before %s", i, c);
            bool slow = *c == 'S' || *c == 'F';
            one_call(dep,
                     *c == 'i'                ? BIDE_IGNORED
                     : *c == 's' || *c == 'S' ? BIDE_SUCCESS
                                              : BIDE_TRANSIENT,
                     now - slow * S, now);
        }
        if ((bide_dep_breaker(dep, now) == BIDE_BREAKER_OPEN) != rows[i].open)
            fail_msg("row %zu: %s", i, rows[i].calls);
        bide_dep_free(dep);
    }
}

static bide_breaker_view view_of(const bide_dep *dep, int64_t now)
{
    bide_breaker_view view;
    assert_int_equal(bide_dep_breaker_view(dep, now, &view), 0);
    return view;
}

/* Against a plain array, through many openings and closings. */
static void breaker_ring_is_the_last_calls(void **state)
{
    enum { WINDOW = 37 };
    unsigned last[WINDOW] = { 0 }; /* 1 seen, 2 failed, 4 slow */
    bide_dep *dep = over_calls(WINDOW, 20, 0.6);
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 3);
    int64_t now = S;
    int opened = 0;
    bool near = false; /* bad enough, but for min_calls */
    (void)state;
    for (int i = 0, n = 0; i < 50000; i++) {
        bool ill = bide_rng_between(&rng, 0, 99) < 20 + i / 100 % 60;
        bool slow = bide_rng_between(&rng, 0, 9) < 3;
        unsigned all = 0, failed = 0, slows = 0;
        one_call(dep, ill ? BIDE_TRANSIENT : BIDE_SUCCESS, now - slow * S, now);
        last[n++ % WINDOW] = 1u | ill * 2u | slow * 4u;
        for (int k = 0; k < WINDOW; k++) {
            all += last[k] & 1;
            failed += last[k] >> 1 & 1;
            slows += last[k] >> 2 & 1;
        }
        bool bad = failed * 10 >= all * 6 || slows * 4 >= all * 3;
        bool due = (ill || slow || near) && all >= 20 && bad;
        near = bad && all < 20;
        assert_int_equal(bide_dep_breaker(dep, now) == BIDE_BREAKER_OPEN, due);
        if (!due) {
            assert_int_equal(view_of(dep, now).attempts, all);
            assert_int_equal(view_of(dep, now).failed, failed);
            assert_int_equal(view_of(dep, now).slow, slows);
            continue;
        }
        now += MS;
        one_call(dep, BIDE_SUCCESS, now, now); /* the probe closes it again */
        memset(last, 0, sizeof last);
        assert_int_equal(view_of(dep, now).attempts, 0);
        opened++;
    }
    assert_true(opened > 100);
    bide_dep_free(dep);
}

/* A thread was held up between asking which time it is and counting: what it
 * brings belongs nowhere, and must not disturb what is there. */
static void breaker_ring_late_thread_changes_nothing(void **state)
{
    bide_dep *dep = over_calls(4, 4, 1);
    struct bide__breaker_env env = { &dep->breaker, &dep->policy, dep->lanes,
                                     dep->lanes, &dep->rng };
    uint16_t first, second;
    (void)state;
    bide__breaker_idle(&dep->breaker, &first);
    for (int i = 0; i < 4; i++)
        one_call(dep, BIDE_TRANSIENT, 0, 0);
    one_call(dep, BIDE_SUCCESS, MS, MS);
    assert_true(bide__breaker_idle(&dep->breaker, &second));
    assert_int_not_equal(first, second);

    /* before anything is counted in the new time, and after */
    bide__breaker_count(&env, first, true, false, MS);
    assert_int_equal(view_of(dep, MS).attempts, 0);
    for (int i = 0; i < 3; i++)
        one_call(dep, BIDE_TRANSIENT, MS, MS);
    assert_int_equal(view_of(dep, MS).attempts, 3);
    assert_false(bide__breaker_count(&env, first, true, true, MS));
    assert_false(bide__breaker_count(&env, first, true, true, MS));
    /* the second of those took the place of a result, which is gone */
    assert_int_equal(view_of(dep, MS).attempts, 2);
    assert_int_equal(view_of(dep, MS).slow, 0);
    for (int i = 0; i < 3; i++)
        one_call(dep, BIDE_SUCCESS, MS, MS);
    one_call(dep, BIDE_SUCCESS, MS, MS);
    assert_int_equal(view_of(dep, MS).attempts, 4);
    assert_int_equal(view_of(dep, MS).failed, 0);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaker_share_is_compared_in_integers),
        cmocka_unit_test(breaker_ring_opens_by_the_last_calls),
        cmocka_unit_test(breaker_ring_is_the_last_calls),
        cmocka_unit_test(breaker_ring_late_thread_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
