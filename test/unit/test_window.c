/* test_window.c: counts over a sliding window of 16 ticks. */
#include "fixture.h"
#include "lib/window.h"

enum event { ADD, SUM };

/* {tick, event, era, how many to add, or the sum expected} */
struct row {
    uint64_t tick;
    enum event event;
    uint8_t era;
    uint64_t n;
};

static void run(struct bide__window *w, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        if (r->event == ADD) {
            for (uint64_t k = 0; k < r->n; k++)
                bide__window_add(w, r->tick, r->era);
        } else if (bide__window_sum(w, r->tick, r->era) != r->n) {
            fail_msg("row %zu: sum is %llu, not %llu", i,
                     (unsigned long long)bide__window_sum(w, r->tick, r->era),
                     (unsigned long long)r->n);
        }
    }
}

#define RUN(...)                                                               \
    do {                                                                       \
        struct bide__window w = { 0 };                                         \
        const struct row rows[] = { __VA_ARGS__ };                             \
        run(&w, rows, COUNT(rows));                                            \
    } while (0)

static void window_empty_is_0(void **state)
{
    (void)state;
    RUN({ 0, SUM, 0, 0 }, { 15, SUM, 0, 0 }, { UINT64_MAX, SUM, 0, 0 });
}

static void window_event_counts_for_16_ticks(void **state)
{
    (void)state;
    RUN({ 0, ADD, 0, 3 }, { 0, SUM, 0, 3 }, { 5, ADD, 0, 2 }, { 5, SUM, 0, 5 },
        { 15, SUM, 0, 5 }, { 16, SUM, 0, 2 }, { 20, SUM, 0, 2 },
        { 21, SUM, 0, 0 });
    RUN({ 1000, ADD, 0, 1 }, { 1015, SUM, 0, 1 }, { 1016, SUM, 0, 0 });
}

static void window_slot_is_turned_over_by_the_next_tick(void **state)
{
    (void)state;
    RUN({ 4, ADD, 0, 7 }, { 20, ADD, 0, 1 }, { 20, SUM, 0, 1 },
        { 4, SUM, 0, 0 });
}

/* A thread that was held up counts where the others are by now. */
static void window_late_event_is_counted_in_the_newer_tick(void **state)
{
    (void)state;
    RUN({ 20, ADD, 0, 1 }, { 4, ADD, 0, 1 }, { 20, SUM, 0, 2 },
        { 4, SUM, 0, 0 });
    RUN({ 100, ADD, 0, 1 }, { 36, ADD, 0, 1 }, { 100, SUM, 0, 2 });
}

/* Farther back is no late thread: counting goes on in the time that it is. */
static void window_clock_set_back_counts_anew(void **state)
{
    (void)state;
    RUN({ 1000, ADD, 0, 9 }, { 920, ADD, 0, 1 }, { 920, SUM, 0, 1 },
        { 1000, SUM, 0, 0 });
    RUN({ 1000000, ADD, 0, 9 }, { 0, ADD, 0, 2 }, { 0, SUM, 0, 2 });
}

static void window_clock_standing_still_counts_all(void **state)
{
    (void)state;
    RUN({ 7, ADD, 0, 1000 }, { 7, SUM, 0, 1000 }, { 7, SUM, 0, 1000 });
}

static void window_newer_era_starts_from_nothing(void **state)
{
    (void)state;
    RUN({ 3, ADD, 1, 5 }, { 3, SUM, 1, 5 }, { 3, SUM, 2, 0 }, { 3, ADD, 2, 1 },
        { 3, SUM, 2, 1 }, { 3, SUM, 1, 0 });
}

static void window_older_era_is_not_counted(void **state)
{
    (void)state;
    RUN({ 3, ADD, 2, 1 }, { 3, ADD, 1, 5 }, { 3, SUM, 2, 1 }, { 3, SUM, 1, 0 },
        { 19, ADD, 2, 1 }, { 3, ADD, 1, 5 }, { 19, SUM, 2, 1 });
}

static void window_era_goes_round(void **state)
{
    (void)state;
    RUN({ 3, ADD, 255, 5 }, { 3, ADD, 0, 1 }, { 3, SUM, 0, 1 },
        { 3, ADD, 255, 1 }, { 3, SUM, 0, 1 });
}

/* Half-way round, an old era looks like a newer one. A breaker that reopens 64
 * times in an outage gets there, and must count when it is over. */
static void regress_window_counts_after_128_eras(void **state)
{
    (void)state;
    for (int eras = 1; eras < 256; eras++) {
        uint8_t era = (uint8_t)(7 + eras);
        RUN({ 3, ADD, 7, 5 }, { 19, ADD, era, 2 }, { 19, SUM, era, 2 });
        RUN({ 3, ADD, 7, 5 }, { 100003, ADD, era, 2 }, { 100003, SUM, era, 2 });
    }
}

/* 28 bits of the tick are kept. */
static void window_tick_goes_round(void **state)
{
    const uint64_t end = UINT64_C(1) << BIDE__TICK_BITS;
    (void)state;
    RUN({ end - 1, ADD, 0, 3 }, { end, ADD, 0, 4 }, { end, SUM, 0, 7 },
        { end + 14, SUM, 0, 7 }, { end + 15, SUM, 0, 4 },
        { end + 16, SUM, 0, 0 });
    RUN({ UINT64_MAX, ADD, 0, 3 }, { UINT64_MAX, SUM, 0, 3 });
}

static void window_count_saturates(void **state)
{
    struct bide__window w = { 0 };
    uint64_t most = BIDE__COUNT_MAX / 2;
    (void)state;
    atomic_store(&w.slot[5],
                 bide__window_tag(5, 3) << BIDE__COUNT_BITS | (most - 1));
    for (int i = 0; i < 10; i++)
        bide__window_add(&w, 5, 3);
    assert_int_equal(bide__window_sum(&w, 5, 3), most);
    assert_int_equal(bide__window_sum(&w, 5, 4), 0);
}

/* Against a plain list of counts, over random steps of time. */
static void window_sum_is_that_of_the_last_16_ticks(void **state)
{
    enum { TICKS = 4000 };
    static uint64_t added[TICKS];
    struct bide__window w = { 0 };
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, 1);
    (void)state;

    memset(added, 0, sizeof added);
    for (uint64_t t = 0; t < TICKS;
         t += (uint64_t)bide_rng_between(&rng, 0, 5)) {
        uint64_t expected = 0;
        for (int64_t n = bide_rng_between(&rng, 0, 3); n > 0; n--) {
            bide__window_add(&w, t, 9);
            added[t]++;
        }
        for (uint64_t b = 0; b < BIDE__SLOTS && b <= t; b++)
            expected += added[t - b];
        assert_int_equal(bide__window_sum(&w, t, 9), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_empty_is_0),
        cmocka_unit_test(window_event_counts_for_16_ticks),
        cmocka_unit_test(window_slot_is_turned_over_by_the_next_tick),
        cmocka_unit_test(window_late_event_is_counted_in_the_newer_tick),
        cmocka_unit_test(window_clock_set_back_counts_anew),
        cmocka_unit_test(window_clock_standing_still_counts_all),
        cmocka_unit_test(window_newer_era_starts_from_nothing),
        cmocka_unit_test(window_older_era_is_not_counted),
        cmocka_unit_test(window_era_goes_round),
        cmocka_unit_test(regress_window_counts_after_128_eras),
        cmocka_unit_test(window_tick_goes_round),
        cmocka_unit_test(window_count_saturates),
        cmocka_unit_test(window_sum_is_that_of_the_last_16_ticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
