/* script.h: the life of a call as a table of {time, event, expected}.
 *
 *     PLAY(&conf, &op,
 *          { 0, TRY(1, FIRST) },
 *          { 5 * MS, REPORT(1, FAILED) },
 *          { 5 * MS, WAIT(105 * MS, BACKOFF) },
 *          { 105 * MS, TRY(2, BACKOFF) },
 *          { 106 * MS, REPORT(2, WORKED) },
 *          { 106 * MS, DONE(SUCCESS) });
 *
 * TRY, WAIT and DONE ask bide_call_next() and compare its answer; the rest does
 * something. A row is about call 0 unless it says BY(n). A call begins when it
 * is first spoken of, and those that the table does not end are ended after its
 * last row; then nothing may be held any more. Time is whatever the rows say.
 */
#ifndef BIDE_TEST_SCRIPT_H
#define BIDE_TEST_SCRIPT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "bide/bide.h"
#include "lib/dep.h"

#define COUNT(array)     (sizeof(array) / sizeof(array)[0])
#define US               INT64_C(1000)
#define MS               BIDE_MILLISECOND
#define S                BIDE_SECOND
#define ANY_NS           INT64_MIN      /* whatever the time, or ... */
#define ANY_REASON       BIDE_N_REASONS /* ... the reason */
#define BIDE_BECAUSE_ANY ANY_REASON

enum script_event {
    SCRIPT_BEGIN,
    SCRIPT_TRY,
    SCRIPT_WAIT,
    SCRIPT_DONE,
    SCRIPT_REPORT,
    SCRIPT_STARTED,
    SCRIPT_NO_MORE,
    SCRIPT_CANCEL,
    SCRIPT_END,
    SCRIPT_FORCE,
    SCRIPT_RETRIES,
    SCRIPT_BREAKER,
    SCRIPT_LEFT
};

struct step {
    int64_t at_ns;
    enum script_event event;
    unsigned call;
    uint32_t attempt;
    bide_reason reason;
    int64_t min_ns, max_ns; /* of timeout_ns (TRY) or at_ns (WAIT, DONE) */
    bide_outcome outcome;
    int rc;
    const bide_op *op;
    int value; /* a mode, a state, a number */
};

/* What rows are made of. */
#define BY(n)         .call = (n)
#define BEGIN(the_op) .event = SCRIPT_BEGIN, .op = (the_op)
#define SCRIPT_ASK(what, why, from, to)                                        \
    .event = SCRIPT_##what, .reason = (why), .min_ns = (from), .max_ns = (to)
#define TRY(n, why)              TRY_FOR_(n, BIDE_BECAUSE_##why, ANY_NS)
#define TRY_FOR(n, why, timeout) TRY_FOR_(n, BIDE_BECAUSE_##why, timeout)
#define TRY_FOR_(n, why, timeout)                                              \
    SCRIPT_ASK(TRY, why, timeout, timeout), .attempt = (n)
#define WAIT(until, why)       SCRIPT_ASK(WAIT, BIDE_BECAUSE_##why, until, until)
#define WAIT_IN(from, to, why) SCRIPT_ASK(WAIT, BIDE_BECAUSE_##why, from, to)
#define DONE(why)              SCRIPT_ASK(DONE, BIDE_BECAUSE_##why, ANY_NS, ANY_NS)
#define DONE_UNTIL(why, at)    SCRIPT_ASK(DONE, BIDE_BECAUSE_##why, at, at)
#define REPORT(n, ...)         REPORT_RC(n, 0, __VA_ARGS__)
#define REPORT_RC(n, result, ...)                                              \
    .event = SCRIPT_REPORT, .attempt = (n), .rc = (result),                    \
    .outcome = { __VA_ARGS__ }
#define STARTED(n, timeout) /* its time begins, and is so long */             \
    .event = SCRIPT_STARTED, .attempt = (n), .min_ns = (timeout)
#define NO_MORE        .event = SCRIPT_NO_MORE
#define CANCEL         .event = SCRIPT_CANCEL
#define END            .event = SCRIPT_END
#define FORCE(mode)    .event = SCRIPT_FORCE, .value = BIDE_BREAKER_##mode
#define RETRIES(on)    .event = SCRIPT_RETRIES, .value = (on)
#define BREAKER(state) .event = SCRIPT_BREAKER, .value = BIDE_BREAKER_##state
#define LEFT(n)        .event = SCRIPT_LEFT, .value = (n) /* of the budget */

/* What reports are made of. */
#define WORKED     .cls = BIDE_SUCCESS, .status = 200
#define FAILED     .cls = BIDE_TRANSIENT, .status = 503
#define THROTTLED  .cls = BIDE_THROTTLED, .status = 429
#define OVERLOADED .cls = BIDE_OVERLOADED, .status = 503
#define PERMANENT  .cls = BIDE_PERMANENT, .status = 404
#define IGNORED    .cls = BIDE_IGNORED, .fault = BIDE_FAULT_CANCELLED
#define UNCONNECTED                                                            \
    .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_CONNECT, .not_processed = true
#define REFUSED_STREAM                                                         \
    .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_REFUSED_STREAM,                 \
    .not_processed = true
#define TIMED_OUT .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_TIMEOUT
#define STALLED   .cls = BIDE_IGNORED, .fault = BIDE_FAULT_UPLOAD
#define NO_LINK                                                                \
    .cls = BIDE_IGNORED, .fault = BIDE_FAULT_CONNECTION_WAIT,                  \
    .not_processed = true
#define HINT(ns)  .hinted = true, .hint_ns = (ns)

enum { SCRIPT_CALLS = 8 };

struct stage {
    bide_dep *dep;
    const bide_op *op; /* of calls that do not say */
    bide_call call[SCRIPT_CALLS];
    bool on[SCRIPT_CALLS];
    int64_t now;
};

/* A policy in which nothing happens by itself: no jitter, no budget, no
 * breaker, no gate. Tests turn on what they are about. */
static inline bide_policy_conf script_conf(void)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    conf.backoff.jitter = BIDE_JITTER_NONE;
    conf.retry_after.jitter = 0;
    conf.budget.kind = BIDE_BUDGET_OFF;
    conf.breaker.kind = BIDE_BREAKER_OFF;
    conf.unreachable.wait_ns = 0;
    /* the tests' own numbers, whatever the defaults are */
    conf.budget.ratio = 0.1;
    conf.breaker.failure_rate = 0.5;
    conf.breaker.slow_rate = 1;
    conf.breaker.open_ns = 30 * S;
    conf.breaker.open_max_ns = 5 * BIDE_MINUTE;
    return conf;
}

/* The same with a breaker, which opens after so many failures in a row. */
static inline bide_policy_conf breaker_conf(uint32_t consecutive)
{
    bide_policy_conf conf = script_conf();

    conf.breaker.kind = BIDE_BREAKER_TIME;
    conf.breaker.consecutive = consecutive;
    conf.breaker.open_ns = 10 * S;
    conf.breaker.open_jitter = 0;
    return conf;
}

/* Somebody is told of free places, so nobody who queues has to ask for one. */
static inline void script_place(void *ctx, const bide_dep *dep)
{
    (void)ctx, (void)dep;
}

static inline bide_dep *script_dep(const bide_policy_conf *conf)
{
    static const uint64_t seed = 42;
    bide_host host = { .seed = &seed, .on_place = script_place };
    bide_dep *dep = NULL;
    int rc = bide_dep_new_in(&dep, "script", conf, &host);

    if (rc < 0)
        fail_msg("the policy is refused: %s", bide_strerror(rc));
    return dep;
}

static inline bide_stats script_stats(const bide_dep *dep, int64_t now)
{
    bide_stats s;

    assert_int_equal(bide_dep_stats(dep, now, &s), 0);
    return s;
}

static inline const char *script_say(char *buf, size_t size, bide_action a,
                                     bide_reason reason, uint32_t attempt,
                                     int64_t ns)
{
    static const char *const actions[] = { "TRY", "WAIT", "DONE" };
    const char *why = bide_reason_name(reason);

    if (ns == ANY_NS)
        snprintf(buf, size, "%s %u, %s", actions[a], attempt,
                 why ? why : "any reason");
    else
        snprintf(buf, size, "%s %u, %s, %lld ns", actions[a], attempt,
                 why ? why : "any reason", (long long)ns);
    return buf;
}

static inline void script_next(struct stage *stage, const struct step *step,
                               const char *where)
{
    bide_action action = step->event == SCRIPT_TRY    ? BIDE_TRY
                         : step->event == SCRIPT_WAIT ? BIDE_WAIT
                                                      : BIDE_DONE;
    bide_decision d = bide_call_next(&stage->call[step->call], stage->now);
    int64_t ns = d.action == BIDE_TRY ? d.timeout_ns : d.at_ns;
    char got[96], want[96];

    if (d.action == action &&
        (step->reason == ANY_REASON || step->reason == d.reason) &&
        (action != BIDE_TRY || step->attempt == d.attempt) &&
        (step->min_ns == ANY_NS || (ns >= step->min_ns && ns <= step->max_ns)))
        return;
    script_say(got, sizeof got, d.action, d.reason, d.attempt, ns);
    script_say(want, sizeof want, action, step->reason, step->attempt,
               step->min_ns);
    fail_msg("%s: %s; expected %s", where, got, want);
}

static inline void script_report(struct stage *stage, const struct step *step,
                                 const char *where)
{
    int rc = bide_call_report(&stage->call[step->call], step->attempt,
                              &step->outcome, stage->now);

    if (rc != step->rc)
        fail_msg("%s: report gave %s", where, bide_error_name(rc));
}

static inline void script_equal(const char *where, const char *what,
                                int64_t got, int64_t want)
{
    if (got != want)
        fail_msg("%s: %s is %lld, expected %lld", where, what, (long long)got,
                 (long long)want);
}

static inline void script_started(struct stage *stage, const struct step *step,
                                  const char *where)
{
    int64_t timeout = -1;
    int rc = bide_call_started(&stage->call[step->call], step->attempt,
                               stage->now, &timeout);

    if (rc != step->rc)
        fail_msg("%s: started gave %s", where, bide_error_name(rc));
    script_equal(where, "timeout", timeout, step->min_ns);
}

static inline void script_begin(struct stage *stage, const struct step *step)
{
    if (stage->on[step->call])
        return;
    bide_call_begin(&stage->call[step->call], stage->dep,
                    step->op ? step->op : stage->op, stage->now);
    stage->on[step->call] = true;
}

static inline void script_step(struct stage *stage, const struct step *step,
                               const char *where)
{
    bide_dep *dep = stage->dep;

    stage->now = step->at_ns;
    if (step->event < SCRIPT_FORCE)
        script_begin(stage, step);
    switch (step->event) {
    case SCRIPT_BEGIN:
        break;
    case SCRIPT_TRY:
    case SCRIPT_WAIT:
    case SCRIPT_DONE:
        script_next(stage, step, where);
        break;
    case SCRIPT_REPORT:
        script_report(stage, step, where);
        break;
    case SCRIPT_STARTED:
        script_started(stage, step, where);
        break;
    case SCRIPT_NO_MORE:
        bide_call_no_more(&stage->call[step->call]);
        break;
    case SCRIPT_CANCEL:
        bide_call_cancel(&stage->call[step->call]);
        break;
    case SCRIPT_END:
        bide_call_end(&stage->call[step->call], stage->now);
        stage->on[step->call] = false;
        break;
    case SCRIPT_FORCE:
        assert_int_equal(
            bide_dep_force_breaker(dep, (bide_breaker_mode)step->value), 0);
        break;
    case SCRIPT_RETRIES:
        assert_int_equal(bide_dep_set_retries(dep, step->value != 0), 0);
        break;
    case SCRIPT_BREAKER:
        script_equal(where, "breaker", (int)bide_dep_breaker(dep, stage->now),
                     step->value);
        break;
    case SCRIPT_LEFT:
        script_equal(where, "budget_left",
                     bide_dep_budget_left(dep, stage->now), step->value);
        break;
    default:
        fail_msg("%s: no such event", where);
    }
}

/* Nobody calls any more: nothing may be held. */
static inline void script_at_rest(const bide_dep *dep, int64_t now,
                                  const char *where)
{
    bide_stats s = script_stats(dep, now);

    script_equal(where, "in_flight", (int64_t)s.in_flight, 0);
    script_equal(where, "queued", (int64_t)s.queued, 0);
    if (dep->policy.conf.budget.kind == BIDE_BUDGET_IN_FLIGHT) {
        script_equal(where, "retries outstanding", dep->budget.level, 0);
        script_equal(where, "calls", dep->budget.calls, 0);
    }
}

/* Plays a table on a dependency that stays. */
static inline void script_play(bide_dep *dep, const bide_op *op, int line,
                               const struct step *steps, size_t n)
{
    struct stage stage = { .dep = dep, .op = op };
    char where[80];

    for (size_t i = 0; i < n; i++) {
        snprintf(where, sizeof where, "table at line %d, row %zu at %lld ns",
                 line, i + 1, (long long)steps[i].at_ns);
        script_step(&stage, &steps[i], where);
    }
    for (unsigned i = 0; i < SCRIPT_CALLS; i++)
        if (stage.on[i])
            bide_call_end(&stage.call[i], stage.now);
    script_at_rest(dep, stage.now, where);
}

static inline void script_play_new(const bide_policy_conf *conf,
                                   const bide_op *op, int line,
                                   const struct step *steps, size_t n)
{
    bide_dep *dep = script_dep(conf);

    script_play(dep, op, line, steps, n);
    bide_dep_free(dep);
}

#define STEPS(...)                                                             \
    (const struct step[]){ __VA_ARGS__ },                                      \
        sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step)

/* Plays a table on a dependency of this policy, or on one that is there. */
#define PLAY(conf, op, ...)                                                    \
    script_play_new(conf, op, __LINE__, STEPS(__VA_ARGS__))
#define PLAY_ON(dep, op, ...) script_play(dep, op, __LINE__, STEPS(__VA_ARGS__))

/* The operations that tests are about. */
static const bide_op script_get = { .idempotent = true };
static const bide_op script_post = { .idempotent = false };
#define GET  (&script_get)
#define POST (&script_post)

#endif
