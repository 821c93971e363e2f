/* test_jitter.c: what the draws of every jitter look like: mean, bounds, shape.
 *
 * The expected ranges are worked out here, not asked of bide_backoff_range().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bide/backoff.h"
#include "sample.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MS           INT64_C(1000000)

enum { DRAWS = 200000 };

static double x[DRAWS];

/* Draws x anew; fails if any is outside of [lo, hi]. */
static size_t fill(const bide_backoff *b, uint32_t n, int64_t previous,
                   int64_t lo, int64_t hi)
{
    size_t draws = sample_size(DRAWS);
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, n + (uint64_t)b->jitter);

    for (size_t i = 0; i < draws; i++) {
        int64_t wait = bide_backoff_wait(b, n, previous, &rng);
        if (wait < lo || wait > hi)
            fail_msg("%s drew %lld, outside [%lld, %lld]",
                     bide_jitter_name(b->jitter), (long long)wait,
                     (long long)lo, (long long)hi);
        x[i] = (double)wait;
    }
    return draws;
}

static void assert_uniform(const bide_backoff *b, uint32_t n, int64_t previous,
                           int64_t lo, int64_t hi)
{
    size_t draws = fill(b, n, previous, lo, hi);
    double mean = sample_mean(x, draws);
    if (!sample_mean_fits(mean, draws, (double)lo, (double)hi))
        fail_msg("%s: mean %g of [%lld, %lld]", bide_jitter_name(b->jitter),
                 mean, (long long)lo, (long long)hi);
    if (!sample_is_uniform(x, draws, lo, hi))
        fail_msg("%s is not uniform in [%lld, %lld]",
                 bide_jitter_name(b->jitter), (long long)lo, (long long)hi);
}

static bide_backoff with(bide_jitter jitter, int64_t floor_ns)
{
    bide_backoff b = BIDE_BACKOFF_INIT;
    b.jitter = jitter;
    b.floor_ns = floor_ns;
    return b;
}

/* v of retry 3, and at the cap. */
static const int64_t v3 = 800 * MS, cap = 30000 * MS;

static void jitter_none_never_varies(void **state)
{
    bide_backoff b = with(BIDE_JITTER_NONE, 0);

    (void)state;
    fill(&b, 3, 0, v3, v3);
    fill(&b, 100, 0, cap, cap);
}

static void jitter_full_is_uniform_up_to_v(void **state)
{
    bide_backoff b = with(BIDE_JITTER_FULL, 0);

    (void)state;
    assert_uniform(&b, 0, 0, 0, 100 * MS); /* mean v/2 */
    assert_uniform(&b, 3, 0, 0, v3);
    assert_uniform(&b, 9, 0, 0, cap);
    assert_uniform(&b, UINT32_MAX, 0, 0, cap);
}

static void jitter_full_floor_keeps_it_uniform(void **state)
{
    bide_backoff b = with(BIDE_JITTER_FULL, 300 * MS);

    (void)state;
    assert_uniform(&b, 3, 0, 300 * MS, v3);
    assert_uniform(&b, 100, 0, 300 * MS, cap);
    b.floor_ns = cap - 10 * MS;
    assert_uniform(&b, 100, 0, cap - 10 * MS, cap);
}

static void jitter_equal_is_uniform_in_upper_half(void **state)
{
    bide_backoff b = with(BIDE_JITTER_EQUAL, 0);

    (void)state;
    assert_uniform(&b, 3, 0, v3 / 2, v3); /* mean 3v/4 */
    assert_uniform(&b, 100, 0, cap / 2, cap);
    b.floor_ns = 600 * MS;
    assert_uniform(&b, 3, 0, 600 * MS, v3);
}

static void jitter_proportional_is_uniform_around_v(void **state)
{
    bide_backoff b = with(BIDE_JITTER_PROPORTIONAL, 0);

    (void)state;
    assert_uniform(&b, 3, 0, v3 / 5 * 4, v3 / 5 * 6); /* mean v */
    assert_uniform(&b, 100, 0, cap / 5 * 4, cap);     /* never over the cap */
    b.spread = 1;
    assert_uniform(&b, 3, 0, 0, 2 * v3);
    b.spread = 0.5;
    b.floor_ns = v3;
    assert_uniform(&b, 3, 0, v3, v3 / 2 * 3);
}

static void jitter_decorrelated_is_uniform_up_to_three_times(void **state)
{
    bide_backoff b = with(BIDE_JITTER_DECORRELATED, 0);

    (void)state;
    assert_uniform(&b, 0, 0, 100 * MS, 300 * MS);
    assert_uniform(&b, 1, 250 * MS, 100 * MS, 750 * MS);
    assert_uniform(&b, 2, 9000 * MS, 100 * MS, 27000 * MS);
    assert_uniform(&b, 3, 10001 * MS, 100 * MS, cap);
    assert_uniform(&b, 100, cap, 100 * MS, cap);
    b.floor_ns = 20000 * MS;
    assert_uniform(&b, 100, cap, 20000 * MS, cap);
}

static void jitter_decorrelated_base_near_cap_stays_uniform(void **state)
{
    bide_backoff b = with(BIDE_JITTER_DECORRELATED, 0);

    (void)state;
    b.base_ns = cap - 5000;
    assert_uniform(&b, 0, 0, cap - 5000, cap);
    assert_uniform(&b, 9, cap, cap - 5000, cap);
}

/* m' = (base + 3 m) / 2: 2, 3.5, 5.75, 9.125 times base. */
static void jitter_decorrelated_means_grow_as_computed(void **state)
{
    enum { WAITS = 4 };
    static const double expected[WAITS] = { 2, 3.5, 5.75, 9.125 };
    size_t chains = sample_size(DRAWS);
    bide_backoff b = with(BIDE_JITTER_DECORRELATED, 0);
    double sum[WAITS] = { 0 }, squares[WAITS] = { 0 };
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, 2);

    (void)state;
    b.cap_ns = INT64_MAX;
    for (size_t i = 0; i < chains; i++) {
        int64_t wait = 0;
        for (uint32_t n = 0; n < WAITS; n++) {
            wait = bide_backoff_wait(&b, n, wait, &rng);
            double in_bases = (double)wait / (double)b.base_ns;
            sum[n] += in_bases;
            squares[n] += in_bases * in_bases;
        }
    }
    for (uint32_t n = 0; n < WAITS; n++) {
        double mean = sum[n] / (double)chains;
        double sigma =
            sqrt((squares[n] / (double)chains - mean * mean) / (double)chains);
        if (fabs(mean - expected[n]) > 4 * sigma)
            fail_msg("wait %u: mean %g, not %g", n, mean, expected[n]);
    }
}

/* How many waits of a long chain lie within 0.1 % of the cap, less how many
 * would if each were uniform below min(cap, 3 * previous); in sigmas. */
static double piled_up(int64_t (*next)(const bide_backoff *, int64_t,
                                       const bide_rng *))
{
    bide_backoff b = with(BIDE_JITTER_DECORRELATED, 0);
    double near = (double)cap * 0.999, seen = 0, expected = 0;
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, 3);
    int64_t wait = 0;

    for (size_t i = 0; i < 1000000; i++) {
        double before = (double)(wait > b.base_ns ? wait : b.base_ns);
        double most = fmin((double)cap, 3 * before);
        if (most > near)
            expected += (most - near) / (most - (double)b.base_ns);
        wait = next(&b, wait, &rng);
        seen += (double)wait > near;
    }
    return (seen - expected) / sqrt(expected);
}

static int64_t draw_wait(const bide_backoff *b, int64_t previous,
                         const bide_rng *rng)
{
    return bide_backoff_wait(b, 0, previous, rng);
}

/* What others do: draw first, clamp after. */
static int64_t draw_then_clamp(const bide_backoff *b, int64_t previous,
                               const bide_rng *rng)
{
    int64_t before = previous > b->base_ns ? previous : b->base_ns;
    int64_t wait = bide_rng_between(rng, b->base_ns, 3 * before);
    return wait < b->cap_ns ? wait : b->cap_ns;
}

static void jitter_decorrelated_never_piles_up_at_the_cap(void **state)
{
    (void)state;
    assert_true(fabs(piled_up(draw_wait)) < 4);
    assert_true(piled_up(draw_then_clamp) > 1000); /* the test can fail */
}

/* A clamp after the jitter, a draw that misses an end, and a squared draw are
 * all seen by the test of the shape. */
static void jitter_wrong_shapes_are_seen(void **state)
{
    bide_rng_seeded mine;
    bide_rng rng = bide_rng_seed(&mine, 4);
    size_t n = 20000;

    (void)state;
    for (size_t i = 0; i < n; i++)
        x[i] = fmin(950, (double)bide_rng_between(&rng, 0, 1000));
    assert_false(sample_is_uniform(x, n, 0, 1000));
    for (size_t i = 0; i < n; i++)
        x[i] = (double)bide_rng_between(&rng, 20, 1000);
    assert_false(sample_is_uniform(x, n, 0, 1000));
    for (size_t i = 0; i < n; i++)
        x[i] = pow(bide_rng_unit(&rng), 1.1);
    assert_true(sample_ks(x, n) > SAMPLE_KS_LIMIT);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)bide_rng_between(&rng, 0, 1000);
    assert_true(sample_is_uniform(x, n, 0, 1000));
}

/* Clients that failed together at the cap do not come back together: in a
 * thousand, no millisecond of thirty thousand holds more than chance puts
 * there. */
static void jitter_thousand_clients_at_the_cap_stay_apart(void **state)
{
    enum { CLIENTS = 1000, SLOTS = 30001 };
    static unsigned char slot[SLOTS];
    bide_backoff b = with(BIDE_JITTER_FULL, 0);
    unsigned most = 0;

    (void)state;
    for (uint64_t client = 0; client < CLIENTS; client++) {
        bide_rng_seeded mine;
        bide_rng rng = bide_rng_seed(&mine, client);
        int64_t wait = bide_backoff_wait(&b, 1000, 0, &rng);
        unsigned here = ++slot[wait / MS];
        most = here > most ? here : most;
    }
    assert_in_range(most, 1, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jitter_none_never_varies),
        cmocka_unit_test(jitter_full_is_uniform_up_to_v),
        cmocka_unit_test(jitter_full_floor_keeps_it_uniform),
        cmocka_unit_test(jitter_equal_is_uniform_in_upper_half),
        cmocka_unit_test(jitter_proportional_is_uniform_around_v),
        cmocka_unit_test(jitter_decorrelated_is_uniform_up_to_three_times),
        cmocka_unit_test(jitter_decorrelated_base_near_cap_stays_uniform),
        cmocka_unit_test(jitter_decorrelated_means_grow_as_computed),
        cmocka_unit_test(jitter_decorrelated_never_piles_up_at_the_cap),
        cmocka_unit_test(jitter_wrong_shapes_are_seen),
        cmocka_unit_test(jitter_thousand_clients_at_the_cap_stay_apart),
    };

    return cmocka_run_group_tests_name("jitter", tests, NULL, NULL);
}
