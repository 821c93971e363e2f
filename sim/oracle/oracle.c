/* The list of oracles, and the recording of their results. */
#include "sim/oracle/oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/oracle/attempts.h"
#include "sim/oracle/budget.h"
#include "sim/oracle/pool.h"
#include "sim/oracle/queue.h"
#include "sim/oracle/waits.h"

const struct sim_oracle sim_oracles[] = {
    { 1, "1000 clients pick one of 1024 slots", sim_oracle_slots },
    { 2, "waits: mean and shape of each jitter", sim_oracle_waits },
    { 3, "four attempts, each failing with p", sim_oracle_attempts },
    { 4, "a chain of layers where everything fails", sim_oracle_chain },
    { 5, "M/M/c queues against Erlang's formula", sim_oracle_erlang },
    { 6, "hedging at the 95th percentile", sim_oracle_hedge },
    { 7, "adaptive throttling under overload", sim_oracle_throttle },
    { 8, "gRPC's throttle when everything fails", sim_oracle_grpc },
    { 9, "no token budget is ever overdrawn", sim_oracle_invariant },
    { 10, "1000 calls that fail at one instant", sim_oracle_in_flight },
    { 11, "refused requests that come back add up", sim_oracle_growth },
    { 12, "100 clients contend for one row", sim_oracle_contention },
    { 13, "metastable overload after a stop", sim_oracle_overload },
    { 14, "asking 100 servers, the slowest counts", sim_oracle_fan_out },
    { 15, "the same with hedged requests", sim_oracle_fan_out_hedge },
    { 16, "every request sent to two servers", sim_oracle_copies },
    { 17, "the shorter of two queues, or any", sim_oracle_choices },
    { 18, "one server of three fails at once", sim_oracle_black_hole },
    { 0, NULL, NULL },
};

static bool holds(const struct sim_check *c)
{
    double off = c->measured - c->expected;
    if (c->bound != SIM_NEAR)
        return off <= 0;
    return (off < 0 ? -off : off) <= c->tolerance;
}

void sim_expect(struct sim_report *r, enum sim_bound bound, double expected,
                double measured, double tolerance, const char *what, ...)
{
    r->checks = sim_grow(r->checks, r->n_checks, &r->room, sizeof *r->checks);
    struct sim_check *c = &r->checks[r->n_checks++];
    *c = (struct sim_check){ .row = r->row, .bound = bound,
                             .expected = expected, .measured = measured,
                             .tolerance = tolerance };
    va_list args;
    va_start(args, what);
    vsnprintf(c->what, sizeof c->what, what, args);
    va_end(args);
    c->ok = holds(c);
    if (r->progress)
        r->progress(r->self, r);
}

void sim_oracle_run(const struct sim_oracle *oracle, struct sim_report *report)
{
    report->row = oracle->row;
    if (report->progress)
        report->progress(report->self, report);
    oracle->run(report);
}

uint32_t sim_report_failures(const struct sim_report *report)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < report->n_checks; i++)
        n += !report->checks[i].ok;
    return n;
}

void sim_report_done(struct sim_report *report)
{
    free(report->checks);
}
