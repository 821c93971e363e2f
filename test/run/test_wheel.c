/* The timer wheel, against a sorted list that is too simple to be wrong. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "bide/bide.h"
#include "run/wheel.h"

#define MS INT64_C(1000000)

static struct bide__wheel wheel;

static void wheel_empty_never_expires(void **state)
{
    (void)state;
    bide__wheel_init(&wheel, 5 * MS, MS);
    assert_int_equal(bide__wheel_next(&wheel), BIDE_FOREVER);
    assert_null(bide__wheel_expired(&wheel, BIDE_FOREVER));
}

static void wheel_timer_expires_not_early_and_within_a_tick(void **state)
{
    (void)state;
    static const int64_t waits[] = { 0, 1, MS - 1, MS, MS + 1, 63 * MS, 64 * MS,
                                     65 * MS, 4095 * MS, 4096 * MS,
                                     3600000 * MS, 86400000 * MS * 365 };
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        struct bide__timer t = { 0 };
        int64_t start = 1234567890123;
        bide__wheel_init(&wheel, start, MS);
        bide__wheel_set(&wheel, &t, start + waits[i]);
        if (waits[i] > 0)
            assert_null(bide__wheel_expired(&wheel, start + waits[i] - 1));
        int64_t late = start + waits[i] + MS;
        assert_ptr_equal(bide__wheel_expired(&wheel, late), &t);
        assert_false(bide__timer_is_set(&t));
        assert_int_equal(wheel.n, 0);
    }
}

static void wheel_forever_is_not_set(void **state)
{
    (void)state;
    struct bide__timer t = { 0 };
    bide__wheel_init(&wheel, 0, MS);
    bide__wheel_set(&wheel, &t, BIDE_FOREVER);
    assert_false(bide__timer_is_set(&t));
}

static void wheel_farthest_time_at_finest_resolution_works(void **state)
{
    (void)state;
    struct bide__timer t = { 0 };
    bide__wheel_init(&wheel, 0, 1);
    bide__wheel_set(&wheel, &t, BIDE_FOREVER - 1);
    assert_null(bide__wheel_expired(&wheel, BIDE_FOREVER - 2));
    assert_ptr_equal(bide__wheel_expired(&wheel, BIDE_FOREVER - 1), &t);
}

static void wheel_cancelled_timer_leaves_nothing(void **state)
{
    (void)state;
    struct bide__timer t[3] = { 0 };
    bide__wheel_init(&wheel, 0, MS);
    for (int i = 0; i < 3; i++)
        bide__wheel_set(&wheel, &t[i], 100 * MS);
    for (int i = 0; i < 3; i++)
        bide__wheel_cancel(&wheel, &t[i]);
    bide__wheel_cancel(&wheel, &t[0]); /* twice is fine */
    assert_int_equal(bide__wheel_next(&wheel), BIDE_FOREVER);
    assert_int_equal(wheel.n, 0);
}

static void wheel_moved_timer_expires_once_at_its_last_time(void **state)
{
    (void)state;
    struct bide__timer t = { 0 };
    bide__wheel_init(&wheel, 0, MS);
    bide__wheel_set(&wheel, &t, 5 * MS);
    bide__wheel_set(&wheel, &t, 5000 * MS);
    bide__wheel_set(&wheel, &t, 70 * MS);
    assert_null(bide__wheel_expired(&wheel, 69 * MS));
    assert_ptr_equal(bide__wheel_expired(&wheel, 70 * MS), &t);
    assert_null(bide__wheel_expired(&wheel, 6000 * MS));
}

static void wheel_clock_stepping_back_does_no_harm(void **state)
{
    (void)state;
    struct bide__timer t = { 0 };
    bide__wheel_init(&wheel, 1000 * MS, MS);
    assert_null(bide__wheel_expired(&wheel, 2000 * MS));
    bide__wheel_set(&wheel, &t, 1500 * MS); /* in the past by now */
    assert_ptr_equal(bide__wheel_expired(&wheel, 10), &t);
    bide__wheel_set(&wheel, &t, -5);
    assert_ptr_equal(bide__wheel_expired(&wheel, -7), &t);
}

/* A random walk: set, move, cancel, let time pass by small and huge steps, always
 * going by what the wheel says is next; every timer comes out exactly once, not
 * early, not more than a tick late, and in the order of ticks. */
static void wheel_random_walk_agrees_with_the_clock(void **state)
{
    (void)state;
    enum { N = 2000, STEPS = 400000 };
    static struct bide__timer timers[N];
    static const int64_t spans[] = { MS / 2, 50 * MS, 5000 * MS,
                                     400000 * MS, 100000000 * MS };
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 7);
    int64_t now = 987654321;
    size_t set = 0;

    bide__wheel_init(&wheel, now, MS);
    for (int step = 0; step < STEPS; step++) {
        struct bide__timer *t = &timers[bide_rng_between(&rng, 0, N - 1)];
        int64_t span = spans[bide_rng_between(&rng, 0, 4)];
        switch (bide_rng_between(&rng, 0, 3)) {
        case 0:
        case 1:
            set += !bide__timer_is_set(t);
            bide__wheel_set(&wheel, t, now + bide_rng_between(&rng, 0, span));
            break;
        case 2:
            set -= bide__timer_is_set(t);
            bide__wheel_cancel(&wheel, t);
            break;
        default: {
            int64_t next = bide__wheel_next(&wheel);
            if (next == BIDE_FOREVER)
                break;
            if (next > now)
                now = next;
            int64_t last = 0;
            struct bide__timer *out;
            while ((out = bide__wheel_expired(&wheel, now))) {
                assert_true(out->at_ns <= now);
                assert_true(now - out->at_ns <= MS);
                assert_true(out->at_ns / MS >= last / MS - 1);
                last = out->at_ns;
                set--;
            }
        }
        }
        assert_int_equal(wheel.n, set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheel_empty_never_expires),
        cmocka_unit_test(wheel_timer_expires_not_early_and_within_a_tick),
        cmocka_unit_test(wheel_forever_is_not_set),
        cmocka_unit_test(wheel_farthest_time_at_finest_resolution_works),
        cmocka_unit_test(wheel_cancelled_timer_leaves_nothing),
        cmocka_unit_test(wheel_moved_timer_expires_once_at_its_last_time),
        cmocka_unit_test(wheel_clock_stepping_back_does_no_harm),
        cmocka_unit_test(wheel_random_walk_agrees_with_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
