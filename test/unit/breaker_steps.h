/* breaker_steps.h: a breaker is opened, looked at, probed and closed again. */
#ifndef BIDE_TEST_BREAKER_STEPS_H
#define BIDE_TEST_BREAKER_STEPS_H

#include "lib/breaker.h"
#include "fixture.h"

#define UNIT (INT64_C(1) << 16) /* the time that an open breaker is kept in */

/* One attempt a call; open for exactly 30 s, 60 s, ... */
static inline bide_policy_conf steady(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;
    conf.breaker.failure_rate = 0.5; /* the tests' own numbers */
    conf.breaker.slow_rate = 1;
    conf.breaker.open_ns = 30 * BIDE_SECOND;
    conf.breaker.open_max_ns = 5 * BIDE_MINUTE;
    conf.attempts = 1;
    conf.breaker.open_jitter = 0;
    return conf;
}

static inline void many(bide_dep *dep, bide_class cls, int n, int64_t now)
{
    for (int i = 0; i < n; i++)
        one_call(dep, cls, now, now);
}

static inline bide_breaker_view view_of(const bide_dep *dep, int64_t now)
{
    bide_breaker_view view;
    assert_int_equal(bide_dep_breaker_view(dep, now, &view), 0);
    return view;
}

/* Fails until it is open; gives when it may be probed. */
static inline int64_t trip(bide_dep *dep, int64_t now)
{
    while (bide_dep_breaker(dep, now) == BIDE_BREAKER_CLOSED)
        one_call(dep, BIDE_TRANSIENT, now, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_OPEN);
    return view_of(dep, now).open_until_ns;
}

/* Lets the probes through, one after the other. */
static inline void recover(bide_dep *dep, int64_t now)
{
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_HALF_OPEN);
    many(dep, BIDE_SUCCESS, (int)bide_dep_policy(dep)->breaker.probes, now);
    assert_int_equal(bide_dep_breaker(dep, now), BIDE_BREAKER_CLOSED);
}

static inline bide_decision refused(bide_dep *dep, int64_t now)
{
    bide_call call;
    bide_decision d = begin(&call, dep, now);
    assert_int_equal(d.action, BIDE_DONE);
    assert_int_equal(d.reason, BIDE_BECAUSE_BREAKER_OPEN);
    bide_call_end(&call, now);
    return d;
}

#endif
