/* test_spend.c: spending over a sliding window, never more than a limit. */
#include "fixture.h"
#include "lib/budget/spend.h"

enum event { TAKE, REFUSED, GIVE, LEFT };

/* {tick, event, expected}. TAKE: the tick of the ticket; GIVE: of which ticket;
 * LEFT: how much is outstanding. The limit is 3. */
struct row {
    uint64_t tick;
    enum event event;
    uint64_t n;
};

static void run(const struct row *rows, size_t n)
{
    struct bide__spend s = { 0 };
    uint64_t ticket;
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &rows[i];
        bool ok = true;
        switch (r->event) {
        case TAKE:
            ok = bide__spend_take(&s, r->tick, 3, &ticket) && ticket == r->n;
            break;
        case REFUSED:
            ok = !bide__spend_take(&s, r->tick, 3, &ticket);
            break;
        case GIVE:
            bide__spend_give(&s, r->n);
            break;
        case LEFT:
            ok = bide__spend_outstanding(&s, r->tick) == (int64_t)r->n;
            break;
        }
        if (!ok)
            fail_msg("row %zu", i);
    }
}

#define RUN(...)                                                               \
    do {                                                                       \
        const struct row rows[] = { __VA_ARGS__ };                             \
        run(rows, COUNT(rows));                                                \
    } while (0)

static void spend_limit_is_kept(void **state)
{
    (void)state;
    RUN({ 70, LEFT, 0 }, { 70, TAKE, 70 }, { 70, TAKE, 70 }, { 71, TAKE, 71 },
        { 71, REFUSED, 0 }, { 71, LEFT, 3 });
}

static void spend_limit_0_grants_nothing(void **state)
{
    struct bide__spend s = { 0 };
    uint64_t ticket = 77;
    (void)state;
    assert_false(bide__spend_take(&s, 5, 0, &ticket));
    assert_false(bide__spend_take(&s, 5, -1, &ticket));
    assert_int_equal(ticket, 77);
}

static void spend_expires_after_64_ticks(void **state)
{
    (void)state;
    RUN({ 100, TAKE, 100 }, { 100, TAKE, 100 }, { 110, TAKE, 110 },
        { 163, LEFT, 3 }, { 163, REFUSED, 0 }, { 164, LEFT, 1 },
        { 164, TAKE, 164 }, { 164, TAKE, 164 }, { 164, REFUSED, 0 },
        { 173, REFUSED, 0 }, { 174, TAKE, 174 }, { 174, REFUSED, 0 });
}

/* The note itself clears what its slot still holds. */
static void spend_slot_is_turned_over_by_a_note(void **state)
{
    (void)state;
    RUN({ 100, TAKE, 100 }, { 100, TAKE, 100 }, { 163, TAKE, 163 },
        { 164, TAKE, 164 }, { 164, LEFT, 2 }, { 164, TAKE, 164 },
        { 164, REFUSED, 0 });
}

static void spend_long_silence_expires_all(void **state)
{
    (void)state;
    RUN({ 10, TAKE, 10 }, { 11, TAKE, 11 }, { 12, TAKE, 12 },
        { 12, REFUSED, 0 }, { 1000000, LEFT, 0 }, { 1000000, TAKE, 1000000 },
        { 1000000, LEFT, 1 });
}

static void spend_given_back_may_be_taken_again(void **state)
{
    (void)state;
    RUN({ 100, TAKE, 100 }, { 101, TAKE, 101 }, { 102, TAKE, 102 },
        { 102, REFUSED, 0 }, { 102, GIVE, 101 }, { 102, LEFT, 2 },
        { 103, TAKE, 103 }, { 103, REFUSED, 0 });
}

static void spend_given_back_too_late_changes_nothing(void **state)
{
    (void)state;
    RUN({ 100, TAKE, 100 }, { 164, TAKE, 164 }, { 164, TAKE, 164 },
        { 164, TAKE, 164 }, { 164, GIVE, 100 }, { 164, LEFT, 3 },
        { 164, REFUSED, 0 });
    /* expired, and its slot empty */
    RUN({ 100, TAKE, 100 }, { 170, TAKE, 170 }, { 170, GIVE, 100 },
        { 170, LEFT, 1 });
    /* twice is once */
    RUN({ 100, TAKE, 100 }, { 100, GIVE, 100 }, { 100, GIVE, 100 },
        { 100, LEFT, 0 });
}

/* The thread was held up, and the slot has moved on: the unit counts longer,
 * never shorter. */
static void spend_late_note_is_filed_under_the_newer_tick(void **state)
{
    (void)state;
    RUN({ 164, TAKE, 164 }, { 100, TAKE, 164 }, { 164, LEFT, 2 },
        { 227, LEFT, 2 }, { 228, LEFT, 0 });
    RUN({ 164, TAKE, 164 }, { 100, TAKE, 164 }, { 164, GIVE, 164 },
        { 164, GIVE, 164 }, { 164, LEFT, 0 });
}

static void spend_clock_standing_still_frees_nothing(void **state)
{
    (void)state;
    RUN({ 100, TAKE, 100 }, { 100, TAKE, 100 }, { 100, TAKE, 100 },
        { 100, REFUSED, 0 }, { 100, REFUSED, 0 }, { 100, LEFT, 3 });
}

static void spend_clock_stepping_back_frees_nothing(void **state)
{
    (void)state;
    RUN({ 200, TAKE, 200 }, { 200, TAKE, 200 }, { 180, TAKE, 180 },
        { 180, REFUSED, 0 }, { 90, REFUSED, 0 }, { 0, REFUSED, 0 },
        { 0, LEFT, 3 }, { 180, LEFT, 3 }, { 243, REFUSED, 0 }, { 244, LEFT, 2 },
        { 264, LEFT, 0 });
}

/* A slot that was never used looks like one of tick 0. */
static void regress_spend_first_window_expires_and_refunds(void **state)
{
    (void)state;
    RUN({ 30, TAKE, 30 }, { 30, GIVE, 30 }, { 30, LEFT, 0 });
    RUN({ 30, TAKE, 30 }, { 63, LEFT, 1 }, { 64, LEFT, 1 }, { 93, LEFT, 1 },
        { 94, LEFT, 0 });
    RUN({ 30, TAKE, 30 }, { 0, TAKE, 0 }, { 93, LEFT, 1 }, { 94, LEFT, 0 });
}

/* 36 bits of the tick are kept; a short window on a clock that counts from 1970
 * is past that. */
static void regress_spend_tick_goes_round(void **state)
{
    const uint64_t end = UINT64_C(1) << 36;
    const uint64_t half = UINT64_C(1) << 35;
    (void)state;
    RUN({ end - 10, TAKE, end - 10 }, { end + 10, TAKE, 10 },
        { end + 10, TAKE, 10 }, { end + 10, REFUSED, 0 }, { end + 53, LEFT, 3 },
        { end + 54, LEFT, 2 }, { end + 54, TAKE, 54 }, { end + 54, GIVE, 10 },
        { end + 54, LEFT, 2 }, { end + 74, LEFT, 1 });
    for (uint64_t t = end; t > end / 2; t /= 2) {
        uint64_t at = 5 * t + half + 7;
        uint64_t in = at & (end - 1);
        RUN({ at, TAKE, in }, { at, TAKE, in }, { at, TAKE, in },
            { at, REFUSED, 0 }, { at, LEFT, 3 }, { at, GIVE, in },
            { at, TAKE, in }, { at + 63, REFUSED, 0 }, { at + 64, LEFT, 0 });
    }
}

/* ===== against a list of what is outstanding ===== */

struct unit {
    uint64_t tick;
    uint64_t ticket;
};

static int64_t live(struct unit *units, int *n, uint64_t tick)
{
    int kept = 0;
    for (int i = 0; i < *n; i++)
        if (units[i].tick + BIDE__SPEND_SLOTS > tick)
            units[kept++] = units[i];
    *n = kept;
    return kept;
}

static void walk(uint64_t tick, uint64_t seed)
{
    struct unit units[64];
    struct bide__spend s = { 0 };
    bide_rng_seeded seeded;
    bide_rng rng = bide_rng_seed(&seeded, seed);
    int n = 0;

    for (int step = 0; step < 3000; step++) {
        int64_t limit = bide_rng_between(&rng, 0, 40);
        if (bide_rng_between(&rng, 0, 3) == 0)
            tick += (uint64_t)bide_rng_between(&rng, 0, step % 50 ? 9 : 200);
        int64_t before = live(units, &n, tick);
        assert_int_equal(bide__spend_outstanding(&s, tick), before);
        if (n > 0 && bide_rng_between(&rng, 0, 3) == 0) {
            int which = (int)bide_rng_between(&rng, 0, n - 1);
            bide__spend_give(&s, units[which].ticket);
            units[which] = units[--n];
        } else {
            uint64_t ticket = 0;
            bool taken = bide__spend_take(&s, tick, limit, &ticket);
            assert_int_equal(taken, before < limit);
            if (taken)
                units[n++] = (struct unit){ tick, ticket };
        }
    }
}

static void spend_is_what_was_taken_in_64_ticks(void **state)
{
    const uint64_t end = UINT64_C(1) << 36;
    const uint64_t starts[] = { 0,       1,       40,      1000,
                                end / 2, end - 9, end * 7, end * 3 + end / 2 };
    (void)state;
    for (size_t i = 0; i < COUNT(starts); i++)
        walk(starts[i], i + 1);
}

static void spend_tick_makes_up_at_least_the_window(void **state)
{
    const int64_t windows[] = { 100 * MS, S, 10 * S, 3600 * S, 100000007 };
    (void)state;
    for (size_t i = 0; i < COUNT(windows); i++) {
        int64_t ticks =
            bide__spend_tick_ns(windows[i]) * (BIDE__SPEND_SLOTS - 1);
        assert_true(ticks >= windows[i]);
        assert_true(ticks <= windows[i] + BIDE__SPEND_SLOTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spend_limit_is_kept),
        cmocka_unit_test(spend_limit_0_grants_nothing),
        cmocka_unit_test(spend_expires_after_64_ticks),
        cmocka_unit_test(spend_slot_is_turned_over_by_a_note),
        cmocka_unit_test(spend_long_silence_expires_all),
        cmocka_unit_test(spend_given_back_may_be_taken_again),
        cmocka_unit_test(spend_given_back_too_late_changes_nothing),
        cmocka_unit_test(spend_late_note_is_filed_under_the_newer_tick),
        cmocka_unit_test(spend_clock_standing_still_frees_nothing),
        cmocka_unit_test(spend_clock_stepping_back_frees_nothing),
        cmocka_unit_test(regress_spend_first_window_expires_and_refunds),
        cmocka_unit_test(regress_spend_tick_goes_round),
        cmocka_unit_test(spend_is_what_was_taken_in_64_ticks),
        cmocka_unit_test(spend_tick_makes_up_at_least_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
