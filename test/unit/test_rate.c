/* test_rate.c: the adaptive rate: measuring, CUBIC, and the token bucket.
 *
 * The vectors are those which the AWS SDKs publish for their adaptive mode (the
 * same numbers stand in the tests of their C++, Java, Kotlin, PHP and Rust
 * SDKs). There the rate changes at each response and then stays; here it is a
 * function of time. At the time of a response both are the same, except that a
 * cut starts from the rate of that moment, not from that of the response
 * before. */
#include <math.h>

#include "fixture.h"
#include "lib/limit/limit.h"

static void assert_near(double is, double expected, double share)
{
    if (!(fabs(is - expected) <= share * fabs(expected)))
        fail_msg("%.9g, not %.9g", is, expected);
}

static float measured(const struct bide__rate *r)
{
    uint32_t bits = (uint32_t)atomic_load(&r->measured);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void set_measured(struct bide__rate *r, float rate)
{
    uint32_t bits;
    memcpy(&bits, &rate, sizeof bits);
    atomic_store(&r->measured, bits);
}

/* As if sending were counted for the end of time: nothing is measured then. */
#define FROZEN UINT64_C(0xffffffff00000000)

static int64_t at(double seconds)
{
    return (int64_t)(seconds * 1e9 + 0.5);
}

/* "End-to-end test for client sending rates". */
static void rate_follows_the_published_vectors(void **state)
{
    static const struct {
        double time;
        bool throttled;
        double measured, rate; /* rate 0: not limited yet */
        double within;
    } rows[] = {
        { 0.2, false, 0.000000, 0, 0 },
        { 0.4, false, 0.000000, 0, 0 },
        { 0.6, false, 4.800000, 0, 0 },
        { 0.8, false, 4.800000, 0, 0 },
        { 1.0, false, 4.160000, 0, 0 },
        { 1.2, false, 4.160000, 0, 0 },
        { 1.4, false, 4.160000, 0, 0 },
        { 1.6, false, 5.632000, 0, 0 },
        { 1.8, false, 5.632000, 0, 0 },
        { 2.0, true, 4.326400, 3.028480, 0.001 },
        { 2.2, false, 4.326400, 3.486639, 0.001 },
        { 2.4, false, 4.326400, 3.821874, 0.001 },
        { 2.6, false, 5.665280, 4.053386, 0.001 },
        { 2.8, false, 5.665280, 4.200373, 0.001 },
        { 3.0, false, 4.333056, 4.282037, 0.001 },
        /* theirs cuts the rate of 3.0, ours that of 3.2 */
        { 3.2, true, 4.333056, 2.997426, 0.01 },
        { 3.4, false, 4.333056, 3.452226, 0.01 },
    };
    struct bide__rate r = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide__rate_report(&r, rows[i].throttled, at(rows[i].time));
        assert_near(measured(&r), rows[i].measured, 1e-6);
        double rate = bide__rate_allowed(&r, at(rows[i].time));
        if (rows[i].rate == 0)
            assert_true(isinf(rate));
        else
            assert_near(rate, rows[i].rate, rows[i].within);
    }
}

/* "Cubic success #1": 10 a second when it was throttled, at second 5. */
static void rate_grows_along_the_cubic(void **state)
{
    static const struct {
        int64_t time;
        double rate;
    } rows[] = {
        { 5, 7.0 },
        { 6, 9.64893600966 },
        { 7, 10.000030849917364 },
        { 8, 10.453284520772092 },
        { 9, 13.408697022224185 },
        { 10, 21.26626835427364 },
        { 11, 36.425998516920465 },
    };
    struct bide__rate r = { 0 };
    (void)state;
    atomic_store(&r.sending, FROZEN);
    set_measured(&r, 10);
    bide__rate_report(&r, true, 5 * S);
    set_measured(&r, 1000); /* twice what is sent is no limit here */
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_near(bide__rate_allowed(&r, rows[i].time * S), rows[i].rate,
                    0.001);
}

/* "Cubic success #2": cut at 9.648936 and again at 6.754255, then growing. Each
 * cut is given the rate that theirs starts from as the one that is sent. */
static void rate_is_cut_and_grows_back(void **state)
{
    static const struct {
        int64_t time;
        bool throttled;
        double rate;
    } rows[] = {
        { 6, false, 9.64893600966 },       { 7, true, 6.754255206761999 },
        { 8, true, 4.727978644733399 },    { 9, false, 6.606547753887045 },
        { 10, false, 6.763279816944947 },  { 11, false, 7.598174833907107 },
        { 12, false, 11.511232804773524 },
    };
    struct bide__rate r = { 0 };
    double before = 10;
    (void)state;
    atomic_store(&r.sending, FROZEN);
    set_measured(&r, 10);
    bide__rate_report(&r, true, 5 * S);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].throttled) {
            set_measured(&r, (float)before);
            bide__rate_report(&r, true, rows[i].time * S);
        }
        set_measured(&r, 1000);
        before = bide__rate_allowed(&r, rows[i].time * S);
        assert_near(before, rows[i].rate, 0.001);
    }
}

/* Right after a cut it is 0.7 of what was sent, whatever that was; and back
 * there after K = cbrt(0.3 * rate / 0.4) seconds. */
static void rate_is_cut_to_beta_and_is_back_after_k(void **state)
{
    (void)state;
    for (double rate = 0.75; rate < 1e7; rate *= 1.37) {
        struct bide__rate r = { 0 };
        set_measured(&r, (float)rate);
        atomic_store(&r.sending, FROZEN);
        bide__rate_report(&r, true, 1000 * S);
        double cut = 0.7 * rate > 0.5 ? 0.7 * rate : 0.5;
        assert_near(bide__rate_allowed(&r, 1000 * S), cut, 0.001);
        double k = cbrt(rate * 0.3 / 0.4);
        assert_near(bide__rate_allowed(&r, 1000 * S + at(k)), rate, 0.001);
        double before = 0;
        for (double t = 0; t < 3 * k; t += k / 16) {
            double now = bide__rate_allowed(&r, 1000 * S + at(t));
            assert_true(now >= before);
            before = now;
        }
        /* no more than twice what is really sent */
        assert_near(bide__rate_allowed(&r, 1000 * S + at(100 * k + 60)),
                    2 * rate, 0.001);
    }
}

static void rate_is_at_least_one_in_2_seconds(void **state)
{
    struct bide__rate r = { 0 };
    (void)state;
    for (int64_t t = 0; t < 50; t++) /* 10 a second, and then no more */
        bide__rate_report(&r, false, t * 100 * MS);
    for (int i = 0; i < 20; i++)
        bide__rate_report(&r, true, 5 * S);
    assert_near(bide__rate_allowed(&r, 5 * S), 0.5, 0.001);

    struct bide__rate idle = {
        0
    }; /* throttled at once, nothing measured yet */
    bide__rate_report(&idle, true, 0);
    assert_near(bide__rate_allowed(&idle, 0), 0.5, 0.001);
    assert_near(bide__rate_allowed(&idle, 3600 * S), 0.5, 0.001);
    assert_true(bide__rate_take(&idle, 0, BIDE_FOREVER) == 2 * S);
    assert_true(bide__rate_take(&idle, 0, BIDE_FOREVER) == 4 * S);
}

/* Half-seconds are numbered from 0 on; on a clock that counts from 1970 there
 * are more than 2^32 of them soon. */
static void regress_rate_is_measured_on_any_clock(void **state)
{
    static const int64_t starts[] = { 0, 1700000000, 2147483640, 4000000000,
                                      9223372000 };
    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++) {
        struct bide__rate r = { 0 };
        for (int64_t t = 0; t < 400; t++) /* 20 a second */
            bide__rate_report(&r, false, starts[i] * S + t * 50 * MS);
        assert_near(measured(&r), 20, 0.001);
    }
}

static void rate_clock_standing_still_or_back_is_harmless(void **state)
{
    struct bide__rate r = { 0 };
    (void)state;
    for (int64_t t = 0; t < 100; t++)
        bide__rate_report(&r, false, 100 * S + t * 50 * MS);
    float before = measured(&r);
    for (int i = 0; i < 100; i++)
        bide__rate_report(&r, false, 50 * S);
    assert_true(measured(&r) == before);
    bide__rate_report(&r, true, 104 * S);
    double rate = bide__rate_allowed(&r, 104 * S);
    assert_true(isfinite(rate) && rate >= 0.5);
    assert_true(bide__rate_allowed(&r, 0) <= rate);
    assert_true(bide__rate_allowed(&r, 0) >= 0.5);
    assert_true(isfinite(bide__rate_allowed(&r, INT64_MAX)));
    assert_true(bide__rate_take(&r, INT64_MAX, BIDE_FOREVER) == 0);
    assert_true(bide__rate_take(&r, INT64_MAX, BIDE_FOREVER) >= 0);
}

/* ===== the bucket ===== */

/* One that is held at `rate` from the time of the cut on, for a moment. */
static struct bide__rate at_rate(double rate, int64_t now)
{
    struct bide__rate r = { 0 };
    set_measured(&r, (float)(rate / 0.7));
    atomic_store(&r.sending, FROZEN);
    bide__rate_report(&r, true, now);
    atomic_store(&r.next_ns, 0); /* and the bucket is full */
    return r;
}

/* Nothing was taken before the first cut, but that is no reason for a burst. */
static void rate_first_cut_empties_the_bucket(void **state)
{
    int64_t now = 1024 * S;
    struct bide__rate r = { 0 };
    (void)state;
    set_measured(&r, 100);
    atomic_store(&r.sending, FROZEN);
    bide__rate_report(&r, true, now);
    int64_t next = bide__rate_take(&r, now, BIDE_FOREVER);
    assert_near((double)(next - now), 1e9 / 70, 0.01);
    int64_t before = atomic_load(&r.next_ns);
    bide__rate_report(&r, true, now); /* the second leaves it as it is */
    assert_true(atomic_load(&r.next_ns) == before);

    struct bide__rate ahead = { 0 }; /* a clock that stepped back */
    atomic_store(&ahead.next_ns, now + 3 * S);
    bide__rate_report(&ahead, true, now);
    assert_true(atomic_load(&ahead.next_ns) == now + 3 * S);
}

static void rate_off_takes_nothing(void **state)
{
    struct bide__rate r = { 0 };
    (void)state;
    for (int i = 0; i < 100; i++)
        assert_true(bide__rate_take(&r, 5 * S, 5 * S) == 0);
    assert_true(isinf(bide__rate_allowed(&r, 5 * S)));
}

/* A full bucket is a second's worth; then one after the other, 1/rate apart. */
static void rate_bucket_paces(void **state)
{
    int64_t now = 1024 * S;
    struct bide__rate r = at_rate(10, now);
    (void)state;
    for (int i = 0; i < 10; i++)
        assert_true(bide__rate_take(&r, now, BIDE_FOREVER) == 0);
    int64_t previous = bide__rate_take(&r, now, BIDE_FOREVER);
    assert_near((double)(previous - now), 1e8, 0.01);
    for (int i = 0; i < 50; i++) {
        int64_t due = bide__rate_take(&r, now, BIDE_FOREVER);
        assert_near((double)(due - previous), 1e8, 0.002);
        previous = due;
    }
}

static void rate_bucket_fills_up_to_a_second(void **state)
{
    int64_t now = 1024 * S;
    struct bide__rate r = at_rate(10, now);
    (void)state;
    while (bide__rate_take(&r, now, now) == 0)
        ;
    set_measured(&r, 5); /* holds the rate at 10 from now on */
    now += 500 * MS;
    int tokens = 0;
    while (bide__rate_take(&r, now, now) == 0)
        tokens++;
    assert_in_range(tokens, 4, 5);
    now += 3600 * S;
    tokens = 0;
    while (bide__rate_take(&r, now, now) == 0)
        tokens++;
    assert_int_equal(tokens, 10);
}

/* What does not fit is not reserved either. */
static void rate_refusal_reserves_nothing(void **state)
{
    int64_t now = 1024 * S;
    struct bide__rate r = at_rate(10, now);
    (void)state;
    while (bide__rate_take(&r, now, now) == 0)
        ;
    int64_t next = atomic_load(&r.next_ns);
    for (int i = 0; i < 100; i++)
        assert_true(bide__rate_take(&r, now, next - 1) == -1);
    assert_true(bide__rate_take(&r, now, next) == next);
    assert_true(bide__rate_take(&r, now, next) == -1);
}

/* ===== through calls ===== */

static bide_policy_conf adaptive(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.attempts = 1;
    conf.limits.adaptive_rate = true;
    return conf;
}

static void rate_call_waits_for_its_token(void **state)
{
    bide_policy_conf conf = adaptive();
    bide_dep *dep = new_dep(&conf);
    bide_call a, b;
    (void)state;
    assert_true(isinf(bide_dep_rate(dep, 0)));
    one_call(dep, BIDE_THROTTLED, 0, 0);
    assert_near(bide_dep_rate(dep, 0), 0.5, 1e-4);
    bide_decision d = begin(&a, dep, 0);
    assert_int_equal(d.action, BIDE_WAIT);
    assert_int_equal(d.reason, BIDE_BECAUSE_PACED);
    assert_true(d.at_ns == 2 * S);
    d = begin(&b, dep, S); /* stands behind it */
    assert_true(d.at_ns == 4 * S);
    assert_true(bide_call_next(&a, S).at_ns == 2 * S); /* no second token */
    assert_int_equal(bide_call_next(&a, 2 * S).action, BIDE_TRY);
    assert_int_equal(bide_call_next(&b, 4 * S - 1).action, BIDE_WAIT);
    assert_int_equal(bide_call_next(&b, 4 * S).action, BIDE_TRY);
    bide_call_end(&a, 4 * S);
    bide_call_end(&b, 4 * S);
    bide_dep_free(dep);
    assert_true(bide_dep_rate(NULL, 0) == 0);
}

static void rate_call_that_cannot_wait_is_done_at_once(void **state)
{
    bide_policy_conf conf = adaptive();
    conf.deadline_ns = S;
    bide_dep *dep = new_dep(&conf);
    bide_call call;
    (void)state;
    one_call(dep, BIDE_THROTTLED, 0, 0);
    for (int i = 0; i < 5; i++) {
        bide_decision d = begin(&call, dep, 500 * MS);
        assert_int_equal(d.action, BIDE_DONE);
        assert_int_equal(d.reason, BIDE_BECAUSE_ADAPTIVE_RATE);
        bide_call_end(&call, 500 * MS);
    }
    bide_decision d = begin(&call, dep, 1500 * MS); /* the token of 2 s */
    assert_true(d.at_ns == 2 * S);
    bide_call_end(&call, 1500 * MS);
    bide_dep_free(dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_follows_the_published_vectors),
        cmocka_unit_test(rate_grows_along_the_cubic),
        cmocka_unit_test(rate_is_cut_and_grows_back),
        cmocka_unit_test(rate_is_cut_to_beta_and_is_back_after_k),
        cmocka_unit_test(rate_is_at_least_one_in_2_seconds),
        cmocka_unit_test(regress_rate_is_measured_on_any_clock),
        cmocka_unit_test(rate_clock_standing_still_or_back_is_harmless),
        cmocka_unit_test(rate_first_cut_empties_the_bucket),
        cmocka_unit_test(rate_off_takes_nothing),
        cmocka_unit_test(rate_bucket_paces),
        cmocka_unit_test(rate_bucket_fills_up_to_a_second),
        cmocka_unit_test(rate_refusal_reserves_nothing),
        cmocka_unit_test(rate_call_waits_for_its_token),
        cmocka_unit_test(rate_call_that_cannot_wait_is_done_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
