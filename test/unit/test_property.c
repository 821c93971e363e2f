/* test_property.c: what no configuration of a backoff may do, over a million of
 * them, drawn from a fixed seed and of every magnitude. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/backoff.h"
#include "sample.h"

enum { N_JITTERS = BIDE_JITTER_PROPORTIONAL + 1 };

static bide_rng_seeded mine;
static bide_rng rng;

static int setup(void **state)
{
    (void)state;
    rng = bide_rng_seed(&mine, 20260101);
    return 0;
}

static uint64_t word(void)
{
    return rng.next(rng.state);
}

/* As many bits as chance will have it, and now and then an edge. */
static int64_t any_duration(void)
{
    static const int64_t edges[] = { 0,
                                     1,
                                     2,
                                     3,
                                     INT64_MAX,
                                     INT64_MAX - 1,
                                     INT64_MAX / 2,
                                     INT64_MAX / 3,
                                     INT64_MAX / 3 + 1,
                                     INT64_C(1) << 53 };
    uint64_t w = word();
    if (w % 8 == 0)
        return edges[(w >> 8) % (sizeof edges / sizeof edges[0])];
    return (int64_t)(word() >> (1 + w % 63));
}

static uint32_t any_n(void)
{
    uint64_t w = word();
    return w % 16 == 0 ? UINT32_MAX : (uint32_t)(word() >> (32 + w % 32));
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bide_backoff any_valid(void)
{
    bide_backoff b = BIDE_BACKOFF_INIT;
    b.cap_ns = any_duration();
    b.base_ns = at_most(any_duration(), b.cap_ns);
    b.floor_ns = word() % 2 ? 0 : at_most(any_duration(), b.cap_ns);
    b.factor = word() % 4 == 0 ? 2 : 1 + bide_rng_unit(&rng) * 999;
    if (word() % 4 == 0)
        b.factor = 1 + bide_rng_unit(&rng) * 1e-3;
    b.spread = word() % 4 == 0 ? 1 : bide_rng_unit(&rng);
    b.jitter = (bide_jitter)(word() % N_JITTERS);
    return b;
}

static void fail_with(const bide_backoff *b, uint32_t n, int64_t previous,
                      const char *what, int64_t got)
{
    fail_msg("%s: %lld; %s base %lld cap %lld floor %lld factor %a spread %a "
             "n %u previous %lld",
             what, (long long)got, bide_jitter_name(b->jitter),
             (long long)b->base_ns, (long long)b->cap_ns,
             (long long)b->floor_ns, b->factor, b->spread, n,
             (long long)previous);
}

#define HOLD(condition, got)                                                   \
    do {                                                                       \
        if (!(condition))                                                      \
            fail_with(&b, n, previous, #condition, got);                       \
    } while (0)

static void property_valid_backoffs_stay_in_their_bounds(void **state)
{
    size_t rounds = sample_size(1000000);

    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        bide_backoff b = any_valid();
        uint32_t n = any_n();
        int64_t previous =
            word() % 4 == 0 ? 0 : at_most(any_duration(), b.cap_ns);
        int64_t v = bide_backoff_value(&b, n), lo, hi;
        int64_t wait = bide_backoff_wait(&b, n, previous, &rng);

        bide_backoff_range(&b, n, previous, &lo, &hi);
        HOLD(v >= b.base_ns && v <= b.cap_ns, v);
        HOLD(lo >= b.floor_ns, lo);
        HOLD(hi <= b.cap_ns, hi);
        HOLD(wait >= lo, wait);
        HOLD(wait <= hi, wait);

        switch (b.jitter) {
        case BIDE_JITTER_NONE:
            HOLD(wait == at_least(v, b.floor_ns), wait);
            break;
        case BIDE_JITTER_FULL:
            HOLD(lo == b.floor_ns, lo);
            HOLD(hi == at_least(v, lo), hi);
            break;
        case BIDE_JITTER_EQUAL:
            HOLD(lo == at_least(v / 2, b.floor_ns), lo);
            HOLD(hi == at_least(v, lo), hi);
            break;
        case BIDE_JITTER_DECORRELATED:
            HOLD(lo == at_least(b.base_ns, b.floor_ns), lo);
            HOLD(hi >= at_most(b.cap_ns, at_least(previous, b.base_ns)), hi);
            HOLD(hi == b.cap_ns || hi == lo ||
                     hi / 3 == at_least(previous, b.base_ns),
                 hi);
            break;
        case BIDE_JITTER_PROPORTIONAL:
            HOLD((double)lo <= (double)at_least(v, b.floor_ns), lo);
            HOLD((double)hi >= (double)v * (1 - 1e-15) - 1, hi);
            break;
        }
    }
}

static void property_one_more_retry_is_no_shorter(void **state)
{
    size_t rounds = sample_size(1000000);
    int64_t previous = 0;

    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        bide_backoff b = any_valid();
        uint32_t n = any_n();
        if (n == UINT32_MAX)
            n--;
        int64_t v = bide_backoff_value(&b, n);
        int64_t next = bide_backoff_value(&b, n + 1);
        /* what n multiplications may round off, where a step is smaller */
        double slack = (double)v * ((double)n + 2) * 0x1p-52;
        if ((b.factor - 1) > ((double)n + 2) * 0x1p-52)
            slack = 0;
        HOLD((double)next >= (double)v - slack, next);
    }
}

/* Bits of any kind: durations below zero, factors that are no numbers, jitters
 * that there are not. Nothing is promised but to answer, and not below zero. */
static void property_any_bits_never_wait_below_zero(void **state)
{
    size_t rounds = sample_size(1000000);

    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        bide_backoff b = BIDE_BACKOFF_INIT;
        uint64_t bits[2] = { word(), word() };
        uint32_t n = any_n();
        int64_t previous = (int64_t)word(), lo, hi;

        b.base_ns = word() % 2 ? any_duration() : (int64_t)word();
        b.cap_ns = word() % 2 ? any_duration() : (int64_t)word();
        b.floor_ns = word() % 2 ? any_duration() : (int64_t)word();
        memcpy(&b.factor, &bits[0], sizeof b.factor);
        memcpy(&b.spread, &bits[1], sizeof b.spread);
        b.jitter = (bide_jitter)(word() % N_JITTERS);

        int64_t most = at_least(0, at_least(b.cap_ns, b.floor_ns));
        bide_backoff_range(&b, n, previous, &lo, &hi);
        HOLD(lo >= 0, lo);
        HOLD(lo <= hi, lo);
        HOLD(hi <= most, hi);
        int64_t wait = bide_backoff_wait(&b, n, previous, &rng);
        HOLD(wait >= lo && wait <= hi, wait);
    }
}

/* A whole call's waits, each fed to the next, ten thousand of them. */
static void property_long_chains_stay_in_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        bide_backoff b = any_valid();
        int64_t previous = 0;
        for (uint32_t n = 0; n < 10000; n++) {
            int64_t wait = bide_backoff_wait(&b, n, previous, &rng);
            HOLD(wait >= b.floor_ns && wait <= b.cap_ns, wait);
            previous = wait;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(property_valid_backoffs_stay_in_their_bounds),
        cmocka_unit_test(property_one_more_retry_is_no_shorter),
        cmocka_unit_test(property_any_bits_never_wait_below_zero),
        cmocka_unit_test(property_long_chains_stay_in_bounds),
    };

    return cmocka_run_group_tests_name("property", tests, setup, NULL);
}
