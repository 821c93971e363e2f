/* walk.h: several calls of one dependency, driven at random, and what must hold
 * after every step whatever the order of events.
 *
 * Where the choices come from is the caller's business: a seeded generator in
 * the tests, the bytes of an input in fuzz/call.c. What does not hold aborts.
 */
#ifndef BIDE_TEST_WALK_H
#define BIDE_TEST_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/bide.h"
#include "lib/dep.h"

enum { WALKERS = 6, WALK_RUNNING = 8 };

struct walker {
    bide_call call;
    bide_op op;
    bool on;
    uint32_t tried;
    uint32_t n_running;
    uint32_t running[WALK_RUNNING];
    bool over;
    bool again; /* its last attempt reached nobody */
    bide_reason reason;
};

struct walk {
    uint32_t (*pick)(void *state, uint32_t n); /* 0 .. n - 1 */
    void *state;
    bide_dep *dep;
    int64_t now, first_now, last_now;
    bool stepped_back;
    struct walker walker[WALKERS];
    bide_decision last;

    uint64_t ended, tries, firsts, reported, unbegun, again;
};

#define WALK_MUST(truth)                                                       \
    do {                                                                       \
        if (!(truth)) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #truth);        \
            abort();                                                           \
        }                                                                      \
    } while (0)

static inline uint32_t walk_pick(struct walk *w, uint32_t n)
{
    return w->pick(w->state, n);
}

static inline bool walk_one_in(struct walk *w, uint32_t n)
{
    return walk_pick(w, n) == 0;
}

/* A duration of any size between 0 and about 100 s. */
static inline int64_t walk_duration(struct walk *w)
{
    static const int64_t units[] = { 0,
                                     1,
                                     1000,
                                     100000,
                                     BIDE_MILLISECOND,
                                     10 * BIDE_MILLISECOND,
                                     BIDE_SECOND / 4,
                                     BIDE_SECOND };

    return units[walk_pick(w, 8)] * (1 + walk_pick(w, 100));
}

/* ===== a policy ===== */

static inline void walk_conf_waits(struct walk *w, bide_policy_conf *conf)
{
    static const uint32_t attempts[] = { 1, 2, 4, 10, UINT32_C(1) << 31 };

    conf->attempts = attempts[walk_pick(w, 5)];
    conf->backoff.jitter = (bide_jitter)walk_pick(w, 5);
    conf->backoff.base_ns = walk_duration(w);
    conf->backoff.cap_ns = conf->backoff.base_ns + walk_duration(w);
    if (walk_one_in(w, 4))
        conf->backoff.floor_ns = conf->backoff.cap_ns / 2;
    if (walk_one_in(w, 4))
        conf->backoff_throttled.base_ns = conf->backoff.cap_ns;
    conf->backoff.immediate_first = walk_one_in(w, 2);
    conf->retry_after.mode = (bide_hint_mode)walk_pick(w, 2);
    conf->retry_after.max_ns = walk_duration(w);
    conf->retry_after.throttled_without_hint = (bide_unhinted)walk_pick(w, 2);
    conf->attempt_min_ns = walk_duration(w);
    conf->attempt_timeout_ns = 1 + walk_duration(w);
    if (walk_one_in(w, 3))
        conf->deadline_ns = 1 + walk_duration(w);
    conf->nested = (bide_nested)walk_pick(w, 2);
    conf->when_refused = (bide_when_refused)walk_pick(w, 2);
    conf->unreachable.wait_ns = walk_one_in(w, 2) ? walk_duration(w) : 0;
    conf->unreachable.knock_ns = 32 * BIDE_MILLISECOND + walk_duration(w) % BIDE_HOUR / 2;
    conf->idempotency_key = (bide_key)walk_pick(w, 2);
}

static inline void walk_conf_shared(struct walk *w, bide_policy_conf *conf)
{
    conf->budget.kind = (bide_budget_kind)walk_pick(w, 5);
    conf->budget.deposit = (bide_deposit)walk_pick(w, 2);
    conf->budget.floor_per_s = walk_pick(w, 4);
    conf->budget.capacity = 1 + walk_pick(w, 50);
    conf->budget.min_in_flight = walk_pick(w, 4);
    conf->breaker.kind = (bide_breaker_kind)walk_pick(w, 3);
    conf->breaker.mode = walk_one_in(w, 4) ? (bide_breaker_mode)walk_pick(w, 4)
                                           : BIDE_BREAKER_NORMAL;
    conf->breaker.min_calls = 1 + walk_pick(w, 5);
    conf->breaker.consecutive = walk_pick(w, 5);
    conf->breaker.open_ns = BIDE_MILLISECOND * (1 + walk_pick(w, 200));
    conf->breaker.probes = 1 + walk_pick(w, 3);
    conf->breaker.probe_failure_rate = walk_pick(w, 2) * 0.5;
    if (walk_one_in(w, 3))
        conf->breaker.slow_ns = 1 + walk_duration(w);
    conf->lanes = 1u << walk_pick(w, 3);
    conf->latency.measure = !walk_one_in(w, 4);
}

static inline void walk_conf_limits(struct walk *w, bide_policy_conf *conf)
{
    if (walk_one_in(w, 2))
        conf->limits.in_flight = 1 + walk_pick(w, 4);
    conf->limits.queue = walk_pick(w, 3);
    conf->limits.shed = 0.25 * (1 + walk_pick(w, 4));
    conf->limits.reserve = 0.25 * walk_pick(w, 3);
    conf->limits.queue_timeout_ns = walk_duration(w);
    conf->limits.adaptive_rate = walk_one_in(w, 4);
    conf->limits.adaptive_throttle = walk_one_in(w, 4);
    if (walk_one_in(w, 3)) {
        conf->attempts = 1;
        conf->hedge.max = 1 + walk_pick(w, 4);
        conf->hedge.after_ns = walk_duration(w);
        conf->hedge.min_samples = 1 + walk_pick(w, 3);
        conf->hedge.extra_load = walk_pick(w, 3) * 0.5;
        if (conf->latency.measure && walk_one_in(w, 2))
            conf->hedge.after_ns = BIDE_FOREVER;
    }
}

static inline bide_policy_conf walk_conf(struct walk *w)
{
    bide_policy_conf conf = BIDE_POLICY_CONF_INIT;

    walk_conf_waits(w, &conf);
    walk_conf_shared(w, &conf);
    walk_conf_limits(w, &conf);
    return conf;
}

static inline void walk_start(struct walk *w, const bide_policy_conf *conf)
{
    static const uint64_t seed = 7;
    bide_host host = { .seed = &seed };
    int rc = bide_dep_new_in(&w->dep, "walk", conf, &host);

    if (rc < 0)
        fprintf(stderr, "the policy is refused: %s\n", bide_strerror(rc));
    WALK_MUST(rc == 0);
    w->now = w->first_now = w->last_now = 1000 * BIDE_SECOND;
}

/* ===== what is done ===== */

static inline int64_t walk_clock(const struct walk *w)
{
    return w->now < 0 ? 0 : w->now;
}

static inline void walk_begin(struct walk *w, struct walker *r)
{
    bide_op op = { 0 };

    op.idempotent = !walk_one_in(w, 4);
    op.has_key = walk_one_in(w, 4);
    op.one_shot_body = walk_one_in(w, 8);
    op.upstream_attempt = walk_one_in(w, 8) ? 1 + walk_pick(w, 2) : 0;
    op.priority = walk_one_in(w, 4) ? (int8_t)(walk_pick(w, 3) - 1) : 0;
    op.attempts_made = walk_one_in(w, 8) ? walk_pick(w, 4) : 0;
    if (walk_one_in(w, 3))
        op.deadline_ns = walk_clock(w) + walk_duration(w);
    if (walk_one_in(w, 8))
        op = (bide_op){ 0 };
    memset(r, 0x5a, sizeof *r); /* begin must not count on zeroes */
    r->op = op;
    r->on = true;
    r->over = false;
    r->tried = r->n_running = 0;
    r->again = false;
    bide_call_begin(&r->call, w->dep, &r->op, w->now);
    WALK_MUST(bide_call_deadline(&r->call) >= 0);
}

static inline void walk_check_try(struct walk *w, struct walker *r,
                                  const bide_decision *d)
{
    const struct bide__policy *p = &w->dep->policy;
    int64_t deadline = bide_call_deadline(&r->call);

    WALK_MUST(!r->over);
    WALK_MUST(r->n_running == 0 || p->conf.hedge.max != 0);
    WALK_MUST(d->attempt == bide_call_attempts(&r->call));
    WALK_MUST(d->attempt == r->op.attempts_made + r->tried + 1);
    WALK_MUST(r->tried == 0 || d->attempt - bide_call_missed(&r->call) <=
                                   p->max_attempts);
    WALK_MUST(d->timeout_ns > 0);
    WALK_MUST(d->timeout_ns <= p->conf.attempt_timeout_ns);
    WALK_MUST(deadline == BIDE_FOREVER ||
              d->timeout_ns <= deadline - walk_clock(w));
    WALK_MUST(d->timeout_ns >= p->conf.attempt_min_ns ||
              d->timeout_ns == p->conf.attempt_timeout_ns);
    r->running[r->n_running++] = d->attempt;
    r->tried++;
    w->tries++;
    w->again += r->again;
    w->firsts += r->tried == 1;
    r->again = false;
}

static inline void walk_check_wait(struct walk *w, struct walker *r,
                                   const bide_decision *d)
{
    bide_decision again = bide_call_next(&r->call, w->now);

    WALK_MUST(!r->over);
    WALK_MUST(d->at_ns > walk_clock(w) || d->at_ns == BIDE_FOREVER);
    WALK_MUST(d->at_ns != BIDE_FOREVER || r->n_running != 0);
    WALK_MUST(r->n_running != 0 || d->at_ns <= bide_call_deadline(&r->call));
    WALK_MUST(again.action == BIDE_WAIT && again.at_ns == d->at_ns &&
              again.reason == d->reason);
}

static inline void walk_next(struct walk *w, struct walker *r)
{
    bide_decision d = bide_call_next(&r->call, w->now);

    w->last = d;
    WALK_MUST((unsigned)d.reason < BIDE_N_REASONS);
    if (d.action == BIDE_TRY) {
        walk_check_try(w, r, &d);
    } else if (d.action == BIDE_WAIT) {
        walk_check_wait(w, r, &d);
    } else {
        WALK_MUST(d.action == BIDE_DONE);
        WALK_MUST(!r->over || r->reason == d.reason);
        WALK_MUST(d.reason <= BIDE_BECAUSE_SHED_PRIORITY);
        r->over = true;
        r->reason = d.reason;
    }
}

static inline bide_outcome walk_outcome(struct walk *w)
{
    bide_outcome out = { .cls = BIDE_SUCCESS };

    if (walk_one_in(w, 2))
        return out;
    out.cls = (bide_class)walk_pick(w, BIDE_N_CLASSES);
    out.fault = (bide_fault)walk_pick(w, BIDE_N_FAULTS);
    out.not_processed = walk_one_in(w, 3);
    out.refused = walk_one_in(w, 12);
    out.hinted = walk_one_in(w, 4);
    if (out.hinted)
        out.hint_ns = walk_duration(w);
    out.hint_exact = out.hinted && walk_one_in(w, 3);
    return out;
}

static inline bool walk_runs(const struct walker *r, uint32_t attempt)
{
    for (uint32_t i = 0; i < r->n_running; i++)
        if (r->running[i] == attempt)
            return true;
    return false;
}

static inline void walk_started(struct walk *w, struct walker *r,
                                uint32_t attempt)
{
    int64_t timeout = -1;

    WALK_MUST(bide_call_started(&r->call, attempt, w->now, &timeout) == 0);
    WALK_MUST(timeout >= 0);
    WALK_MUST(timeout <= w->dep->policy.conf.attempt_timeout_ns);
}

static inline void walk_report(struct walk *w, struct walker *r)
{
    bide_outcome worked = { .cls = BIDE_SUCCESS };
    uint32_t any = walk_pick(w, 8);

    if (!walk_runs(r, any))
        WALK_MUST(bide_call_report(&r->call, any, &worked, w->now) ==
                  BIDE_ESTATE);
    if (r->n_running == 0)
        return;
    uint32_t i = walk_pick(w, r->n_running);
    uint32_t attempt = r->running[i];
    bide_outcome out = walk_outcome(w);

    if (walk_one_in(w, 4))
        walk_started(w, r, attempt);
    r->running[i] = r->running[--r->n_running];
    uint32_t before = bide_call_missed(&r->call);
    if (walk_one_in(w, 16)) /* not an outcome; the attempt has ended, though */
        WALK_MUST(bide_call_report(&r->call, attempt, NULL, w->now) ==
                  BIDE_EINVAL);
    else
        WALK_MUST(bide_call_report(&r->call, attempt, &out, w->now) == 0);
    WALK_MUST(bide_call_report(&r->call, attempt, &out, w->now) == BIDE_ESTATE);
    w->reported++;
    if (bide_call_missed(&r->call) != before) { /* it asked for no work */
        WALK_MUST(w->dep->policy.gated ||
                  out.fault == BIDE_FAULT_REFUSED_STREAM);
        WALK_MUST(r->n_running == 0);
        r->again = true;
        w->unbegun++;
    }
}

static inline void walk_end(struct walk *w, struct walker *r)
{
    bide_call_end(&r->call, w->now);
    w->reported += r->n_running; /* as ignored */
    w->ended++;
    memset(&r->call, 0xa5, sizeof r->call);
    r->on = false;
}

static inline void walk_time(struct walk *w)
{
    int64_t change = walk_duration(w);

    if (walk_one_in(w, 30)) {
        w->now -= change;
        w->stepped_back = true;
    } else {
        w->now += change;
    }
    if (w->now < w->first_now)
        w->first_now = w->now;
    if (w->now > w->last_now)
        w->last_now = w->now;
}

/* ===== what must hold ===== */

static inline void walk_check(const struct walk *w)
{
    const bide_policy_conf *conf = &w->dep->policy.conf;
    uint64_t running = 0, on = 0;

    for (int i = 0; i < WALKERS; i++)
        if (w->walker[i].on) {
            running += w->walker[i].n_running;
            on++;
        }
    if (conf->limits.in_flight != BIDE_UNLIMITED) {
        WALK_MUST(w->dep->places.used == running);
        WALK_MUST(running <= conf->limits.in_flight);
    }
    WALK_MUST(w->dep->places.queued <= conf->limits.queue);
    WALK_MUST(w->dep->places.queued <= on);
    WALK_MUST(bide_dep_budget_left(w->dep, w->now) >= 0);
    if (conf->budget.kind == BIDE_BUDGET_IN_FLIGHT) {
        WALK_MUST(w->dep->budget.level >= 0);
        WALK_MUST(w->dep->budget.calls == (int64_t)on);
    }
}

static inline uint64_t walk_sum(const uint64_t *n, int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        sum += n[i];
    return sum;
}

static inline void walk_check_histogram(const bide_histogram *h, uint64_t count)
{
    WALK_MUST(h->count == count);
    WALK_MUST(walk_sum(h->bucket, BIDE_N_BUCKETS) == count);
}

/* With all calls ended, the books must balance. */
static inline void walk_check_books(const struct walk *w)
{
    const bide_policy_conf *conf = &w->dep->policy.conf;
    uint64_t span = (uint64_t)(w->last_now - w->first_now);
    bide_stats s;

    WALK_MUST(bide_dep_stats(w->dep, w->now, &s) == 0);
    WALK_MUST(s.calls == w->ended);
    WALK_MUST(s.calls == walk_sum(s.done, BIDE_N_REASONS));
    WALK_MUST(s.calls == s.first_successes + s.late_successes + s.failures);
    WALK_MUST(s.done[BIDE_BECAUSE_SUCCESS] ==
              s.first_successes + s.late_successes);
    WALK_MUST(s.attempts + s.unreached == w->tries);
    WALK_MUST(w->tries == w->reported && s.unreached == w->unbegun);
    WALK_MUST(s.attempts == walk_sum(s.by_class, BIDE_N_CLASSES));
    WALK_MUST(w->tries == w->firsts + s.retries + s.hedges + w->again);
    WALK_MUST(s.retries == walk_sum(s.retries_by_class, BIDE_N_CLASSES));
    WALK_MUST(s.retries == walk_sum(s.retries_by_reason, BIDE_N_REASONS));
    WALK_MUST(s.by_class[BIDE_SUCCESS] == s.done[BIDE_BECAUSE_SUCCESS]);
    WALK_MUST(s.hedges_won <= s.hedges);
    WALK_MUST(s.hedges == 0 || s.retries == 0);
    WALK_MUST(s.in_flight == 0 && s.queued == 0);
    WALK_MUST(conf->budget.kind != BIDE_BUDGET_IN_FLIGHT ||
              (w->dep->budget.level == 0 && w->dep->budget.calls == 0));
    if (conf->hedge.max == 0 && conf->when_refused == BIDE_REFUSED_FAIL) {
        walk_check_histogram(&s.wait_computed, s.retries + s.retries_dropped);
        walk_check_histogram(&s.wait_jittered, s.retries + s.retries_dropped);
    }
    if (conf->when_refused == BIDE_REFUSED_FAIL) {
        WALK_MUST(s.wait_slept.count >= s.retries);
        WALK_MUST(s.wait_slept.count <= s.retries + s.retries_dropped);
    }
    WALK_MUST(s.wait_slept.sum_ns <= span * s.wait_slept.count);
    if (conf->latency.measure) {
        walk_check_histogram(&s.attempt_time, s.by_class[BIDE_SUCCESS]);
        walk_check_histogram(&s.call_time, s.done[BIDE_BECAUSE_SUCCESS]);
        WALK_MUST(w->stepped_back ||
                  s.call_time.sum_ns >= s.attempt_time.sum_ns);
    }
}

/* One event, then all the invariants. */
static inline void walk_step(struct walk *w)
{
    struct walker *r = &w->walker[walk_pick(w, WALKERS)];
    uint32_t event = walk_pick(w, 32);

    memset(&w->last, 0, sizeof w->last);
    if (event < 8) {
        walk_time(w);
    } else if (event == 8) {
        bide_dep_force_breaker(w->dep, (bide_breaker_mode)walk_pick(w, 4));
    } else if (!r->on) {
        walk_begin(w, r);
    } else if (event < 20) {
        walk_next(w, r);
    } else if (event < 28) {
        walk_report(w, r);
    } else if (event == 28) {
        bide_call_cancel(&r->call);
    } else if (r->over || event == 29) {
        walk_end(w, r);
    }
    walk_check(w);
}

static inline void walk_finish(struct walk *w)
{
    for (int i = 0; i < WALKERS; i++)
        if (w->walker[i].on)
            walk_end(w, &w->walker[i]);
    walk_check(w);
    walk_check_books(w);
}

#endif
