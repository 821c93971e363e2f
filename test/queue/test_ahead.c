/* How many are taken in advance: rows of {how long handlers take, expected}. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "queue/ahead.h"

#define US(x) ((int64_t)(x)*1000)
#define MS(x) ((int64_t)(x)*1000000)

static void unknown_takes_nothing_in_advance(void **state)
{
    struct queue_ahead a = { 0 };

    (void)state;
    assert_int_equal(queue_ahead_room(&a, 16, 112), 0);
}

static void what_waits_is_20_ms_of_work(void **state)
{
    static const struct {
        int64_t took_ns;
        uint32_t at_once, most, room;
    } rows[] = {
        { 0, 16, 112, 112 },        { US(1), 16, 112, 112 },
        { MS(1), 16, 1000, 319 },   { MS(5), 4, 4, 4 },
        { MS(19), 1, 112, 1 },      { MS(20), 1, 112, 0 },
        { MS(100), 4, 4, 0 },       { MS(3600000), 1000, 112, 0 },
        { -5, 1, 112, 112 },        { INT64_MAX - 1, 1000, 112, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct queue_ahead a = { 0 };
        for (int n = 0; n < 3; n++)
            queue_ahead_note(&a, rows[i].took_ns);
        assert_int_equal(queue_ahead_room(&a, rows[i].at_once, rows[i].most),
                         rows[i].room);
    }
}

static void slower_handlers_are_noticed_within_a_few(void **state)
{
    struct queue_ahead a = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++)
        queue_ahead_note(&a, US(3));
    assert_int_equal(queue_ahead_room(&a, 4, 100), 100);
    queue_ahead_note(&a, MS(1000));
    assert_int_equal(queue_ahead_room(&a, 4, 100), 0);
    for (int i = 0; i < 100; i++)
        queue_ahead_note(&a, US(3));
    assert_int_equal(queue_ahead_room(&a, 4, 100), 100);
}

static void ends_wait_for_those_that_are_about_to_end(void **state)
{
    static const struct {
        int64_t took_ns, turn_ns;
        uint32_t at_once, running;
        int64_t wait_ns;
    } rows[] = {
        { US(1), MS(2), 16, 99, MS(1) },    /* all of them, in 7 us */
        { US(1), MS(2), 16, 0, 0 },         /* nobody else runs */
        { US(1), 0, 16, 99, 0 },            /* no turn was made yet */
        { US(400), MS(2), 4, 3, MS(1) },    /* one round of four */
        { US(400), MS(2), 4, 8, 0 },        /* three rounds: over half a turn */
        { MS(3), MS(2), 4, 3, 0 },          /* a command */
        { INT64_MAX - 1, MS(2), 1, 1, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct queue_ahead a = { 0 };
        queue_ahead_note(&a, rows[i].took_ns);
        queue_ahead_turn(&a, rows[i].turn_ns);
        assert_int_equal(
            queue_ahead_gather(&a, rows[i].at_once, rows[i].running),
            rows[i].wait_ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_takes_nothing_in_advance),
        cmocka_unit_test(what_waits_is_20_ms_of_work),
        cmocka_unit_test(slower_handlers_are_noticed_within_a_few),
        cmocka_unit_test(ends_wait_for_those_that_are_about_to_end),
    };

    return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
