/* test_gate.c: who waits, who knocks, and at what pace they go. */
#include "script.h"

#include "lib/gate.h"

enum { KNOCK_MS = 320 }; /* so that a doubt lasts for 10 ms */

struct gate_stage {
    struct bide__gate gate;
    struct bide__policy policy;
    bide_rng_seeded seeded;
    bide_rng rng;
};

static void set(struct gate_stage *g)
{
    bide_policy_conf conf = script_conf();

    memset(g, 0, sizeof *g);
    conf.unreachable.wait_ns = 10 * S;
    conf.unreachable.knock_ns = KNOCK_MS * MS;
    bide__policy_init(&g->policy, &conf);
    g->rng = bide_rng_seed(&g->seeded, 7);
}

static void miss(struct gate_stage *g, bool knock, int64_t start, int64_t now)
{
    bide__gate_missed(&g->gate, &g->policy, &g->rng, knock, start, now);
}

static struct bide__gate_answer ask(struct gate_stage *g,
                                    struct bide__gate_place *place, int64_t now)
{
    return bide__gate_ask(&g->gate, &g->policy, &g->rng, place, now);
}

/* Shut since 1 s. */
static void shut(struct gate_stage *g)
{
    set(g);
    miss(g, false, 999 * MS, 1 * S);
    miss(g, false, 1005 * MS, 1010 * MS);
    assert_int_equal(bide__gate_shut_since(&g->gate), 1 * S);
}

static void gate_one_miss_is_a_doubt(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place = { false, 0 };

    (void)state;
    set(&g);
    assert_true(bide__gate_calm(&g.gate));
    miss(&g, false, 0, 5 * MS);
    assert_false(bide__gate_calm(&g.gate));
    assert_false(bide__gate_busy(&g.gate));
    assert_int_equal(ask(&g, &place, 6 * MS).verb, BIDE__GATE_GO);
    assert_false(place.taken);
}

/* {start, now of the second miss, shut?} after a first one at 100 ms. */
static void gate_second_miss_shuts_if_it_is_later(void **state)
{
    static const struct {
        int64_t start, now;
        bool shut;
    } rows[] = {
        { 101 * MS, 109 * MS, false }, /* too soon */
        { 99 * MS, 200 * MS, false },  /* began before the first failed */
        { 100 * MS, 110 * MS, true },
        { 500 * MS, 501 * MS, true },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct gate_stage g;
        set(&g);
        miss(&g, false, 90 * MS, 100 * MS);
        miss(&g, false, rows[i].start, rows[i].now);
        assert_int_equal(bide__gate_busy(&g.gate), rows[i].shut);
    }
}

static void gate_reached_in_between_ends_the_doubt(void **state)
{
    struct gate_stage g;

    (void)state;
    set(&g);
    miss(&g, false, 90 * MS, 100 * MS);
    bide__gate_reached(&g.gate, 95 * MS, 105 * MS); /* began before: no proof */
    assert_false(bide__gate_calm(&g.gate));
    bide__gate_reached(&g.gate, 101 * MS, 106 * MS);
    assert_true(bide__gate_calm(&g.gate));
    miss(&g, false, 190 * MS, 200 * MS); /* a new doubt */
    assert_false(bide__gate_busy(&g.gate));
}

static void gate_shut_lets_one_knock_at_a_time(void **state)
{
    struct gate_stage g;
    struct bide__gate_place first = { false, 0 }, second = { false, 0 };
    struct bide__gate_answer a;

    (void)state;
    shut(&g);
    a = ask(&g, &first, 1011 * MS);
    assert_int_equal(a.verb, BIDE__GATE_WAIT);
    assert_true(first.taken);
    a = ask(&g, &first, a.at_ns); /* after the first interval */
    assert_int_equal(a.verb, BIDE__GATE_KNOCK);
    for (int64_t t = 1100; t < 2000; t += 100)
        assert_int_equal(ask(&g, &second, t * MS).verb, BIDE__GATE_WAIT);
    miss(&g, true, 1030 * MS, 2 * S);
    assert_int_equal(ask(&g, &second, 2 * S + 1).verb, BIDE__GATE_WAIT);
    assert_int_equal(ask(&g, &second, 2 * S + 250 * MS).verb,
                     BIDE__GATE_KNOCK);
    bide__gate_unknock(&g.gate, 2 * S + 250 * MS, 2 * S + 260 * MS);
    assert_int_equal(ask(&g, &first, 2 * S + 260 * MS).verb, BIDE__GATE_KNOCK);
}

static void gate_shut_for_as_long_as_calls_knock(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place = { false, 0 };

    (void)state;
    set(&g);
    assert_int_equal(bide__gate_shut_for(&g.gate, 5 * S), 0);
    shut(&g);
    assert_int_equal(bide__gate_shut_for(&g.gate, 1020 * MS), 20 * MS);
    assert_int_equal(ask(&g, &place, 3 * S).verb, BIDE__GATE_KNOCK);
    miss(&g, true, 3 * S, 4 * S); /* the next is due within KNOCK_MS */
    assert_int_equal(bide__gate_shut_for(&g.gate, 14 * S), 13 * S);
    assert_int_equal(bide__gate_shut_for(&g.gate, 15 * S), 0); /* no call */
    assert_int_equal(ask(&g, &place, 15 * S).verb, BIDE__GATE_KNOCK);
    assert_int_equal(bide__gate_shut_for(&g.gate, 15 * S), 14 * S);
    bide__gate_reached(&g.gate, 15 * S, 16 * S);
    assert_int_equal(bide__gate_shut_for(&g.gate, 16 * S), 0);
}

static void gate_lost_knock_is_replaced(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place = { false, 0 };
    int64_t after = 1100 * MS + 10 * S; /* the attempt's timeout */

    (void)state;
    shut(&g);
    assert_int_equal(ask(&g, &place, 1100 * MS).verb, BIDE__GATE_KNOCK);
    assert_int_not_equal(ask(&g, &place, after - 1).verb, BIDE__GATE_KNOCK);
    assert_int_equal(ask(&g, &place, after).verb, BIDE__GATE_KNOCK);
}

/* Knocks grow apart with the time that has passed, to `knock` and no further. */
static void gate_knocks_grow_apart(void **state)
{
    static const struct {
        int64_t shut_for, from, to;
    } rows[] = {
        { 10 * MS, 5 * MS, 10 * MS },
        { 100 * MS, 12 * MS, 25 * MS },
        { 1 * S, 125 * MS, 250 * MS },
        { 1280 * MS, 160 * MS, 320 * MS },
        { 9 * S, 160 * MS, 320 * MS },
        { 10 * BIDE_HOUR, 160 * MS, 320 * MS },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct gate_stage g;
        int64_t now = 1 * S + rows[i].shut_for;
        shut(&g);
        miss(&g, true, now - 1, now);
        int64_t wait = bide__gate_next_knock(&g.gate, &g.policy, now) - now;
        assert_in_range(wait, rows[i].from, rows[i].to);
    }
}

static void gate_wait_over_refuses_all_but_the_knock(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place = { false, 0 };
    struct bide__gate_answer a;

    (void)state;
    shut(&g);
    a = ask(&g, &place, 1011 * MS);
    assert_true(a.at_ns <= 11 * S + 160 * MS);
    assert_int_equal(ask(&g, &place, 11 * S).verb, BIDE__GATE_KNOCK);
    a = ask(&g, &place, 11 * S);
    assert_int_equal(a.verb, BIDE__GATE_REFUSE);
    miss(&g, true, 11 * S, 11 * S + MS);
    a = ask(&g, &place, 11 * S + 2 * MS);
    assert_int_equal(a.verb, BIDE__GATE_REFUSE);
    int64_t next = bide__gate_next_knock(&g.gate, &g.policy, 11 * S);
    assert_in_range(next, 11 * S, 11 * S + 321 * MS);
    assert_false(bide__gate_waits(&g.gate, &g.policy, 11 * S, 11 * S));
    assert_int_equal(ask(&g, &place, next).verb, BIDE__GATE_KNOCK);
}

/* 100 came in 2 s, so they go within 10 s, in their order. */
static void gate_ramp_goes_slower_than_they_came(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place[100] = { { false, 0 } }, new = { false, 0 };

    (void)state;
    shut(&g);
    atomic_store(&g.gate.knock_at_ns, BIDE_FOREVER);
    for (int i = 0; i < 100; i++)
        assert_int_equal(ask(&g, &place[i], 1010 * MS + i * 19 * MS).verb,
                         BIDE__GATE_WAIT);
    bide__gate_reached(&g.gate, 2990 * MS, 3 * S);
    int64_t last = 0;
    for (int i = 0; i < 100; i++) {
        struct bide__gate_answer a = ask(&g, &place[i], 3 * S);
        assert_int_equal(a.verb, i == 0 ? BIDE__GATE_GO : BIDE__GATE_WAIT);
        assert_in_range(a.at_ns, 3 * S + i * 100 * MS, 3 * S + i * 101 * MS);
        assert_true(a.at_ns > last);
        last = a.at_ns;
        assert_int_equal(ask(&g, &place[i], a.at_ns).verb, BIDE__GATE_GO);
    }
    assert_int_equal(ask(&g, &new, 3 * S).verb, BIDE__GATE_GO);
    assert_false(new.taken);
    assert_int_equal(ask(&g, &new, 13001 * MS).verb, BIDE__GATE_GO);
    assert_false(bide__gate_busy(&g.gate));
}

static void gate_few_that_waited_go_soon(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place[3] = { { false, 0 } };

    (void)state;
    shut(&g);
    for (int i = 0; i < 3; i++)
        ask(&g, &place[i], 1011 * MS);
    bide__gate_reached(&g.gate, 8 * S, 9 * S);
    assert_int_equal(ask(&g, &place[2], 9 * S).at_ns, 9 * S + 200 * MS);
}

static void gate_result_from_before_does_not_open(void **state)
{
    struct gate_stage g;

    (void)state;
    shut(&g);
    bide__gate_reached(&g.gate, 999 * MS, 5 * S);
    assert_int_equal(bide__gate_shut_since(&g.gate), 1 * S);
}

/* Shut again in the middle of a ramp: those left over keep their turn, and do not
 * all go at once. */
/* Connections that were begun while nobody was there may fail long after somebody
 * is: they shut nothing. */
static void regress_misses_from_before_do_not_shut(void **state)
{
    struct gate_stage g;

    (void)state;
    shut(&g);
    bide__gate_reached(&g.gate, 2 * S, 2100 * MS);
    assert_int_equal(bide__gate_shut_since(&g.gate), 0);
    miss(&g, false, 1500 * MS, 3 * S);
    assert_int_equal(atomic_load(&g.gate.doubt_ns), 0);
    miss(&g, false, 3 * S, 4 * S); /* the first that says something */
    miss(&g, false, 2 * S, 5 * S);
    assert_int_equal(bide__gate_shut_since(&g.gate), 0);
    miss(&g, false, 5 * S, 6 * S);
    assert_int_equal(bide__gate_shut_since(&g.gate), 4 * S);
}

static void gate_shut_again_keeps_the_order(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place[100] = { { false, 0 } };
    int gone = 0;

    (void)state;
    shut(&g);
    atomic_store(&g.gate.knock_at_ns, BIDE_FOREVER);
    for (int i = 0; i < 100; i++)
        ask(&g, &place[i], 1010 * MS + i * 19 * MS);
    bide__gate_reached(&g.gate, 2990 * MS, 3 * S);
    miss(&g, false, 3 * S, 4 * S);
    miss(&g, false, 4100 * MS, 5500 * MS); /* 25 have gone by now */
    assert_true(bide__gate_shut_since(&g.gate) == 4 * S);
    bide__gate_reached(&g.gate, 5600 * MS, 6 * S);
    for (int i = 0; i < 100; i++)
        gone += ask(&g, &place[i], 6 * S).verb == BIDE__GATE_GO;
    assert_in_range(gone, 22, 28);
}

static void gate_tickets_wrap(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place[2] = { { false, 0 } };

    (void)state;
    set(&g);
    atomic_store(&g.gate.tickets, UINT32_MAX);
    miss(&g, false, 999 * MS, 1 * S);
    miss(&g, false, 1005 * MS, 1010 * MS);
    ask(&g, &place[0], 1011 * MS);
    ask(&g, &place[1], 1011 * MS);
    assert_int_equal(place[0].ticket, UINT32_MAX);
    assert_int_equal(place[1].ticket, 0);
    bide__gate_reached(&g.gate, 8 * S, 9 * S);
    assert_int_equal(ask(&g, &place[0], 9 * S).verb, BIDE__GATE_GO);
    assert_int_equal(ask(&g, &place[1], 9 * S).at_ns, 9 * S + 100 * MS);
}

static void gate_odd_clocks_do_no_harm(void **state)
{
    struct gate_stage g;
    struct bide__gate_place place = { false, 0 };

    (void)state;
    shut(&g);
    assert_int_equal(ask(&g, &place, 0).verb, BIDE__GATE_WAIT);
    assert_int_equal(ask(&g, &place, BIDE_FOREVER).verb, BIDE__GATE_KNOCK);
    assert_int_equal(ask(&g, &place, BIDE_FOREVER - 1).verb,
                     BIDE__GATE_REFUSE);
    bide__gate_reached(&g.gate, BIDE_FOREVER, BIDE_FOREVER);
    assert_int_equal(ask(&g, &place, 0).verb, BIDE__GATE_WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_one_miss_is_a_doubt),
        cmocka_unit_test(gate_second_miss_shuts_if_it_is_later),
        cmocka_unit_test(gate_reached_in_between_ends_the_doubt),
        cmocka_unit_test(gate_shut_lets_one_knock_at_a_time),
        cmocka_unit_test(gate_shut_for_as_long_as_calls_knock),
        cmocka_unit_test(gate_lost_knock_is_replaced),
        cmocka_unit_test(gate_knocks_grow_apart),
        cmocka_unit_test(gate_wait_over_refuses_all_but_the_knock),
        cmocka_unit_test(gate_ramp_goes_slower_than_they_came),
        cmocka_unit_test(gate_few_that_waited_go_soon),
        cmocka_unit_test(gate_result_from_before_does_not_open),
        cmocka_unit_test(regress_misses_from_before_do_not_shut),
        cmocka_unit_test(gate_shut_again_keeps_the_order),
        cmocka_unit_test(gate_tickets_wrap),
        cmocka_unit_test(gate_odd_clocks_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
