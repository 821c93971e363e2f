/* threads/test_gate.c: 64 threads whose dependency goes away and comes back: one
 * of them knocks at a time, and nobody is left waiting. */
#include "team.h"

#include "lib/dep.h"

struct shared {
    bide_dep *dep;
    _Atomic bool up;
    _Atomic int64_t knocking; /* since when the gate is shut that one knocks at */
    _Atomic int knocks;
};

/* Everybody lets time pass, so that it passes for all. */
static void wait_a_little(struct member *me)
{
    atomic_fetch_add(&team_clock, chance(me, 100000));
    if (chance(me, 4) == 0)
        sched_yield();
}

/* One attempt. If the gate was shut before it was let through, and has been ever
 * since, it is the knock, and alone. One from the time before the gate was last
 * open may still be under way. */
static void attempt(struct member *me, bide_call *call, uint32_t number,
                    int64_t shut_before)
{
    static const bide_outcome missed = { .cls = BIDE_TRANSIENT,
                                         .fault = BIDE_FAULT_CONNECT,
                                         .not_processed = true };
    struct shared *s = me->ctx;
    bool knock = shut_before != 0 &&
                 bide__gate_shut_since(&s->dep->gate) == shut_before;
    if (knock) {
        EXPECT(atomic_exchange(&s->knocking, shut_before) != shut_before);
        atomic_fetch_add(&s->knocks, 1);
        wait_a_little(me);
        atomic_compare_exchange_strong(&s->knocking, &shut_before, 0);
    }
    bide_call_report(call, number, atomic_load(&s->up) ? &BIDE_OUTCOME_SUCCESS
                                                       : &missed,
                     now_ns());
}

/* A call, to its end. */
static void call_it(struct member *me)
{
    struct shared *s = me->ctx;
    bide_op op = { .idempotent = true, .rng = &me->rng };
    bide_call call;
    bide_call_begin(&call, s->dep, &op, now_ns());
    for (int turns = 0;; turns++) {
        int64_t shut = bide__gate_shut_since(&s->dep->gate);
        bide_decision d = bide_call_next(&call, now_ns());
        if (d.action == BIDE_DONE) {
            EXPECT(d.reason == BIDE_BECAUSE_SUCCESS);
            break;
        }
        if (d.action == BIDE_TRY)
            attempt(me, &call, d.attempt, shut);
        else
            wait_a_little(me);
        EXPECT(turns < 10000000); /* else it waits for ever */
    }
    bide_call_end(&call, now_ns());
}

static void come_and_go(struct member *me)
{
    struct shared *s = me->ctx;
    for (int round = 0; round < 20; round++) {
        ONE_OF_US(atomic_store(&s->up, round % 2 == 0););
        if (!atomic_load(&s->up) && me->who == 0) {
            int64_t back = now_ns() + BIDE_SECOND;
            while (now_ns() < back)
                wait_a_little(me);
            atomic_store(&s->up, true);
        }
        call_it(me);
    }
}

static void gate_one_knocks_and_all_get_through(void **state)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    struct shared s = { NULL, true, 0, 0 };

    (void)state;
    conf.unreachable.wait_ns = BIDE_HOUR;
    conf.attempt_timeout_ns = BIDE_HOUR; /* no knock is given up for lost */
    assert_int_equal(bide_dep_new(&s.dep, "gate", &conf), 0);
    run_team(come_and_go, &s, BIDE_SECOND);
    assert_true(atomic_load(&s.knocks) > 10);
    bide_dep_free(s.dep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_one_knocks_and_all_get_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
