/* test_agenda.c: events come out in exact order, however many are pending and
 * however far ahead they lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/world/agenda.h"
#include "sim/model/luck.h"
#include "sample.h"

static uint64_t word(uint64_t n)
{
    return sim_luck_word(1, 2, 3, n);
}

/* Times of many scales: the same nanosecond, the same slot, each level. */
static int64_t some_time(uint64_t n, int64_t from)
{
    unsigned bits = (unsigned)(word(2 * n) % 50);
    return from + (int64_t)(word(2 * n + 1) >> 14 >> (49 - bits));
}

/* The reference: a list that is searched from end to end. */
struct reference {
    struct sim_event list[2000];
    uint32_t n;
};

static struct sim_event take_first(struct reference *r)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < r->n; i++)
        if (r->list[i].at_ns < r->list[first].at_ns ||
            (r->list[i].at_ns == r->list[first].at_ns &&
             r->list[i].a < r->list[first].a))
            first = i;
    struct sim_event e = r->list[first];
    r->list[first] = r->list[--r->n];
    return e;
}

/* Adds and takes at random, around `level` pending. */
static void walk(uint32_t level, uint32_t steps)
{
    static struct reference r;
    struct sim_agenda a;
    struct sim_event e;
    int64_t now = 0;
    r.n = 0;
    sim_agenda_init(&a);
    for (uint32_t i = 0; i < steps; i++) {
        if (r.n == 0 || (r.n < 2 * level && word(i) % 2 == 0)) {
            int64_t at = some_time(i, now);
            sim_agenda_add(&a, at, NULL, i, ~i);
            r.list[r.n++] = (struct sim_event){ .at_ns = at, .a = i, .b = ~i };
        } else {
            struct sim_event expected = take_first(&r);
            assert_true(sim_agenda_pop(&a, INT64_MAX, &e));
            assert_int_equal(e.at_ns, expected.at_ns);
            assert_int_equal(e.a, expected.a);
            assert_int_equal(e.b, expected.b);
            now = e.at_ns;
            if (now > INT64_C(1) << 61)
                break; /* the end of time is near */
        }
        assert_int_equal(sim_agenda_pending(&a), r.n);
    }
    sim_agenda_done(&a);
}

static void agenda_walk_is_as_a_sorted_list(void **state)
{
    uint32_t steps = (uint32_t)sample_size(100000);
    (void)state;
    walk(3, steps);
    walk(60, steps);
    walk(100, steps);
    walk(900, steps);
}

static void agenda_same_time_keeps_order(void **state)
{
    struct sim_agenda a;
    struct sim_event e;
    (void)state;
    sim_agenda_init(&a);
    for (uint32_t i = 0; i < 1000; i++) /* some land on the heap, some not */
        sim_agenda_add(&a, INT64_C(5000000000) + i % 2, NULL, i, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(sim_agenda_pop(&a, INT64_MAX, &e));
        assert_int_equal(e.a, i < 500 ? 2 * i : 2 * (i - 500) + 1);
    }
    assert_false(sim_agenda_pop(&a, INT64_MAX, &e));
    sim_agenda_done(&a);
}

static void agenda_until_leaves_the_rest(void **state)
{
    struct sim_agenda a;
    struct sim_event e;
    (void)state;
    sim_agenda_init(&a);
    sim_agenda_add(&a, 10, NULL, 1, 0);
    sim_agenda_add(&a, 20, NULL, 2, 0);
    assert_true(sim_agenda_pop(&a, 10, &e));
    assert_false(sim_agenda_pop(&a, 19, &e));
    assert_true(sim_agenda_pop(&a, 20, &e));
    assert_int_equal(e.a, 2);
    sim_agenda_done(&a);
}

static void agenda_past_is_now(void **state)
{
    struct sim_agenda a;
    struct sim_event e;
    (void)state;
    sim_agenda_init(&a);
    sim_agenda_add(&a, 1000, NULL, 1, 0);
    assert_true(sim_agenda_pop(&a, INT64_MAX, &e));
    sim_agenda_add(&a, 1, NULL, 2, 0);
    assert_true(sim_agenda_pop(&a, INT64_MAX, &e));
    assert_int_equal(e.at_ns, 1000);
    sim_agenda_done(&a);
}

static void agenda_end_of_time_is_reached(void **state)
{
    struct sim_agenda a;
    struct sim_event e;
    (void)state;
    sim_agenda_init(&a);
    for (uint32_t i = 0; i < 200; i++)
        sim_agenda_add(&a, INT64_MAX, NULL, i, 0);
    for (uint32_t i = 0; i < 200; i++) {
        assert_true(sim_agenda_pop(&a, INT64_MAX, &e));
        assert_int_equal(e.a, i);
    }
    sim_agenda_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agenda_walk_is_as_a_sorted_list),
        cmocka_unit_test(agenda_same_time_keeps_order),
        cmocka_unit_test(agenda_until_leaves_the_rest),
        cmocka_unit_test(agenda_past_is_now),
        cmocka_unit_test(agenda_end_of_time_is_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
