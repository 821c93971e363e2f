/* budget_steps.h: many calls that fail at once.
 *
 * What a budget grants is seen as a caller sees it: a call fails, and is told
 * to wait for its retry, or that it is done because of the budget. */
#ifndef BIDE_TEST_BUDGET_STEPS_H
#define BIDE_TEST_BUDGET_STEPS_H

#include "lib/budget/budget.h"
#include "fixture.h"

enum { MANY = 1000 };

static bide_call calls[MANY];

/* Two attempts, a wait of 100 ms between them, and nobody but the budget to
 * object. */
static inline bide_policy_conf conf_of(bide_budget_kind kind)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.budget.ratio = 0.1; /* the tests' own number */
    conf.attempts = 2;
    conf.backoff.jitter = BIDE_JITTER_NONE;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.budget.kind = kind;
    return conf;
}

/* Fails a first attempt; true if a retry is granted, which then waits. */
static inline bool fails_and_waits(bide_call *call, bide_dep *dep, int64_t now)
{
    start(call, dep, now);
    bide_decision d = report(call, BIDE_TRANSIENT, now);
    if (d.action == BIDE_DONE)
        assert_int_equal(d.reason, BIDE_BECAUSE_BUDGET);
    return d.action == BIDE_WAIT;
}

/* As many calls fail at once; how many of them may retry? All are ended by
 * end_all(). */
static inline int fail_many(bide_dep *dep, int n, int64_t now)
{
    int granted = 0;
    for (int i = 0; i < n; i++)
        granted += fails_and_waits(&calls[i], dep, now);
    return granted;
}

static inline void end_all(int n, int64_t now)
{
    for (int i = 0; i < n; i++)
        bide_call_end(&calls[i], now);
}

/* Makes the retry that a call waits for. */
static inline void retry(bide_call *call, bide_class cls, int64_t now)
{
    bide_decision d = bide_call_next(call, now);
    assert_int_equal(d.action, BIDE_TRY);
    report(call, cls, now);
}

static inline void succeed(bide_dep *dep, int n, int64_t now)
{
    for (int i = 0; i < n; i++)
        one_call(dep, BIDE_SUCCESS, now, now);
}

static inline int64_t tokens(bide_dep *dep)
{
    return atomic_load(&dep->budget.level);
}

#endif
