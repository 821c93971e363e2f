/* test_stage.c: what services and fleets of a model do, worked out by hand or
 * compared with each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bed.h"

/* ===== queues ===== */

/* Twice as much as one worker can do, for twenty seconds; clients wait 500 ms,
 * and say so. */
static struct sim_result *overload(enum sim_order order, bool drop_late,
                                   bool cancels)
{
    struct bed bed;
    bed_init(&bed);
    bed.model.duration_ns = 20 * BIDE_SECOND;
    bed.fleets[0].rate = 20;
    bed.policies[0].conf.deadline_ns = 500 * BIDE_MILLISECOND;
    bed.services[0].workers = 1;
    bed.services[0].time = sim_constant(95 * BIDE_MILLISECOND);
    bed.services[0].order = order;
    bed.services[0].drop_late = drop_late;
    bed.services[0].cancels = cancels;
    return bed_run(&bed);
}

static void queue_orders_differ_under_overload(void **state)
{
    struct sim_result *fifo = overload(SIM_FIFO, false, false);
    struct sim_result *lifo = overload(SIM_LIFO, false, false);
    struct sim_result *late = overload(SIM_FIFO, true, false);
    struct sim_result *stop = overload(SIM_FIFO, false, true);
    (void)state;
    /* first come first served: after a second everybody is too late */
    assert_in_range(fifo->callers[0].total.successes, 5, 12);
    assert_true(fifo->figure[SIM_FIG_WASTED] > 0.9);
    /* the newest first: the worker's work is almost all wanted */
    assert_in_range(lifo->callers[0].total.successes, 190, 210);
    /* what would be late is not begun (but for a tie, which the timeout wins) */
    assert_in_range(late->callers[0].total.successes, 180, 210);
    assert_true(late->services[0].wasted < 30);
    assert_true(late->services[0].dropped > 170);
    assert_true(late->services[0].left <= 11);
    /* what was given up is stopped: no finished work is for nobody */
    assert_int_equal(stop->services[0].wasted, 0);
    assert_true(stop->services[0].dropped > 100);
    sim_result_free(fifo);
    sim_result_free(lifo);
    sim_result_free(late);
    sim_result_free(stop);
}

/* ===== network ===== */

static void network_delays_both_ways(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.services[0].network = sim_constant(20 * BIDE_MILLISECOND);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 99);
    assert_true(r->callers[0].latency.sum_ns == 99 * 50e6);
    sim_result_free(r);
}

/* ===== rate limits ===== */

/* Clients are told to come back in two seconds, and nobody is earlier. */
static void throttled_clients_heed_the_hint(void **state)
{
    struct bed bed;
    uint32_t retries = 0;
    (void)state;
    bed_init(&bed);
    bed.policies[0].conf.attempts = 3;
    bed.services[0].limit_rate = 5;
    bed.services[0].limit_burst = 2;
    bed.services[0].retry_after_ns = 2 * BIDE_SECOND;
    bed.run_conf.samples = 1;
    struct sim_result *r = bed_run(&bed);
    for (uint32_t i = 0; i < r->n_marks; i++) {
        const struct sim_mark *m = &r->marks[i];
        for (uint32_t j = 0; j < i; j++) {
            const struct sim_mark *before = &r->marks[j];
            if (before->call != m->call || before->attempt + 1 != m->attempt)
                continue;
            assert_true(m->from_ns - before->to_ns >= 2 * BIDE_SECOND);
            retries++;
        }
    }
    assert_true(retries > 20);
    assert_true(r->services[0].throttled > 40);
    /* a bucket of two, and five a second for ten seconds */
    assert_in_range(r->services[0].served, 45, 52);
    /* waits are by the hint and up to a tenth on top */
    assert_true(sim_histogram_quantile(&r->callers[0].wait, 0) >= 1.99e9);
    assert_true(sim_histogram_quantile(&r->callers[0].wait, 1) <= 2.22e9);
    sim_result_free(r);
}

/* Told when there will be a token, a single client gets the next one. */
static void throttled_hint_says_when_there_is_a_token(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.policies[0].conf.attempts = 2;
    bed.policies[0].conf.retry_after.jitter = 0;
    bed.fleets[0].arrival = SIM_CLOSED;
    bed.fleets[0].think = sim_constant(BIDE_MILLISECOND);
    bed.services[0].limit_rate = 10;
    bed.services[0].retry_after_ns = SIM_WHEN_FREE;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.failures, 0);
    assert_in_range(r->callers[0].total.successes, 99, 101);
    sim_result_free(r);
}

/* A thousand at once, and ten a second: all were told "in 100 ms", and came back
 * in vain. Now each is told a time of its own, and is let in then, however late
 * its jitter makes it, and however many come for the first time meanwhile. */
static void regress_throttled_hint_assigns_places(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.duration_ns = 300 * BIDE_SECOND;
    bed.model.n_fleets = 2;
    bed.model.n_policies = 2;
    bed.policies[0].conf.attempts = 2;
    bed.policies[0].conf.retry_after.max_ns = BIDE_FOREVER;
    bed.policies[1].conf.attempts = 1;
    bed.fleets[0].arrival = SIM_CLOSED; /* one call each, all at once */
    bed.fleets[0].clients = bed.fleets[0].processes = 1000;
    bed.fleets[0].think = sim_constant(BIDE_SECOND);
    bed.fleets[0].most_calls = 1;
    bed.fleets[1].rate = 3; /* they do not come back */
    bed.fleets[1].policy = 1;
    bed.services[0].limit_rate = 10;
    bed.services[0].retry_after_ns = SIM_WHEN_FREE;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 1000);
    assert_int_equal(r->callers[0].total.failures, 0);
    assert_in_range(r->callers[0].total.retries, 990, 1000);
    /* 100 s for the thousand, those in between, and a tenth of jitter */
    assert_true(r->figure[SIM_FIG_ALL_BACK] > 100);
    assert_true(r->figure[SIM_FIG_ALL_BACK] < 170);
    /* what nobody comes for is given to others */
    assert_in_range(r->callers[1].total.successes, 300, 700);
    assert_in_range(r->services[0].served, 1, 3000);
    sim_result_free(r);
}

/* Promises that nobody keeps do not use up the limit. */
static void promised_places_lapse(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.duration_ns = 200 * BIDE_SECOND;
    bed.fleets[0].rate = 20;
    bed.services[0].limit_rate = 10;
    bed.services[0].retry_after_ns = SIM_WHEN_FREE;
    struct sim_result *r = bed_run(&bed);
    assert_in_range(r->callers[0].total.successes, 1500, 2001);
    sim_result_free(r);
}

/* The same for a full queue: whoever comes back when told finds a place. */
static void regress_refused_hint_assigns_places(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.duration_ns = 60 * BIDE_SECOND;
    bed.policies[0].conf.attempts = 2;
    bed.policies[0].conf.attempt_timeout_ns = 10 * BIDE_SECOND;
    bed.fleets[0].arrival = SIM_CLOSED;
    bed.fleets[0].clients = bed.fleets[0].processes = 500;
    bed.fleets[0].think = sim_constant(BIDE_SECOND);
    bed.fleets[0].most_calls = 1;
    bed.services[0].workers = 1;
    bed.services[0].time = sim_exponential(10e6);
    bed.services[0].queue = 20;
    bed.services[0].retry_after_ns = SIM_WHEN_FREE;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 500);
    assert_in_range(r->services[0].refused, 400, 490);
    assert_true(r->figure[SIM_FIG_ALL_BACK] < 10);
    sim_result_free(r);
}

static void full_queue_may_say_no(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.policies[0].conf.attempts = 4;
    bed.services[0].workers = 1;
    bed.services[0].queue = 0;
    bed.services[0].time = sim_constant(BIDE_SECOND / 2);
    bed.services[0].refuse_overload = true;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.retries, 0);
    assert_int_equal(r->callers[0].total.by_reason[BIDE_BECAUSE_SERVER_REFUSED],
                     r->services[0].refused);
    assert_true(r->services[0].refused > 70);
    sim_result_free(r);
}

/* ===== doing it twice ===== */

/* Three answers in ten are lost; up to four attempts. */
static struct sim_result *lose_answers(enum sim_repeat repeat, bool keys)
{
    struct bed bed;
    bed_init(&bed);
    bed.policies[0].conf.attempts = 4;
    bed.policies[0].conf.attempt_timeout_ns = 50 * BIDE_MILLISECOND;
    bed.fleets[0].repeat = repeat;
    bed.services[0].keys = keys;
    bed.services[0].lost_rate = 0.3;
    return bed_run(&bed);
}

static void lost_answers_are_done_twice_without_a_key(void **state)
{
    struct sim_result *plain = lose_answers(SIM_IDEMPOTENT, true);
    struct sim_result *careful = lose_answers(SIM_NOT_IDEMPOTENT, true);
    struct sim_result *keyed = lose_answers(SIM_KEYED, true);
    struct sim_result *unknown = lose_answers(SIM_KEYED, false);
    const struct sim_caller_totals *t = &careful->callers[0].total;
    (void)state;
    assert_true(plain->services[0].duplicates > 15);
    assert_int_equal(plain->services[0].duplicates,
                     plain->callers[0].total.retries);
    assert_int_equal(careful->services[0].duplicates, 0);
    assert_int_equal(t->retries, 0);
    assert_true(t->by_reason[BIDE_BECAUSE_NOT_IDEMPOTENT] > 15);
    assert_int_equal(keyed->services[0].duplicates, 0);
    assert_int_equal(keyed->services[0].commits, 99);
    assert_true(keyed->callers[0].total.retries > 15);
    assert_int_equal(unknown->services[0].duplicates,
                     plain->services[0].duplicates);
    sim_result_free(plain);
    sim_result_free(careful);
    sim_result_free(keyed);
    sim_result_free(unknown);
}

/* The answer gets there late, over a network: nothing is forgotten too early. */
static void late_answers_over_a_network_count_once(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.policies[0].conf.attempts = 2;
    bed.policies[0].conf.attempt_timeout_ns = 50 * BIDE_MILLISECOND;
    bed.policies[0].conf.backoff.base_ns = 0;
    bed.services[0].network = sim_constant(30 * BIDE_MILLISECOND);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.successes, 0);
    assert_int_equal(r->services[0].commits, 2 * 99);
    assert_int_equal(r->services[0].duplicates, 99);
    sim_result_free(r);
}

/* ===== places in flight ===== */

/* Five calls at once, for one place: what their queue and its timeout make of
 * them. */
static void in_flight_queue_hands_places_on(void **state)
{
    static const struct {
        uint32_t queue;
        int64_t patience_ms;
        uint64_t successes;
        double latency_ns;
    } rows[] = {
        { 4, 1000, 5, 1500e6 }, /* 100, 200 ... 500 ms */
        { 2, 1000, 3, 600e6 },
        { 4, 150, 2, 300e6 },
        { 0, 1000, 1, 100e6 },
    };
    int64_t at[5] = { BIDE_SECOND, BIDE_SECOND, BIDE_SECOND, BIDE_SECOND,
                      BIDE_SECOND };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bed bed;
        bed_init(&bed);
        bed.fleets[0].arrival = SIM_REPLAY;
        bed.fleets[0].replay_ns = at;
        bed.fleets[0].n_replay = 5;
        bed.services[0].time = sim_constant(100 * BIDE_MILLISECOND);
        bed.policies[0].conf.limits.in_flight = 1;
        bed.policies[0].conf.limits.queue = rows[i].queue;
        bed.policies[0].conf.limits.queue_timeout_ns =
            rows[i].patience_ms * BIDE_MILLISECOND;
        struct sim_result *r = bed_run(&bed);
        const struct sim_caller_totals *t = &r->callers[0].total;
        assert_int_equal(t->successes, rows[i].successes);
        assert_int_equal(t->by_reason[BIDE_BECAUSE_IN_FLIGHT],
                         5 - rows[i].successes);
        assert_true(r->callers[0].latency.sum_ns == rows[i].latency_ns);
        sim_result_free(r);
    }
}

/* ===== fleets ===== */

static void fleet_calls_within_its_time(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.fleets[0].from_ns = 2 * BIDE_SECOND;
    bed.fleets[0].until_ns = 4 * BIDE_SECOND;
    bed.run_conf.steps = 10;
    struct sim_result *r = bed_run(&bed);
    const double *calls = r->callers[0].value[SIM_CALLS];
    assert_true(calls[0] == 0 && calls[1] == 0);
    assert_true(calls[2] == 9 && calls[3] == 10); /* from 2.1 to 3.9 s */
    assert_int_equal(r->callers[0].total.calls, 19);
    sim_result_free(r);
}

static void fleet_closed_makes_so_many_calls_each(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.fleets[0].arrival = SIM_CLOSED;
    bed.fleets[0].clients = 7;
    bed.fleets[0].processes = 3;
    bed.fleets[0].most_calls = 5;
    bed.fleets[0].think = sim_exponential(10e6);
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.calls, 35);
    assert_int_equal(r->callers[0].total.successes, 35);
    sim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_orders_differ_under_overload),
        cmocka_unit_test(network_delays_both_ways),
        cmocka_unit_test(throttled_clients_heed_the_hint),
        cmocka_unit_test(throttled_hint_says_when_there_is_a_token),
        cmocka_unit_test(regress_throttled_hint_assigns_places),
        cmocka_unit_test(promised_places_lapse),
        cmocka_unit_test(regress_refused_hint_assigns_places),
        cmocka_unit_test(full_queue_may_say_no),
        cmocka_unit_test(lost_answers_are_done_twice_without_a_key),
        cmocka_unit_test(late_answers_over_a_network_count_once),
        cmocka_unit_test(in_flight_queue_hands_places_on),
        cmocka_unit_test(fleet_calls_within_its_time),
        cmocka_unit_test(fleet_closed_makes_so_many_calls_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
