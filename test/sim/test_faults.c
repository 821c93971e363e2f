/* test_faults.c: each kind of fault, in a run small enough to work out by hand.
 * Calls come at 0.1, 0.2 ... 9.9 s; the fault lasts from 3 s to 5 s. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bed.h"

/* A fault, how long a request takes, and what becomes of it all. */
static const struct row {
    const char *name;
    struct sim_fault fault;
    int64_t time_ms;
    uint64_t failures, timeouts, errors, wasted, broken, lost, unheard;
} rows[] = {
    /* what came until 4.0 s has given up when the work begins, at 5 s */
    { "stop", { .kind = SIM_STOP }, 10, 11, 11, 0, 11, 0, 0, 0 },
    /* 2 s for what begins from 3.0 to 4.9 s */
    { "slow", { .kind = SIM_SLOW, .factor = 200 }, 10, 20, 20, 0, 20, 0, 0, 0 },
    { "fail", { .kind = SIM_FAIL, .factor = 1 }, 10, 20, 0, 20, 0, 0, 0, 0 },
    /* from 3.0 to 3.4 s and from 4.0 to 4.4 s */
    { "flap",
      { .kind = SIM_FAIL, .factor = 1, .every_ns = BIDE_SECOND,
        .for_ns = BIDE_SECOND / 2 },
      10, 10, 0, 10, 0, 0, 0, 0 },
    /* those of 2.8 and 2.9 s are in hand when it happens */
    { "crash", { .kind = SIM_CRASH }, 250, 22, 0, 0, 0, 22, 0, 0 },
    { "partition", { .kind = SIM_PARTITION }, 250, 22, 22, 0, 0, 0, 20, 2 },
    /* nothing: half of the workers are enough */
    { "capacity", { .kind = SIM_CAPACITY, .factor = 0.5 }, 10, 0, 0, 0, 0, 0,
      0, 0 },
};

static void check(const struct row *row)
{
    struct bed bed;
    bed_init(&bed);
    bed.services[0].workers = 10000;
    bed.services[0].time = sim_constant(row->time_ms * BIDE_MILLISECOND);
    bed.model.n_faults = 1;
    bed.faults[0] = row->fault;
    bed.faults[0].shard = bed.faults[0].fleet = SIM_NONE;
    bed.faults[0].from_ns = 3 * BIDE_SECOND;
    bed.faults[0].to_ns = 5 * BIDE_SECOND;
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_totals *t = &r->callers[0].total;
    const struct sim_service_result *s = &r->services[0];
    print_message("# %s\n", row->name);
    assert_int_equal(t->calls, 99);
    assert_int_equal(t->failures, row->failures);
    assert_int_equal(t->timeouts, row->timeouts);
    assert_int_equal(s->errors, row->errors);
    assert_int_equal(s->wasted, row->wasted);
    assert_int_equal(s->broken, row->broken);
    assert_int_equal(s->lost, row->lost);
    assert_int_equal(s->unheard, row->unheard);
    sim_result_free(r);
}

static void faults_do_what_they_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check(&rows[i]);
}

static void close_to(double found, double expected)
{
    assert_true(found > expected - 1e-6 && found < expected + 1e-6);
}

/* Three workers are needed, and two are left. */
static void capacity_cut_leaves_workers_idle(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.services[0].workers = 4;
    bed.services[0].time = sim_constant(300 * BIDE_MILLISECOND);
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_CAPACITY;
    bed.faults[0].factor = 0.5;
    bed.run_conf.steps = 100;
    struct sim_result *r = bed_run(&bed);
    double *const *value = r->services[0].value;
    /* at the end of a step one request has just ended, the next just begins */
    assert_true(value[SIM_BUSY][25] == 3);
    assert_true(value[SIM_BUSY][40] == 2);
    assert_true(value[SIM_QUEUE][48] > 0);
    assert_true(value[SIM_QUEUE][80] == 0);
    close_to(value[SIM_CAPACITY_RATE][25], 0.1 * 4 / 0.3);
    close_to(value[SIM_CAPACITY_RATE][40], 0.1 * 2 / 0.3);
    assert_int_equal(r->callers[0].total.successes +
                         r->callers[0].total.unfinished,
                     99);
    sim_result_free(r);
}

/* 70 % of one worker was a full stop, and 50 % of three were one. What it can
 * serve, and what it does serve while more is asked of it, is what it says. */
static void regress_capacity_is_the_share_that_it_says(void **state)
{
    static const struct {
        uint32_t workers;
        double share, busy;
    } cuts[] = {
        { 1, 0.7, 1 }, { 1, 0.1, 1 }, { 3, 0.5, 2 },    { 10, 0.3, 3 },
        { 7, 1, 7 },   { 4, 0, 0 },   { 10, 0.95, 10 },
    };
    struct bed bed;
    (void)state;
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        bed_init(&bed);
        bed.model.duration_ns = 100 * BIDE_SECOND;
        bed.policies[0].conf.attempt_timeout_ns = 1000 * BIDE_SECOND;
        bed.fleets[0].rate = 150 * cuts[i].workers; /* 100 are served by one */
        bed.services[0].workers = cuts[i].workers;
        bed.model.n_faults = 1;
        bed.faults[0].kind = SIM_CAPACITY;
        bed.faults[0].factor = cuts[i].share;
        bed.faults[0].from_ns = 0;
        bed.faults[0].to_ns = 100 * BIDE_SECOND;
        bed.run_conf.steps = 10;
        struct sim_result *r = bed_run(&bed);
        double *const *value = r->services[0].value;
        double expected = 1000 * cuts[i].workers * cuts[i].share;
        close_to(value[SIM_CAPACITY_RATE][5], expected);
        assert_true(value[SIM_BUSY][5] == cuts[i].busy);
        assert_true(fabs(value[SIM_SERVED][5] - expected) <= cuts[i].workers);
        sim_result_free(r);
    }
}

/* A step that a fault begins in the middle of has half the capacity. */
static void capacity_of_a_step_is_weighed_by_time(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.services[0].workers = 1;
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_STOP;
    bed.run_conf.steps = 5; /* of 2 s: the fault begins at 3 s */
    struct sim_result *r = bed_run(&bed);
    const double *capacity = r->services[0].value[SIM_CAPACITY_RATE];
    close_to(capacity[0], 200);
    close_to(capacity[1], 100);
    close_to(capacity[2], 100);
    sim_result_free(r);
}

static void partition_from_one_fleet_spares_the_other(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.n_fleets = 2;
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_PARTITION;
    bed.faults[0].fleet = 1;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.failures, 0);
    assert_int_equal(r->callers[1].total.failures, 20);
    assert_int_equal(r->services[0].lost, 20);
    sim_result_free(r);
}

/* Four clients, each of which calls once in 100 ms; the third of them has its own
 * shard, as the others have. */
static void one_shard_down_hits_its_clients(void **state)
{
    struct bed bed;
    uint32_t hit[4] = { 0 };
    (void)state;
    bed_init(&bed);
    bed.fleets[0].arrival = SIM_CLOSED;
    bed.fleets[0].clients = 4;
    bed.fleets[0].think = sim_constant(90 * BIDE_MILLISECOND);
    bed.services[0].shards = 4;
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_FAIL;
    bed.faults[0].factor = 1;
    bed.faults[0].shard = 2;
    bed.run_conf.samples = 4;
    struct sim_result *r = bed_run(&bed);
    for (uint32_t i = 0; i < r->n_marks; i++)
        hit[r->marks[i].client] += r->marks[i].kind == SIM_MARK_ERROR;
    assert_int_equal(hit[0] + hit[1] + hit[3], 0);
    assert_int_equal(hit[2], 20);
    sim_result_free(r);
}

/* A crash breaks connections, or refuses them. Refused ones were never sent, and
 * may be tried again even if twice would do harm. */
static void crash_of_non_idempotent(struct bed *bed)
{
    bed_init(bed);
    bed->policies[0].conf.attempts = 2;
    bed->fleets[0].repeat = SIM_NOT_IDEMPOTENT;
    bed->services[0].time = sim_constant(250 * BIDE_MILLISECOND);
    bed->model.n_faults = 1;
    bed->faults[0].kind = SIM_CRASH;
}

static void crash_lets_what_was_not_sent_be_retried(void **state)
{
    struct bed bed;
    (void)state;
    crash_of_non_idempotent(&bed);
    bed.policies[0].conf.unreachable.wait_ns = 0;
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_totals *t = &r->callers[0].total;
    assert_int_equal(t->by_reason[BIDE_BECAUSE_NOT_IDEMPOTENT], 2);
    assert_int_equal(t->retries, 20);
    assert_int_equal(t->unreached, 0);
    sim_result_free(r);
}

/* Calls that meet nobody wait until somebody is back. That takes a few knocks,
 * and no retries. */
static void crash_makes_calls_wait(void **state)
{
    struct bed bed;
    (void)state;
    crash_of_non_idempotent(&bed);
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_totals *t = &r->callers[0].total;
    assert_int_equal(t->by_reason[BIDE_BECAUSE_NOT_IDEMPOTENT], 2);
    assert_int_equal(t->failures, 2);
    assert_int_equal(t->retries, 0);
    assert_in_range(t->unreached, 2, 20);
    assert_int_equal(sim_reached(t), t->calls);
    assert_true(r->figure[SIM_FIG_AMPLIFICATION] == 1);
    sim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_do_what_they_say),
        cmocka_unit_test(capacity_cut_leaves_workers_idle),
        cmocka_unit_test(regress_capacity_is_the_share_that_it_says),
        cmocka_unit_test(capacity_of_a_step_is_weighed_by_time),
        cmocka_unit_test(partition_from_one_fleet_spares_the_other),
        cmocka_unit_test(one_shard_down_hits_its_clients),
        cmocka_unit_test(crash_lets_what_was_not_sent_be_retried),
        cmocka_unit_test(crash_makes_calls_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
