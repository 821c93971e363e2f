/* test_call_unreachable.c: calls while nobody accepts a connection. The gate
 * itself is in test_gate.c. */
#include "script.h"

/* The tables are laid out by hand. */
/* clang-format off */

/* A doubt lasts for 10 ms. */
static bide_policy_conf gate_conf(void)
{
    bide_policy_conf conf = script_conf();

    conf.attempts = 2;
    conf.unreachable.wait_ns = 10 * S;
    conf.unreachable.knock_ns = 320 * MS;
    return conf;
}

static void unreached_does_not_count(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, UNCONNECTED) },
         { 1 * MS, WAIT_IN(11 * MS, 21 * MS, KNOCKING) },
         { 21 * MS, TRY(2, KNOCKING) },
         { 22 * MS, REPORT(2, WORKED) },
         { 22 * MS, DONE(SUCCESS) });
}

/* Ten failed connections, and still two attempts of work. */
static void unreached_costs_neither_attempts_nor_budget(void **state)
{
    bide_policy_conf conf = gate_conf();
    bide_dep *dep;
    bide_stats s;

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW; /* 10 at the start */
    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = 1;
    dep = script_dep(&conf);
    PLAY_ON(dep, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, UNCONNECTED) },
         { 1 * MS, WAIT_IN(11 * MS, 21 * MS, KNOCKING) },
         { 30 * MS, TRY(2, KNOCKING) },
         { 31 * MS, REPORT(2, UNCONNECTED) }, /* shut */
         { 31 * MS, WAIT(ANY_NS, KNOCKING) },
         { 100 * MS, TRY(3, KNOCKING) },
         { 101 * MS, REPORT(3, UNCONNECTED) },
         { 101 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1 * S, TRY(4, KNOCKING) },
         { 1 * S, REPORT(4, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1 * S, LEFT(10) },
         { 1 * S, BREAKER(CLOSED) },
         { 2 * S, TRY(5, KNOCKING) },
         { 2 * S, REPORT(5, WORKED) },
         { 2 * S, DONE(SUCCESS) });
    s = script_stats(dep, 2 * S);
    assert_int_equal(s.unreached, 4);
    assert_int_equal(s.attempts, 1);
    assert_int_equal(s.retries, 0);
    assert_int_equal(s.first_successes, 1);
    bide_dep_free(dep);
}

/* A retry that was paid for is paid for once, however often nobody is there. */
static void unreached_retry_keeps_what_was_paid(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, FAILED) },
         { 1 * MS, WAIT(101 * MS, BACKOFF) },
         { 1 * MS, LEFT(9) },
         { 101 * MS, TRY(2, BACKOFF) },
         { 102 * MS, REPORT(2, UNCONNECTED) },
         { 102 * MS, WAIT_IN(112 * MS, 122 * MS, KNOCKING) },
         { 102 * MS, LEFT(9) },
         { 130 * MS, TRY(3, KNOCKING) },
         { 131 * MS, REPORT(3, FAILED) },
         { 131 * MS, DONE(ATTEMPTS) },
         { 131 * MS, LEFT(9) });
    PLAY(&conf, GET, /* and returned, if the call is cancelled meanwhile */
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, FAILED) },
         { 101 * MS, WAIT(201 * MS, BACKOFF) },
         { 201 * MS, TRY(2, BACKOFF) },
         { 202 * MS, REPORT(2, UNCONNECTED) },
         { 202 * MS, WAIT(ANY_NS, KNOCKING) },
         { 203 * MS, CANCEL },
         { 203 * MS, DONE(CANCELLED) },
         { 203 * MS, LEFT(10) });
}

static void unreached_shuts_the_gate_for_all(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },
         { 1021 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1022 * MS, BY(1), WAIT(ANY_NS, KNOCKING) }, /* not even one attempt */
         { 1500 * MS, BY(1), TRY(1, KNOCKING) },       /* the knock */
         { 1500 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1501 * MS, BY(2), WAIT(ANY_NS, KNOCKING) },
         { 1510 * MS, BY(1), REPORT(1, WORKED) },
         { 1510 * MS, BY(1), DONE(SUCCESS) },
         { 1511 * MS, BY(3), TRY(1, FIRST) }, /* a new one passes */
         { 2500 * MS, TRY(3, KNOCKING) },
         { 2500 * MS, BY(2), TRY(1, KNOCKING) });
}

static void unreached_for_too_long_is_unreachable(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },
         { 10 * S, WAIT(ANY_NS, KNOCKING) },
         { 11 * S, TRY(3, KNOCKING) },
         { 11 * S, BY(1), DONE(UNREACHABLE) },
         { 11 * S, REPORT(3, UNCONNECTED) },
         { 11 * S, DONE(UNREACHABLE) },
         { 12 * S, BY(2), TRY(1, FIRST) }, /* one of the next finds out */
         { 12 * S, BY(3), DONE(UNREACHABLE) },
         { 12 * S, BY(2), REPORT(1, UNCONNECTED) },
         { 12 * S, BY(2), DONE(UNREACHABLE) },
         { 13 * S, BY(4), TRY(1, FIRST) },
         { 13 * S, BY(4), REPORT(1, WORKED) },
         { 13 * S, BY(4), DONE(SUCCESS) },
         { 13 * S, BY(5), TRY(1, FIRST) });
}

/* A deadline ends the wait, and says why there was one. */
static void unreached_waits_within_the_deadline(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    conf.deadline_ns = 1 * S;
    conf.attempt_min_ns = 100 * MS;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },
         { 1021 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1500 * MS, BY(1), TRY(1, FIRST) },
         { 1800 * MS, WAIT_IN(1801 * MS, 1900 * MS - 1, KNOCKING) },
         { 1900 * MS - 1, DONE(UNREACHABLE) });
}

static void unreached_elsewhere_goes_at_once(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    PLAY(&conf, POST,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, UNCONNECTED, .elsewhere = true) },
         { 1 * MS, TRY(2, IMMEDIATE) },
         { 500 * MS, REPORT(2, UNCONNECTED, .elsewhere = true) },
         { 500 * MS, TRY(3, IMMEDIATE) },
         { 501 * MS, BY(1), TRY(1, FIRST) }, /* the gate is open */
         { 502 * MS, REPORT(3, WORKED) },
         { 502 * MS, DONE(SUCCESS) });
}

/* Servers that are only said to be there do not make a call spin. */
static void unreached_elsewhere_again_and_again_waits(void **state)
{
    bide_policy_conf conf = gate_conf();
    bide_dep *dep = script_dep(&conf);
    bide_call call;
    bide_decision d;
    int at_once = 0;

    (void)state;
    bide_call_begin(&call, dep, GET, 0);
    for (;;) {
        d = bide_call_next(&call, 0);
        if (d.action != BIDE_TRY)
            break;
        at_once++;
        bide_call_report(&call, d.attempt,
                         &(bide_outcome){ UNCONNECTED, .elsewhere = true }, 0);
    }
    assert_int_equal(d.action, BIDE_WAIT);
    assert_int_equal(d.reason, BIDE_BECAUSE_KNOCKING);
    assert_int_equal(at_once, 9);
    bide_call_end(&call, 0);
    bide_dep_free(dep);
}

/* {outcome, made again?} What was not proven to have reached nobody is judged as
 * ever. */
static void unreached_has_to_be_proven(void **state)
{
    static const struct {
        bide_outcome out;
        bool again;
    } rows[] = {
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_DNS,
            .not_processed = true }, true },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_RESET,
            .not_processed = true }, true },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT,
            .not_processed = true }, true },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_RESET }, false },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT }, false },
        { { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL,
            .not_processed = true }, false },
        { { .cls = BIDE_TRANSIENT, .status = 503,
            .not_processed = true }, false },
        { { .cls = BIDE_PERMANENT, .fault = BIDE_FAULT_CONNECT,
            .not_processed = true }, false }, /* a rule of the policy */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bide_policy_conf conf = gate_conf();
        bide_dep *dep = script_dep(&conf);
        bide_call call;
        bide_call_begin(&call, dep, GET, 0);
        bide_call_next(&call, 0);
        bide_call_report(&call, 1, &rows[i].out, 1);
        bide_decision d = bide_call_next(&call, 1);
        if ((d.reason == BIDE_BECAUSE_KNOCKING) != rows[i].again)
            fail_msg("row %zu: %s", i, bide_reason_name(d.reason));
        bide_call_end(&call, 1);
        bide_dep_free(dep);
    }
}

/* Nobody is asked for work twice: so POST, one-shot bodies and calls whose
 * retries belong to a layer above wait as well. */
static void unreached_is_harmless_to_repeat(void **state)
{
    static const bide_op ops[] = {
        { .idempotent = false },
        { .one_shot_body = true },
        { .idempotent = true, .upstream_attempt = 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ops); i++) {
        bide_policy_conf conf = gate_conf();
        PLAY(&conf, &ops[i],
             { 0, TRY(1, FIRST) },
             { 1 * MS, REPORT(1, .cls = BIDE_TRANSIENT,
                              .fault = BIDE_FAULT_TIMEOUT,
                              .not_processed = true) },
             { 1 * MS, WAIT(ANY_NS, KNOCKING) },
             { 30 * MS, TRY(2, KNOCKING) });
    }
}

static void unreached_with_one_attempt_is_the_end(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    conf.attempts = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, UNCONNECTED) },
         { 1 * MS, DONE(ATTEMPTS) });
    conf.hedge.max = 1; /* unless it hedges */
    conf.hedge.after_ns = 5 * MS;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 1 * MS, REPORT(1, UNCONNECTED) },
         { 1 * MS, WAIT(ANY_NS, KNOCKING) },
         { 30 * MS, TRY(2, KNOCKING) });
}

/* While the gate is shut, a knock that is refused by something else leaves the
 * next call free to knock; a call that waits holds no place. */
static void unreached_holds_no_place(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    conf.limits.in_flight = 1;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },
         { 1021 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1022 * MS, BY(1), WAIT(ANY_NS, KNOCKING) },
         { 1300 * MS, BY(2), TRY(1, FIRST) },
         { 1300 * MS, BY(2), CANCEL },
         { 1300 * MS, BY(2), END },
         { 1600 * MS, BY(1), TRY(1, KNOCKING) },
         { 1600 * MS, BY(1), REPORT(1, WORKED) });
}

/* An old result, of an attempt that began before the trouble, opens nothing. */
/* One place, and room for two that wait for it. */
static bide_policy_conf queue_conf(void)
{
    bide_policy_conf conf = gate_conf();

    conf.limits.in_flight = 1;
    conf.limits.queue = 2;
    conf.limits.queue_timeout_ns = 60 * S;
    return conf;
}

/* It waited at the gate; its turn comes, but not its place. Then it waits for the
 * place, and goes as soon as that is free, not when the queue's time is over. */
static void regress_from_the_gate_into_the_queue(void **state)
{
    bide_policy_conf conf = queue_conf();

    (void)state;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },        /* shut */
         { 1021 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1022 * MS, BY(1), WAIT(ANY_NS, KNOCKING) },
         { 1500 * MS, TRY(3, KNOCKING) },              /* the knock */
         { 1510 * MS, REPORT(3, WORKED) },             /* there again */
         { 1510 * MS, DONE(SUCCESS) },
         { 1510 * MS, BY(2), TRY(1, FIRST) },          /* in the only place */
         { 3 * S, BY(1), WAIT(63 * S, QUEUED) },
         { 4 * S, BY(1), WAIT(63 * S, QUEUED) },
         { 5 * S, BY(2), REPORT(1, WORKED) },
         { 5 * S, BY(1), TRY(1, KNOCKING) },
         { 5 * S, BY(1), REPORT(1, WORKED) },
         { 5 * S, BY(1), DONE(SUCCESS) });
}

/* The other way round: at the gate it is in no queue, and afterwards it has all of
 * the queue's time again. */
static void regress_from_the_queue_to_the_gate(void **state)
{
    bide_policy_conf conf = queue_conf();

    (void)state;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1020 * MS, BY(1), WAIT(61020 * MS, QUEUED) },
         { 1020 * MS, BY(2), WAIT(61020 * MS, QUEUED) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },        /* shut */
         { 1021 * MS, WAIT(ANY_NS, KNOCKING) },
         { 1021 * MS, BY(1), WAIT_IN(1022 * MS, 2 * S, KNOCKING) },
         { 1021 * MS, BY(2), WAIT_IN(1022 * MS, 2 * S, KNOCKING) },
         { 1500 * MS, TRY(3, KNOCKING) },
         { 1510 * MS, REPORT(3, WORKED) },
         { 1510 * MS, DONE(SUCCESS) },
         { 1510 * MS, BY(3), TRY(1, FIRST) },
         { 3 * S, BY(1), WAIT(63 * S, QUEUED) },       /* the queue was empty */
         { 3 * S, BY(2), WAIT(63 * S, QUEUED) },
         { 4 * S, BY(3), REPORT(1, WORKED) },
         { 4 * S, BY(1), TRY(1, KNOCKING) });
}

static void unreached_late_success_does_not_open(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    PLAY(&conf, GET,
         { 900 * MS, BY(1), TRY(1, FIRST) },
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },
         { 1021 * MS, BY(1), REPORT(1, WORKED) },
         { 1021 * MS, BY(2), WAIT(ANY_NS, KNOCKING) });
}

/* ===== when_refused: wait ===== */

static void held_by_the_breaker_goes_when_it_may(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.breaker.open_factor = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, BREAKER(OPEN) },
         { 0, WAIT_IN(10 * S - MS, 10 * S + 50 * MS, HELD) },
         { 1 * S, BY(1), WAIT_IN(10 * S - MS, 10 * S + 50 * MS, HELD) },
         { 10050 * MS, BY(1), TRY(1, HELD) },
         { 10050 * MS, BY(1), REPORT(1, WORKED) },
         { 10051 * MS, TRY(2, HELD) },
         { 10051 * MS, REPORT(2, WORKED) });
}

/* The only call there is was a probe, and must be the next one too. */
static void regress_held_probe_may_probe_again(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.breaker.open_factor = 1;
    conf.breaker.probes = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(ANY_NS, HELD) },
         { 11 * S, TRY(2, HELD) },
         { 11 * S, REPORT(2, FAILED) },
         { 11 * S, BREAKER(OPEN) },
         { 11 * S, WAIT(ANY_NS, HELD) },
         { 24 * S, TRY(3, HELD) },
         { 24 * S, REPORT(3, WORKED) },
         { 24 * S, BREAKER(CLOSED) });
}

static void held_by_the_budget_is_paid_for_later(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.window_ns = 1 * S;
    conf.budget.floor_per_s = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(100 * MS, BACKOFF) },
         { 0, BY(1), REPORT(1, FAILED) },
         { 0, BY(1), WAIT_IN(125 * MS, 150 * MS, HELD) }, /* not before its wait */
         { 150 * MS, BY(1), WAIT_IN(150 * MS, 200 * MS, HELD) },
         { 1500 * MS, BY(1), TRY(2, HELD) }, /* the first has paid 1.5 s ago */
         { 1500 * MS, BY(1), LEFT(0) });
}

static void held_beyond_the_deadline_is_refused(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.deadline_ns = 5 * S;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(BREAKER_OPEN) });
}

static void held_by_the_cap_and_the_throttle(void **state)
{
    bide_policy_conf conf = script_conf();

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.limits.in_flight = 1;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, BY(1), WAIT_IN(25 * MS, 50 * MS, HELD) },
         { 60 * MS, BY(1), WAIT_IN(85 * MS, 110 * MS, HELD) },
         { 100 * MS, REPORT(1, WORKED) },
         { 110 * MS, BY(1), TRY(1, HELD) });
}

/* A call that comes when the others have given up waits for as long as they
 * did. None waits for ever. */
static void held_while_unreachable_waits_from_its_beginning(void **state)
{
    bide_policy_conf conf = gate_conf();

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.unreachable.wait_ns = 1 * S;
    PLAY(&conf, GET,
         { 1 * S, TRY(1, FIRST) },
         { 1 * S, REPORT(1, UNCONNECTED) },
         { 1 * S, WAIT(ANY_NS, KNOCKING) },
         { 1020 * MS, TRY(2, KNOCKING) },
         { 1021 * MS, REPORT(2, UNCONNECTED) },
         { 1021 * MS, WAIT(ANY_NS, KNOCKING) },
         { 3 * S, TRY(3, KNOCKING) },
         { 3 * S, REPORT(3, UNCONNECTED) },
         { 3 * S, DONE(UNREACHABLE) },
         { 3 * S, BY(1), WAIT(ANY_NS, HELD) },
         { 5 * S, BY(1), TRY(1, HELD) },
         { 5 * S, BY(1), REPORT(1, UNCONNECTED) },
         { 5 * S, BY(1), DONE(UNREACHABLE) },
         { 5 * S, BY(2), WAIT(ANY_NS, HELD) },
         { 60 * S, BY(2), TRY(1, HELD) },
         { 60 * S, BY(2), REPORT(1, WORKED) });
}

/* What will not change by waiting ends the call. */
static void held_is_not_what_cannot_improve(void **state)
{
    bide_policy_conf conf = script_conf();
    bide_dep *dep;

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    conf.budget.kind = BIDE_BUDGET_WINDOW;
    conf.budget.per_call = 0.1; /* one of the ten at the start */
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 100 * MS, WAIT(200 * MS, BACKOFF) },
         { 200 * MS, TRY(2, BACKOFF) },
         { 200 * MS, REPORT(2, FAILED) },
         { 200 * MS, DONE(BUDGET) });
    conf.budget.per_call = 1;
    dep = script_dep(&conf);
    bide_dep_set_retries(dep, false);
    PLAY_ON(dep, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, DONE(RETRIES_OFF) });
    bide_dep_free(dep);
}

static void held_call_is_cancelled(void **state)
{
    bide_policy_conf conf = breaker_conf(1);

    (void)state;
    conf.when_refused = BIDE_REFUSED_WAIT;
    PLAY(&conf, GET,
         { 0, TRY(1, FIRST) },
         { 0, REPORT(1, FAILED) },
         { 0, WAIT(ANY_NS, HELD) },
         { 1, CANCEL },
         { 1, DONE(CANCELLED) });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unreached_does_not_count),
        cmocka_unit_test(unreached_costs_neither_attempts_nor_budget),
        cmocka_unit_test(unreached_retry_keeps_what_was_paid),
        cmocka_unit_test(unreached_shuts_the_gate_for_all),
        cmocka_unit_test(unreached_for_too_long_is_unreachable),
        cmocka_unit_test(unreached_waits_within_the_deadline),
        cmocka_unit_test(unreached_elsewhere_goes_at_once),
        cmocka_unit_test(unreached_elsewhere_again_and_again_waits),
        cmocka_unit_test(unreached_has_to_be_proven),
        cmocka_unit_test(unreached_is_harmless_to_repeat),
        cmocka_unit_test(unreached_with_one_attempt_is_the_end),
        cmocka_unit_test(unreached_holds_no_place),
        cmocka_unit_test(regress_from_the_gate_into_the_queue),
        cmocka_unit_test(regress_from_the_queue_to_the_gate),
        cmocka_unit_test(unreached_late_success_does_not_open),
        cmocka_unit_test(held_by_the_breaker_goes_when_it_may),
        cmocka_unit_test(regress_held_probe_may_probe_again),
        cmocka_unit_test(held_by_the_budget_is_paid_for_later),
        cmocka_unit_test(held_beyond_the_deadline_is_refused),
        cmocka_unit_test(held_by_the_cap_and_the_throttle),
        cmocka_unit_test(held_while_unreachable_waits_from_its_beginning),
        cmocka_unit_test(held_is_not_what_cannot_improve),
        cmocka_unit_test(held_call_is_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
