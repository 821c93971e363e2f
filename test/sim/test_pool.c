/* test_pool.c: several servers: who gets an attempt, whom a fault hits, who is
 * ejected, and calls that are made at once. As in bed.h, calls come at 0.1, 0.2
 * ... 9.9 s, and a fault lasts from 3 s to 5 s. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bed.h"
#include "sim/world/world_build.h"

static void pool_init(struct bed *b, uint32_t servers, enum bide__balance_by by)
{
    bed_init(b);
    b->services[0].servers = servers;
    b->services[0].balance.by = by;
    b->services[0].balance.ejection =
        (struct bide__ejection)BIDE__EJECTION_INIT;
    b->model.n_faults = 1;
    b->faults[0].kind = SIM_FAIL;
    b->faults[0].factor = 1;
}

static uint64_t failures(const struct bed *b)
{
    struct sim_result *r = bed_run(b);
    uint64_t n = r->callers[0].total.failures;
    assert_int_equal(r->callers[0].total.calls, 99);
    sim_result_free(r);
    return n;
}

/* Twenty calls come while the fault lasts: round robin shares them out. */
static void fault_hits_the_servers_it_names(void **state)
{
    static const struct {
        uint32_t server, n;
        uint64_t failures;
    } rows[] = {
        { 0, 0, 20 }, { 0, 1, 5 }, { 3, 1, 5 }, { 0, 2, 10 }, { 0, 4, 20 }
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bed bed;
        pool_init(&bed, 4, BIDE__ROUND_ROBIN);
        bed.faults[0].server = rows[i].server;
        bed.faults[0].n_servers = rows[i].n;
        assert_int_equal(failures(&bed), rows[i].failures);
    }
}

/* Each of four servers for half a second: of the five calls in it, the one that
 * is its turn, or two. */
static void fault_in_turn_hits_one_after_the_other(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 4, BIDE__ROUND_ROBIN);
    bed.faults[0].n_servers = 1;
    bed.faults[0].in_turn = true;
    bed.faults[0].every_ns = bed.faults[0].for_ns = BIDE_SECOND / 2;
    uint64_t n = failures(&bed);
    assert_true(n >= 4 && n <= 8);
    bed.faults[0].n_servers = 4;
    assert_int_equal(failures(&bed), 20);
}

/* A retry goes to another server, even if the bad one is the least busy. */
static void retry_goes_elsewhere(void **state)
{
    static const enum bide__balance_by all[] = {
        BIDE__TWO_CHOICES, BIDE__LEAST_REQUESTS, BIDE__ROUND_ROBIN, BIDE__RANDOM
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct bed bed;
        pool_init(&bed, 2, all[i]);
        bed.faults[0].n_servers = 1;
        bed.faults[0].at_once = true;
        bed.policies[0].conf.attempts = 2;
        assert_int_equal(failures(&bed), 0);
        bed.policies[0].conf.attempts = 1;
        assert_true(failures(&bed) > 0);
    }
}

/* So does a hedge, when the first server hangs. */
static void hedge_goes_elsewhere(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 2, BIDE__LEAST_REQUESTS);
    bed.faults[0].kind = SIM_PARTITION;
    bed.faults[0].n_servers = 1;
    bed.policies[0].conf.hedge.max = 1;
    bed.policies[0].conf.hedge.extra_load = 1;
    bed.policies[0].conf.hedge.after_ns = 50 * BIDE_MILLISECOND;
    assert_int_equal(failures(&bed), 0);
    bed.policies[0].conf.hedge.max = 0;
    assert_true(failures(&bed) > 0);
}

/* Five failures in a row, and then one for each probe: with `open` of a second,
 * spread by jitter, two or three in two seconds. */
static void ejection_takes_a_bad_server_out(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 4, BIDE__LEAST_REQUESTS);
    bed.faults[0].n_servers = 1;
    bed.faults[0].at_once = true;
    bed.fleets[0].rate = 500;
    bed.services[0].balance.ejection.open_ns = BIDE_SECOND;
    struct sim_result *plain = bed_run(&bed);
    bed.services[0].balance.ejects = true;
    struct sim_result *ejecting = bed_run(&bed);
    assert_true(plain->callers[0].total.failures > 200);
    assert_true(ejecting->callers[0].total.failures >= 5);
    assert_true(ejecting->callers[0].total.failures <= 12);
    sim_result_free(plain);
    sim_result_free(ejecting);
}

/* Half of them at the most: the fault of all is nobody's. */
static void ejection_leaves_enough_in_use(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 4, BIDE__ROUND_ROBIN);
    bed.services[0].balance.ejects = true;
    bed.faults[0].n_servers = 0;
    assert_int_equal(failures(&bed), 20); /* none fails for want of a server */
}

/* Refused connections were not sent, so they may be retried; what is in hand is
 * finished. */
static void refusal_spares_what_is_in_hand(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 1, BIDE__RANDOM);
    bed.services[0].time = sim_constant(250 * BIDE_MILLISECOND);
    bed.fleets[0].repeat = SIM_NOT_IDEMPOTENT;
    bed.faults[0].kind = SIM_REFUSE;
    bed.policies[0].conf.attempts = 2;
    bed.policies[0].conf.unreachable.wait_ns = 0;
    struct sim_result *r = bed_run(&bed);
    const struct sim_caller_totals *t = &r->callers[0].total;
    assert_true(t->retries > 0);
    assert_int_equal(t->by_reason[BIDE_BECAUSE_NOT_IDEMPOTENT], 0);
    assert_true(r->services[0].broken > 0);
    sim_result_free(r);
}

/* Ten calls a second of 200 ms keep two of four busy. */
static void regress_utilisation_is_of_all_servers(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 4, BIDE__ROUND_ROBIN);
    bed.model.n_faults = 0;
    bed.services[0].workers = 1;
    bed.services[0].time = sim_constant(200 * BIDE_MILLISECOND);
    struct sim_result *r = bed_run(&bed);
    assert_true(r->figure[SIM_FIG_UTILISATION] > 0.48);
    assert_true(r->figure[SIM_FIG_UTILISATION] <= 0.5);
    sim_result_free(r);
}

/* A server that fails at once is not busy meanwhile. */
static void failing_at_once_takes_no_time(void **state)
{
    struct bed bed;
    (void)state;
    pool_init(&bed, 1, BIDE__RANDOM);
    bed.run_conf.steps = 100;
    bed.faults[0].at_once = true;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.failures, 20);
    assert_int_equal(r->services[0].errors, 20);
    assert_int_equal(r->services[0].served, 79);
    sim_result_free(r);
}

/* Shards and servers: a client stays in its shard, a fault hits one server of
 * it. */
static void servers_of_a_shard_serve_its_clients(void **state)
{
    struct bed bed;
    uint32_t hit[2] = { 0 };
    (void)state;
    pool_init(&bed, 2, BIDE__ROUND_ROBIN);
    bed.services[0].shards = 2;
    bed.fleets[0].arrival = SIM_CLOSED;
    bed.fleets[0].clients = 2;
    bed.fleets[0].think = sim_constant(90 * BIDE_MILLISECOND);
    bed.faults[0].shard = 1;
    bed.faults[0].n_servers = 1;
    bed.run_conf.samples = 2;
    struct sim_result *r = bed_run(&bed);
    for (uint32_t i = 0; i < r->n_marks; i++)
        hit[r->marks[i].client] += r->marks[i].kind == SIM_MARK_ERROR;
    assert_int_equal(hit[0], 0);
    assert_int_equal(hit[1], 10);
    sim_result_free(r);
}

/* ===== calls at once ===== */

static void fan_init(struct bed *b, uint32_t times)
{
    bed_init(b);
    bed_chain(b, 2);
    b->services[0].time = sim_constant(0);
    b->edges[0].times = times;
    b->edges[0].parallel = true;
}

/* Five calls of 10 ms take 10 ms at once, and 50 ms one after the other. */
static void parallel_calls_take_as_long_as_the_slowest(void **state)
{
    struct bed bed;
    (void)state;
    fan_init(&bed, 5);
    struct sim_result *r = bed_run(&bed);
    double at_once = r->figure[SIM_FIG_P50];
    assert_int_equal(r->callers[1].total.calls, 5 * 99);
    assert_int_equal(r->callers[0].total.successes, 99);
    sim_result_free(r);
    bed.edges[0].parallel = false;
    r = bed_run(&bed);
    assert_true(at_once > 0.0099 && at_once < 0.0101);
    assert_true(r->figure[SIM_FIG_P50] > 0.0495);
    sim_result_free(r);
}

/* Each goes to another shard: one bad shard fails every request, at once, and
 * the calls to the others are given up. */
static void parallel_call_that_fails_ends_the_rest(void **state)
{
    struct bed bed;
    (void)state;
    fan_init(&bed, 5);
    bed.services[1].shards = 5;
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_CRASH;
    bed.faults[0].service = 1;
    bed.faults[0].shard = 3;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.failures, 20);
    assert_int_equal(r->callers[1].total.by_reason[BIDE_BECAUSE_CANCELLED],
                     20 * 4);
    sim_result_free(r);
}

/* A call that is refused when it is begun, because no more may be in flight,
 * ends the request and those begun before it. */
static void parallel_call_that_is_refused_ends_the_rest(void **state)
{
    struct bed bed;
    (void)state;
    fan_init(&bed, 5);
    bed.model.n_policies = 2;
    bed.edges[0].policy = 1;
    bed.policies[1].conf.limits.in_flight = 3;
    struct sim_result *r = bed_run(&bed);
    assert_int_equal(r->callers[0].total.failures, 99);
    assert_int_equal(r->callers[1].total.by_reason[BIDE_BECAUSE_CANCELLED],
                     99 * 3);
    assert_int_equal(r->callers[1].total.calls, 99 * 4);
    sim_result_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_hits_the_servers_it_names),
        cmocka_unit_test(fault_in_turn_hits_one_after_the_other),
        cmocka_unit_test(retry_goes_elsewhere),
        cmocka_unit_test(hedge_goes_elsewhere),
        cmocka_unit_test(ejection_takes_a_bad_server_out),
        cmocka_unit_test(ejection_leaves_enough_in_use),
        cmocka_unit_test(refusal_spares_what_is_in_hand),
        cmocka_unit_test(failing_at_once_takes_no_time),
        cmocka_unit_test(servers_of_a_shard_serve_its_clients),
        cmocka_unit_test(regress_utilisation_is_of_all_servers),
        cmocka_unit_test(parallel_calls_take_as_long_as_the_slowest),
        cmocka_unit_test(parallel_call_that_fails_ends_the_rest),
        cmocka_unit_test(parallel_call_that_is_refused_ends_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
