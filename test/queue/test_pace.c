/* How many may be started: rows of {time, event, expected}. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bide/policy.h"
#include "base/queue_pace.h"

static uint64_t least(void *state)
{
    (void)state;
    return 0;
}

static const bide_rng no_jitter = { least, NULL };

#define S(x) ((int64_t)((x) * 1e9))

static void flowing_gives_all_places(void **state)
{
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 16);
    assert_int_equal(queue_pace_room(&p, 0, S(1)), 16);
    assert_int_equal(queue_pace_room(&p, 16, S(1)), 0);
    assert_int_equal(queue_pace_room(&p, 20, S(1)), 0);
    assert_int_equal(queue_pace_next(&p, 3), BIDE_FOREVER);
    assert_false(queue_pace_good(&p, S(1), S(2)));
}

static void down_for_two_hours_probes_less_than_once_a_second(void **state)
{
    struct queue_pace p;
    int64_t now = S(1);
    int probes = 0;

    (void)state;
    queue_pace_init(&p, 16);
    assert_true(queue_pace_down(&p, now, 0, &no_jitter, now));
    while (now < S(7200)) {
        int64_t next = queue_pace_next(&p, 0);
        assert_true(next - now >= QUEUE_PROBE_FIRST);
        assert_true(next - now <= QUEUE_PROBE_MOST);
        assert_int_equal(queue_pace_room(&p, 0, next - 1), 0);
        now = next;
        assert_int_equal(queue_pace_room(&p, 0, now), 1);
        assert_int_equal(queue_pace_room(&p, 1, now), 0); /* one at a time */
        assert_false(queue_pace_down(&p, now, 0, &no_jitter, now));
        probes++;
    }
    assert_in_range(probes, 700, 7199);
}

static void back_rises_in_steps(void **state)
{
    static const struct {
        double at;
        int room;
    } rows[] = { { 10, 1 },   { 10.4, 1 }, { 10.5, 2 }, { 10.9, 2 },
                 { 11.0, 4 }, { 11.5, 8 }, { 12.0, 16 } };
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 16);
    queue_pace_down(&p, S(1), 0, &no_jitter, S(1));
    assert_true(queue_pace_good(&p, S(9), S(10)));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(queue_pace_room(&p, 0, S(rows[i].at)), rows[i].room);
        queue_pace_good(&p, S(rows[i].at), S(rows[i].at));
    }
    assert_int_equal(p.state, QUEUE_FLOWING);
}

static void rising_waits_for_an_answer(void **state)
{
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 16);
    queue_pace_down(&p, S(1), 0, &no_jitter, S(1));
    queue_pace_good(&p, S(9), S(10));
    assert_int_equal(queue_pace_room(&p, 0, S(10.5)), 2);
    assert_int_equal(queue_pace_room(&p, 0, S(60)), 2); /* silence */
    assert_int_equal(queue_pace_next(&p, 2), BIDE_FOREVER);
    queue_pace_good(&p, S(60), S(61));
    assert_int_equal(queue_pace_room(&p, 0, S(61)), 4);
}

static void down_while_rising_pauses_longer(void **state)
{
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 16);
    queue_pace_down(&p, S(1), 0, &no_jitter, S(1));  /* next at 2 */
    queue_pace_down(&p, S(2), 0, &no_jitter, S(2));  /* next at 4 */
    queue_pace_good(&p, S(4), S(4));
    assert_true(queue_pace_down(&p, S(4.125), 0, &no_jitter, S(4.25)));
    assert_int_equal(queue_pace_next(&p, 0), S(8.25));
}

static void answers_from_before_the_pause_say_nothing(void **state)
{
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 4);
    queue_pace_down(&p, S(5), 0, &no_jitter, S(6));
    assert_false(queue_pace_good(&p, S(5), S(6.5)));
    assert_int_equal(p.state, QUEUE_PAUSED);
    int64_t next = queue_pace_next(&p, 0);
    assert_false(queue_pace_down(&p, S(5), 0, &no_jitter, S(6.6)));
    assert_int_equal(queue_pace_next(&p, 0), next); /* nor do they lengthen it */
}

static void hint_delays_the_probe(void **state)
{
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 4);
    queue_pace_down(&p, S(5), S(65), &no_jitter, S(5));
    assert_int_equal(queue_pace_next(&p, 0), S(65));
    assert_int_equal(queue_pace_room(&p, 0, S(64)), 0);
    assert_int_equal(queue_pace_room(&p, 0, S(65)), 1);
}

/* An answer without one, which says that nobody is there, ends the doubt; so does
 * the handler's return. */
static void errors_count_after_hours_of_nothing_else(void **state)
{
    enum { DOWN, ERROR, NOBODY, GOOD };
    static const struct {
        double at_h;
        int what;
        enum queue_probe then;
    } rows[] = {
        { 0, ERROR, QUEUE_NO_PROBE },          { 1, DOWN, QUEUE_FREE_PROBE },
        { 1, ERROR, QUEUE_FREE_PROBE },        { 3.9, ERROR, QUEUE_FREE_PROBE },
        { 4, ERROR, QUEUE_COUNTED_PROBE },     { 5, NOBODY, QUEUE_FREE_PROBE },
        { 6, ERROR, QUEUE_FREE_PROBE },        { 8.9, ERROR, QUEUE_FREE_PROBE },
        { 9, ERROR, QUEUE_COUNTED_PROBE },     { 9.5, GOOD, QUEUE_NO_PROBE },
        { 9.6, DOWN, QUEUE_FREE_PROBE },       { 9.6, ERROR, QUEUE_FREE_PROBE },
        { 12.5, ERROR, QUEUE_FREE_PROBE },     { 12.6, ERROR, QUEUE_COUNTED_PROBE },
    };
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 16);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t now = S(rows[i].at_h * 3600);
        if (rows[i].what == DOWN)
            queue_pace_down(&p, now, 0, &no_jitter, now);
        else if (rows[i].what == GOOD)
            queue_pace_good(&p, now, now);
        else
            queue_pace_errs(&p, rows[i].what == ERROR, now);
        if (queue_pace_probe(&p, now) != rows[i].then)
            fail_msg("row %zu", i);
    }
}

/* One place at a time goes to either in turn; otherwise half of them. */
static void retries_get_half_and_the_odd_place_in_turn(void **state)
{
    static const struct {
        uint32_t most, retries;
    } rows[] = { { 1, 1 }, { 1, 0 }, { 1, 1 }, { 4, 2 }, { 3, 1 }, { 3, 2 },
                 { 0, 0 }, { 1, 0 } };
    struct queue_pace p;

    (void)state;
    queue_pace_init(&p, 16);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(queue_pace_retries(&p, rows[i].most),
                         rows[i].retries);
        assert_int_equal(queue_pace_retries(&p, rows[i].most), /* no turn yet */
                         rows[i].retries);
        queue_pace_took(&p, rows[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flowing_gives_all_places),
        cmocka_unit_test(down_for_two_hours_probes_less_than_once_a_second),
        cmocka_unit_test(back_rises_in_steps),
        cmocka_unit_test(rising_waits_for_an_answer),
        cmocka_unit_test(down_while_rising_pauses_longer),
        cmocka_unit_test(answers_from_before_the_pause_say_nothing),
        cmocka_unit_test(hint_delays_the_probe),
        cmocka_unit_test(errors_count_after_hours_of_nothing_else),
        cmocka_unit_test(retries_get_half_and_the_odd_place_in_turn),
    };

    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
