/* test_queue.c: the worker in the simulator: what it does when the handler is away
 * and back, what becomes of messages, and who goes first; by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bed.h"

/* No messages come but those that wait: 1000, for a worker with 16 places and a
 * handler that takes 10 ms. */
static void bed_queue(struct bed *b)
{
    bed_init(b);
    bide_policy_preset(&b->policies[0].conf, "queue");
    b->model.duration_ns = BIDE_HOUR;
    b->fleets[0].until_ns = 1;
    b->fleets[0].queue = (struct sim_model_queue){ .workers = 1,
                                                   .at_once = 16,
                                                   .waiting = 1000,
                                                   .pauses = true,
                                                   .forgives = true };
    b->run_conf.steps = 3600;
}

static void bed_away(struct bed *b, enum sim_fault_kind kind, int64_t until_ns)
{
    b->model.n_faults = 1;
    b->faults[0].kind = kind;
    b->faults[0].from_ns = 0;
    b->faults[0].to_ns = until_ns;
    b->faults[0].factor = 1;
    b->faults[0].at_once = true;
}

static void queue_is_worked_off_by_its_places(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed.services[0].time = sim_constant(BIDE_SECOND);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 1000);
    assert_int_equal(r->callers[0].total.attempts, 1000);
    /* 62 rounds of 16, and one of 8 */
    assert_int_equal((int)r->callers[0].value[SIM_DUE][0], 1000 - 16);
    assert_int_equal((int)r->callers[0].value[SIM_DUE][61], 8);
    assert_int_equal((int)r->callers[0].value[SIM_IN_PROGRESS][63], 0);
    assert_true(r->figure[SIM_FIG_DEPTH] == 1000);
    assert_true(r->figure[SIM_FIG_OLDEST] == 62);
    assert_true(r->figure[SIM_FIG_PAUSES] == 0);
    sim_result_free(r);
}

/* Refused, or failing at once: nothing dies, few probes, and all of it is done soon
 * after; the load rises in steps, from 1. */
static void queue_pauses_while_its_handler_is_away(void **state)
{
    static const struct {
        enum sim_fault_kind kind;
        double number; /* of attempts, at most */
    } rows[] = { { SIM_REFUSE, 1 }, { SIM_CRASH, 1 }, { SIM_FAIL, 2 } };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bed bed;
        bed_queue(&bed);
        bed_away(&bed, rows[i].kind, 30 * BIDE_MINUTE);
        bed.services[0].time = sim_constant(BIDE_SECOND / 10);
        struct sim_result *r = bed_run(&bed);
        const struct sim_caller_result *c = &r->callers[0];
        assert_int_equal(c->total.successes, 1000);
        assert_true(r->figure[SIM_FIG_DEAD] == 0);
        assert_true(r->figure[SIM_FIG_NUMBER] <= rows[i].number);
        assert_true(r->figure[SIM_FIG_PROBES] < 0.2);
        assert_true(r->figure[SIM_FIG_PAUSED] > 0.49);
        /* 1000 tenths of a second on 16 places: 6 s, and up to a minute */
        assert_true(r->figure[SIM_FIG_ALL_BACK] < 1800 + 66);
        /* the seconds after the return: 1 and 2 at once, then 4 and 8, then all */
        uint32_t k = 1800;
        while (!(c->value[SIM_SUCCESSES][k] > 0))
            k++;
        assert_true(c->value[SIM_SUCCESSES][k] <= 30);
        assert_true(c->value[SIM_SUCCESSES][k + 1] <= 120);
        assert_true(c->value[SIM_SUCCESSES][k + 1] >
                    c->value[SIM_SUCCESSES][k]);
        assert_true(c->value[SIM_SUCCESSES][k + 3] >= 150);
        sim_result_free(r);
    }
}

/* Longer than a night, and of few messages each is tried often. */
static void queue_outlasts_errors_of_half_a_day(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed.model.duration_ns = 20 * BIDE_HOUR;
    bed.fleets[0].queue.waiting = 30;
    bed_away(&bed, SIM_FAIL, 15 * BIDE_HOUR);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 30);
    assert_true(r->figure[SIM_FIG_DEAD] == 0);
    sim_result_free(r);
}

/* One that pauses not, and counts all, is as good as its attempts. */
static void queue_that_forgives_nothing_kills_in_an_outage(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed_away(&bed, SIM_REFUSE, 30 * BIDE_MINUTE);
    bed.fleets[0].queue.pauses = bed.fleets[0].queue.forgives = false;
    bed.policies[0].conf.breaker.kind = BIDE_BREAKER_OFF;
    bed.policies[0].conf.attempts = 4;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.by_reason[BIDE_BECAUSE_ATTEMPTS],
                     1000);
    assert_int_equal(r->callers[0].total.attempts, 4000);
    assert_true(r->figure[SIM_FIG_DEAD] == 1000);
    assert_true(r->figure[SIM_FIG_NUMBER] == 4);
    assert_true(r->figure[SIM_FIG_PAUSES] == 0);
    /* 3 + 9 + 27 s, a quarter more or less */
    assert_true(fabs(r->figure[SIM_FIG_DEAD_AFTER] - 39) < 1);
    sim_result_free(r);
}

static void message_that_keeps_failing_has_a_day(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed.model.duration_ns = 28 * BIDE_HOUR;
    bed.fleets[0].until_ns = BIDE_HOUR;
    bed.fleets[0].rate = 1000.5 / 3600;
    bed.fleets[0].queue.waiting = 0;
    bed.fleets[0].queue.poison = 0.02;
    struct sim_result *r = bed_run(&bed);
    uint64_t dead = r->callers[0].total.by_reason[BIDE_BECAUSE_ATTEMPTS];
    assert_in_range(dead, 5, 50);
    assert_int_equal(r->callers[0].total.successes, 1000 - dead);
    assert_int_equal(r->callers[0].total.attempts, 1000 - dead + 15 * dead);
    assert_true(r->figure[SIM_FIG_NUMBER] == 15);
    assert_true(r->figure[SIM_FIG_DEAD_AFTER] > 16 * 3600.);
    assert_int_equal(r->callers[0].total.unfinished, 0);
    sim_result_free(r);
}

/* Nothing but such messages: the breaker opens, and the worker pauses; but after hours
 * of errors a probe is an attempt. */
static void messages_that_all_keep_failing_die_as_well(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed.model.duration_ns = 29 * BIDE_HOUR;
    bed.fleets[0].queue.waiting = 50;
    bed.fleets[0].queue.poison = 1;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.by_reason[BIDE_BECAUSE_ATTEMPTS], 50);
    assert_true(r->figure[SIM_FIG_PAUSES] > 0);
    assert_true(r->figure[SIM_FIG_NUMBER] == 15);
    assert_true(r->figure[SIM_FIG_DEAD_AFTER] > 16 * 3600.);
    sim_result_free(r);
}

/* Twice as many come as can be handled, and a fifth fails at first: retries wait for
 * their backoff and little more, and fresh ones are begun all the time. */
static void retries_and_others_share_the_places(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed.model.duration_ns = 10 * BIDE_MINUTE;
    bed.fleets[0].until_ns = 0;
    bed.fleets[0].rate = 64;
    bed.fleets[0].queue.waiting = 0;
    bed.fleets[0].queue.fails_first = 0.2;
    bed.services[0].time = sim_constant(BIDE_SECOND / 2); /* 32 a second */
    bed.run_conf.steps = 600;
    struct sim_result *r = bed_run(&bed);
    assert_true(r->figure[SIM_FIG_RETRY_WAIT] <= 2);
    assert_true(r->figure[SIM_FIG_DEPTH] > 15000);
    const double *attempts = r->callers[0].value[SIM_ATTEMPTS];
    const double *retries = r->callers[0].value[SIM_RETRIES];
    for (int k = 20; k < 599; k++) {
        assert_true(attempts[k] >= 31);
        assert_true(attempts[k] - retries[k] >= 15); /* at least half */
    }
    sim_result_free(r);
}

/* Two workers are twice one, and pause each for itself. */
static void workers_share_a_queue(void **state)
{
    struct bed bed;

    (void)state;
    bed_queue(&bed);
    bed_away(&bed, SIM_REFUSE, 10 * BIDE_MINUTE);
    bed.fleets[0].queue.workers = 2;
    bed.services[0].time = sim_constant(BIDE_SECOND);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 1000);
    assert_true(r->figure[SIM_FIG_PAUSES] >= 2);
    assert_true(r->callers[0].value[SIM_PAUSED][300] == 1);
    assert_true(r->callers[0].value[SIM_PAUSED][700] == 0);
    /* 1000 s on 32 places, and less than a minute until both are back */
    assert_true(r->figure[SIM_FIG_ALL_BACK] < 600 + 32 + 30);
    sim_result_free(r);
}

/* The same seed gives the same run. */
static void runs_repeat(void **state)
{
    struct sim_result *r[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bed bed;
        bed_queue(&bed);
        bed_away(&bed, SIM_FAIL, 5 * BIDE_MINUTE);
        bed.faults[0].factor = 0.5;
        r[i] = bed_run(&bed);
    }
    assert_int_equal(r[0]->events, r[1]->events);
    assert_int_equal(r[0]->callers[0].total.attempts,
                     r[1]->callers[0].total.attempts);
    assert_true(r[0]->figure[SIM_FIG_ALL_BACK] ==
                r[1]->figure[SIM_FIG_ALL_BACK]);
    sim_result_free(r[0]);
    sim_result_free(r[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_is_worked_off_by_its_places),
        cmocka_unit_test(queue_pauses_while_its_handler_is_away),
        cmocka_unit_test(queue_outlasts_errors_of_half_a_day),
        cmocka_unit_test(queue_that_forgives_nothing_kills_in_an_outage),
        cmocka_unit_test(message_that_keeps_failing_has_a_day),
        cmocka_unit_test(messages_that_all_keep_failing_die_as_well),
        cmocka_unit_test(retries_and_others_share_the_places),
        cmocka_unit_test(workers_share_a_queue),
        cmocka_unit_test(runs_repeat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
