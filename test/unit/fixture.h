/* What the tests of a dependency's parts have in common: a dependency whose
 * draws are the same in each run, and calls that go one step at a time. */
#ifndef BIDE_TEST_FIXTURE_H
#define BIDE_TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "lib/dep.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define MS           BIDE_MILLISECOND
#define S            BIDE_SECOND

static const bide_op twice_is_fine = { .idempotent = true };

static inline bide_policy_conf defaults(void)
{
    return (bide_policy_conf)BIDE_POLICY_CONF_INIT;
}

static inline bide_dep *new_dep_in(const bide_policy_conf *conf, bide_host host)
{
    static const uint64_t seed = 42;
    bide_dep *dep = NULL;
    host.seed = &seed;
    assert_int_equal(bide_dep_new_in(&dep, "test", conf, &host), 0);
    return dep;
}

static inline bide_dep *new_dep(const bide_policy_conf *conf)
{
    return new_dep_in(conf, (bide_host){ .ctx = NULL });
}

/* Begins a call, and asks for the first time. */
static inline bide_decision begin(bide_call *call, bide_dep *dep, int64_t now)
{
    bide_call_begin(call, dep, &twice_is_fine, now);
    return bide_call_next(call, now);
}

/* Begins a call whose first attempt must be let through. */
static inline void start(bide_call *call, bide_dep *dep, int64_t now)
{
    bide_decision d = begin(call, dep, now);
    assert_int_equal(d.action, BIDE_TRY);
    assert_int_equal(d.attempt, 1);
}

/* Reports the attempt that was begun last, and asks again. */
static inline bide_decision report(bide_call *call, bide_class cls, int64_t now)
{
    bide_outcome out = { .cls = cls };
    assert_int_equal(
        bide_call_report(call, bide_call_attempts(call), &out, now), 0);
    return bide_call_next(call, now);
}

/* A whole call of one attempt: begun at `from`, reported at `to`. */
static inline void one_call(bide_dep *dep, bide_class cls, int64_t from,
                            int64_t to)
{
    bide_call call;
    start(&call, dep, from);
    report(&call, cls, to);
    bide_call_end(&call, to);
}

static inline bide_stats stats_of(const bide_dep *dep, int64_t now)
{
    bide_stats s;
    assert_int_equal(bide_dep_stats(dep, now, &s), 0);
    return s;
}

#endif
