/* test_recovery.c: a run is compared with its twin, and noise is no failure. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bed.h"
#include "sim/model/memory.h"
#include "sim/study/recovery.h"

static struct sim_result *judged(const struct bed *bed, uint64_t seed)
{
    return sim_run_judged(&bed->model, SIM_NONE, seed, &bed->run_conf);
}

static double recover_of(const struct bed *bed, uint64_t seed)
{
    struct sim_result *r = judged(bed, seed);
    double seconds = r->figure[SIM_FIG_RECOVER];
    bool over = isinf(seconds) && seconds < 0;

    assert_true(r->figure[SIM_FIG_OVERLOADED] == over);
    if (!over)
        assert_true(r->figure[SIM_FIG_STUCK] == isinf(seconds));
    sim_result_free(r);
    return seconds;
}

/* ===== models ===== */

/* M/M/10 at 95 %, clients that give up after a second, and a fault of 1 ms. */
static void make_busy(struct bed *bed, int64_t duration_s)
{
    bed_init(bed);
    bed->model.duration_ns = duration_s * BIDE_SECOND;
    bed->fleets[0].rate = 95;
    bed->fleets[0].steady = false;
    bed->services[0].workers = 10;
    bed->services[0].time = sim_exponential(100e6);
    bed->model.n_faults = 1;
    bed->faults[0].kind = SIM_STOP;
    bed->faults[0].from_ns = 60 * BIDE_SECOND;
    bed->faults[0].to_ns = 60 * BIDE_SECOND + BIDE_MILLISECOND;
}

/* Row 13 of the oracles, small: a stop of ten seconds. */
static void make_stopped(struct bed *bed, double rate, bide_budget_kind budget)
{
    bed_init(bed);
    bed->model.duration_ns = 600 * BIDE_SECOND;
    bed->model.n_faults = 1;
    bed->faults[0].kind = SIM_STOP;
    bed->faults[0].from_ns = 30 * BIDE_SECOND;
    bed->faults[0].to_ns = 40 * BIDE_SECOND;
    bed->fleets[0].rate = rate;
    bed->fleets[0].steady = false;
    bed->policies[0].conf.attempts = 2;
    bed->policies[0].conf.budget.kind = budget;
    bed->services[0].workers = 30;
    bed->services[0].time = sim_exponential(100e6);
}

static double stopped(double rate, bide_budget_kind budget)
{
    struct bed bed;
    make_stopped(&bed, rate, budget);
    return recover_of(&bed, 1);
}

/* ===== noise ===== */

/* It "recovered" after 363 s, and later the longer it ran. */
static void regress_noise_is_no_failure(void **state)
{
    static const int64_t durations_s[] = { 300, 600, 1200 };
    struct bed bed;
    (void)state;
    for (int i = 0; i < 3; i++) {
        make_busy(&bed, durations_s[i]);
        for (uint64_t seed = 1; seed <= 10; seed++)
            assert_true(recover_of(&bed, seed) == 0);
    }
}

/* Clients that wait for their answers make other calls in the two runs: their
 * goodput differs by noise, and so do failures at random. */
static void noise_of_a_closed_loop_is_no_failure(void **state)
{
    struct bed bed;
    int late = 0;
    (void)state;
    make_busy(&bed, 300);
    bed.fleets[0].arrival = SIM_CLOSED;
    bed.fleets[0].clients = 40;
    bed.fleets[0].think = sim_exponential(300e6);
    bed.services[0].error_rate = 0.02;
    bed.faults[0].to_ns = 61 * BIDE_SECOND;
    for (uint64_t seed = 1; seed <= 30; seed++)
        late += recover_of(&bed, seed) > 5;
    assert_int_equal(late, 0);
}

/* ===== failures ===== */

static void recovery_is_seen(void **state)
{
    (void)state;
    assert_true(isinf(stopped(280, BIDE_BUDGET_OFF)));
    double slow = stopped(140, BIDE_BUDGET_OFF);
    double budget = stopped(280, BIDE_BUDGET_WINDOW);
    /* 2 x 140/s of what nobody waits for any more, 300/s to work them off: the
     * 2800 that have piled up are gone after 140 s, by and large */
    assert_true(slow > 70 && slow < 210);
    assert_true(budget > 70 && budget < 400);
}

/* The time watched does not change when it was over. */
static void recovery_does_not_depend_on_the_length_of_the_run(void **state)
{
    struct bed bed;
    (void)state;
    make_stopped(&bed, 140, BIDE_BUDGET_OFF);
    bed.model.duration_ns = 400 * BIDE_SECOND;
    double shorter = recover_of(&bed, 3);
    bed.model.duration_ns = 1600 * BIDE_SECOND;
    double longer = recover_of(&bed, 3);
    assert_true(fabs(shorter - longer) <= 5);
}

static void recovery_needs_a_fault(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    struct sim_result *r = judged(&bed, 1);
    assert_true(isnan(r->figure[SIM_FIG_RECOVER]));
    assert_true(isnan(r->figure[SIM_FIG_STUCK]));
    assert_true(isnan(r->figure[SIM_FIG_OVERLOADED]));
    assert_true(r->watched_s == 0);
    sim_result_free(r);
}

/* A service that fails for two seconds is well as soon as it works again. */
static void recovery_from_errors_is_at_once(void **state)
{
    struct bed bed;
    (void)state;
    bed_init(&bed);
    bed.model.duration_ns = 60 * BIDE_SECOND;
    bed.fleets[0].rate = 100;
    bed.model.n_faults = 1;
    bed.faults[0].kind = SIM_FAIL;
    bed.faults[0].factor = 1;
    bed.faults[0].from_ns = 20 * BIDE_SECOND;
    bed.faults[0].to_ns = 22 * BIDE_SECOND;
    struct sim_result *r = judged(&bed, 1);
    assert_true(r->figure[SIM_FIG_RECOVER] == 0);
    assert_true(r->figure[SIM_FIG_STUCK] == 0);
    assert_true(r->watched_s == 38);
    sim_result_free(r);
}

/* ===== overload ===== */

/* Too much without the fault is no metastable state. */
static void regress_overload_is_told_apart(void **state)
{
    static const struct {
        double rate;
        bool over;
    } rows[] = { { 290, false }, { 300, true }, { 330, true } };
    struct bed bed;
    (void)state;
    for (int i = 0; i < 3; i++) {
        make_stopped(&bed, rows[i].rate, BIDE_BUDGET_OFF);
        bed.model.duration_ns = 120 * BIDE_SECOND;
        double seconds = recover_of(&bed, 1);
        assert_int_equal(isinf(seconds) && seconds < 0, rows[i].over);
    }
}

/* 98 %, given up after 300 ms and retried: that breaks down by itself. A service
 * that answers a fifth with errors does not. */
static void overload_is_seen_in_the_twin(void **state)
{
    struct bed bed;
    (void)state;
    make_busy(&bed, 300);
    bed.fleets[0].rate = 98;
    bed.policies[0].conf.attempts = 3;
    bed.policies[0].conf.attempt_timeout_ns = 300 * BIDE_MILLISECOND;
    double seconds = recover_of(&bed, 1);
    assert_true(isinf(seconds) && seconds < 0);
    make_busy(&bed, 300);
    bed.fleets[0].rate = 50;
    bed.services[0].error_rate = 0.2;
    assert_true(recover_of(&bed, 1) == 0);
}

/* ===== the rule, on counts ===== */

enum { BEATS = 200, FAULT_S = 20 };

/* Calls that end in each second, and how many of them fail, from some second on
 * to before another: in the twin, and in the run. */
struct failing {
    int from, to;
    double failures;
};

struct row {
    double calls; /* a second; less than one: some seconds have none */
    struct failing twin, run;
    double seconds; /* expected */
};

static struct sim_beats beats_of(double calls, const struct failing *f)
{
    struct sim_beats b = { .length_ns = BIDE_SECOND, .n = BEATS };
    double ended = 0, failed = 0;
    b.begun = sim_new(BEATS, sizeof *b.begun);
    b.ended = sim_new(BEATS, sizeof *b.ended);
    b.good = sim_new(BEATS, sizeof *b.good);
    b.arrived = sim_new(BEATS, sizeof *b.arrived);
    for (int i = 0; i < BEATS; i++) {
        ended += calls;
        if (i >= f->from && i < f->to)
            failed += f->failures;
        b.begun[i] = b.ended[i] = (uint64_t)ended;
        b.good[i] = b.ended[i] - (uint64_t)failed;
    }
    return b;
}

static double judge_row(const struct row *row)
{
    struct bed bed;
    bed_init(&bed);
    bed.model.duration_ns = BEATS * BIDE_SECOND;
    bed.model.n_faults = 1;
    bed.faults[0].from_ns = 10 * BIDE_SECOND;
    bed.faults[0].to_ns = FAULT_S * BIDE_SECOND;
    struct sim_result *run = sim_new(1, sizeof *run);
    struct sim_twin *twin = sim_new(1, sizeof *twin);
    run->model = &bed.model;
    run->ended_ns = bed.model.duration_ns;
    run->beats = beats_of(row->calls, &row->run);
    twin->beats = beats_of(row->calls, &row->twin);
    twin->success = 1;
    sim_recovery_judge(run, twin);
    double seconds = run->figure[SIM_FIG_RECOVER];
    sim_twin_free(twin);
    sim_result_free(run);
    return seconds;
}

static void counts_are_judged(void **state)
{
    static const struct row rows[] = {
        /* all well, and a single failure long after */
        { 100, { 0 }, { 0 }, 0 },
        { 100, { 0 }, { 120, 121, 1 }, 0 },
        /* a tenth fails for ten seconds more, or for good */
        { 100, { 0 }, { 20, 30, 10 }, 10 },
        { 100, { 0 }, { 20, 200, 10 }, INFINITY },
        /* one that comes back, and falls again */
        { 100, { 0 }, { 100, 140, 50 }, 120 },
        /* less than a percent more is allowed */
        { 1000, { 0 }, { 20, 200, 8 }, 0 },
        { 1000, { 0 }, { 20, 200, 30 }, INFINITY },
        /* what the twin has too is not the fault's doing */
        { 100, { 100, 140, 50 }, { 100, 140, 50 }, 0 },
        { 100, { 0, 200, 20 }, { 0, 200, 20 }, 0 },
        /* the last tenth decides about never */
        { 100, { 0 }, { 20, 175, 50 }, 155 },
        { 100, { 0 }, { 20, 190, 50 }, INFINITY },
        /* a call every five seconds: it takes some of them to tell */
        { 0.2, { 0 }, { 20, 31, 0.2 }, 0 },
        { 0.2, { 0 }, { 20, 120, 0.2 }, 99 },
        { 0.2, { 0 }, { 20, 200, 0.2 }, INFINITY },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double found = judge_row(&rows[i]);
        bool same = isinf(rows[i].seconds) ? isinf(found)
                                           : fabs(found - rows[i].seconds) <=
                                                 (rows[i].calls < 1 ? 5 : 1);
        if (!same)
            fail_msg("row %zu: %g, not %g", i, found, rows[i].seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regress_noise_is_no_failure),
        cmocka_unit_test(noise_of_a_closed_loop_is_no_failure),
        cmocka_unit_test(recovery_is_seen),
        cmocka_unit_test(recovery_does_not_depend_on_the_length_of_the_run),
        cmocka_unit_test(recovery_needs_a_fault),
        cmocka_unit_test(recovery_from_errors_is_at_once),
        cmocka_unit_test(regress_overload_is_told_apart),
        cmocka_unit_test(overload_is_seen_in_the_twin),
        cmocka_unit_test(counts_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
