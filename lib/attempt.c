/* The records of attempts: what lets one begin, and what learns of its end.
 *
 * Every part of a dependency that counts, limits or remembers is asked here
 * before an attempt and fed here after it, and nowhere else. */
#include "lib/call.h"

#include <stddef.h>

#include "lib/attempt_gate.h"
#include "lib/blame.h"
#include "lib/hedge.h"

static struct bide__breaker_env breaker_env(const struct bide__call *c)
{
    return (struct bide__breaker_env){ &c->dep->breaker, &c->dep->policy,
                                       c->dep->lanes, c->lane, c->rng };
}

static void announce(const struct bide__call *c,
                     const struct bide__transition *t, int64_t now)
{
    const bide_host *host = &c->dep->host;
    if (t->happened && host->on_breaker)
        host->on_breaker(host->ctx, c->dep, t->from, t->to, now);
}

/* ===== beginning ===== */

static struct bide__answer_to_start refused(bide_reason reason)
{
    return bide__answer(BIDE__REFUSED, reason, 0);
}

static struct bide__answer_to_start held_up(bide_reason reason, int64_t at_ns)
{
    return bide__answer(BIDE__HELD_UP, reason, at_ns);
}

static struct bide__answer_to_start admitted(void)
{
    return bide__answer(BIDE__ADMITTED, BIDE_BECAUSE_SUCCESS, 0);
}

/* The latest time at which an attempt may begin. */
static int64_t latest_start(const struct bide__call *c, bool beside, int64_t now)
{
    if (beside)
        return now;
    return c->deadline_ns == BIDE_FOREVER
               ? BIDE_FOREVER
               : c->deadline_ns - c->dep->policy.conf.attempt_min_ns;
}

/* Takes a token of the adaptive rate, and a turn under the fixed one. Both are
 * reserved while the call waits for the later of the two. */
static struct bide__answer_to_start take_turn(struct bide__call *c, bool beside,
                                              int64_t now)
{
    const struct bide__policy *p = &c->dep->policy;
    int64_t latest = latest_start(c, beside, now), turn = 0, token = 0;
    if (p->pace_ns != 0) {
        int64_t wait = bide__add_ns(now, p->conf.limits.rate_wait_ns);
        if (!bide__pace_take(&c->dep->pace, p->pace_ns, p->pace_burst_ns, now,
                             latest < wait ? latest : wait, &turn)) {
            c->at_ns = beside ? c->at_ns : turn;
            return refused(BIDE_BECAUSE_RATE);
        }
    }
    if (p->conf.limits.adaptive_rate)
        token = bide__rate_take(&c->dep->rate, now, latest);
    if (token < 0) {
        bide__pace_give(&c->dep->pace, p->pace_ns, p->pace_burst_ns, turn);
        return refused(BIDE_BECAUSE_ADAPTIVE_RATE);
    }
    c->is.paced = true;
    c->at_ns = token > turn ? token : turn;
    return admitted();
}

static struct bide__answer_to_start ask_rate(struct bide__call *c, bool beside,
                                             int64_t now)
{
    if (c->is.queued)
        return admitted(); /* it has its token; at_ns is now the queue's */
    if (!c->is.paced) {
        struct bide__answer_to_start a = take_turn(c, beside, now);
        if (a.admission != BIDE__ADMITTED)
            return a;
    }
    return now < c->at_ns ? held_up(BIDE_BECAUSE_PACED, c->at_ns) : admitted();
}

/* Beside an adaptive rate it is not known which of the two `at` is. */
void bide__turn_give_back(struct bide__call *c, int64_t at)
{
    const struct bide__policy *p = &c->dep->policy;
    c->is.paced = false;
    if (p->pace_ns != 0 && !p->conf.limits.adaptive_rate)
        bide__pace_give(&c->dep->pace, p->pace_ns, p->pace_burst_ns, at);
}

/* Refused, although a call of higher rank would not be; it may come back after
 * the time that one of those may wait. */
static struct bide__answer_to_start shed(struct bide__call *c, bool beside,
                                         int64_t now)
{
    if (!beside)
        c->at_ns = bide__add_ns(now,
                                c->dep->policy.conf.limits.queue_timeout_ns);
    return refused(c->is.rank == BIDE__RANK_RETRY
                       ? BIDE_BECAUSE_SHED_RETRY
                       : BIDE_BECAUSE_SHED_PRIORITY);
}

/* When a queued call should ask again. If the host is notified of free places,
 * that is when the queue's timeout ends; otherwise after a few milliseconds, more
 * the longer the call has waited. */
static int64_t ask_again_at(const struct bide__call *c, int64_t now)
{
    if (c->dep->host.on_place)
        return c->at_ns;
    int64_t step = bide__elapsed_ns(c->begin_ns, now) / 8;
    if (step < BIDE_MILLISECOND)
        step = BIDE_MILLISECOND;
    if (step > 50 * BIDE_MILLISECOND)
        step = 50 * BIDE_MILLISECOND;
    int64_t at = bide__add_ns(now, step);
    return at < c->at_ns ? at : c->at_ns;
}

/* Takes a place, or queues for one. A call of low rank takes one only while
 * there are enough of them and the queue is empty, and does not queue
 * itself. */
static struct bide__answer_to_start ask_place(struct bide__call *c, bool beside,
                                              int64_t now)
{
    const bide_limit_conf *limits = &c->dep->policy.conf.limits;
    struct bide__places *places = &c->dep->places;
    uint32_t all = bide__dep_places(c->dep, BIDE__RANK_HIGH);
    uint32_t most = bide__dep_places(c->dep, c->is.rank);
    bool modest = c->is.rank >= BIDE__RANK_LOW;

    if (modest && bide__queue_length(places) != 0)
        return shed(c, beside, now);
    if (bide__place_take(places, most))
        return admitted();
    if (modest)
        return shed(c, beside, now);
    if (!c->is.queued) {
        if (beside || !bide__queue_join(places, limits->queue))
            return most < all && bide__place_free(places, all)
                       ? shed(c, beside, now)
                       : refused(BIDE_BECAUSE_IN_FLIGHT);
        c->is.queued = true;
        c->at_ns = bide__add_ns(now, limits->queue_timeout_ns);
        if (c->deadline_ns < c->at_ns)
            c->at_ns = c->deadline_ns;
        if (bide__place_take(places, most))
            return admitted(); /* one became free while we joined */
    }
    return now < c->at_ns ? held_up(BIDE_BECAUSE_QUEUED, ask_again_at(c, now))
                          : refused(BIDE_BECAUSE_IN_FLIGHT);
}

static void tell_of_place(const struct bide__call *c)
{
    const bide_host *host = &c->dep->host;
    if (host->on_place)
        host->on_place(host->ctx, c->dep);
}

static void leave_place(struct bide__call *c)
{
    if (bide__place_give(&c->dep->places))
        tell_of_place(c);
}

void bide__queue_quit(struct bide__call *c)
{
    struct bide__places *places = &c->dep->places;
    c->is.queued = false;
    bide__queue_leave(places);
    if (bide__place_wanted(places, bide__dep_places(c->dep, BIDE__RANK_HIGH)))
        tell_of_place(c);
}

static struct bide__answer_to_start ask_limits(struct bide__call *c,
                                               bool beside, int64_t now,
                                               struct bide__running *r)
{
    const struct bide__policy *p = &c->dep->policy;
    const bide_limit_conf *limits = &p->conf.limits;
    struct bide__answer_to_start a = admitted();

    if (limits->adaptive_throttle && !c->is.let_through) {
        if (bide__throttle_refuses(c->dep->lanes, c->lane, p, c->rng, now))
            return refused(BIDE_BECAUSE_LOCAL_THROTTLE);
        c->is.let_through = true;
    }
    if (limits->adaptive_rate || p->pace_ns != 0)
        a = ask_rate(c, beside, now);
    if (a.admission == BIDE__ADMITTED && p->capped) {
        int64_t turn = c->at_ns; /* unless it queues already */
        bool queued = c->is.queued;
        a = ask_place(c, beside, now);
        r->place = a.admission == BIDE__ADMITTED;
        if (a.admission == BIDE__REFUSED && c->is.paced && !queued)
            bide__turn_give_back(c, turn);
    }
    return a;
}

/* The breaker is asked first, to refuse before anything is taken, and entered
 * last, so that an attempt that is not made never holds a probe's place. */
static bool pass_breaker(struct bide__call *c, int64_t now,
                         struct bide__running *r)
{
    struct bide__breaker_env env = breaker_env(c);
    struct bide__transition t = { false, 0, 0 };
    struct bide__pass pass;
    if (bide__share_refuses_probe(c->dep, now))
        return false;
    bool in = bide__breaker_enter(&env, now, &pass, &t);
    r->generation = pass.generation;
    r->probe = pass.probe;
    announce(c, &t, now);
    return in;
}

static struct bide__answer_to_start ask_rest(struct bide__call *c, bool beside,
                                             int64_t now,
                                             struct bide__running *r)
{
    bool breaker = c->dep->policy.conf.breaker.kind != BIDE_BREAKER_OFF;
    bool idle = !breaker || bide__breaker_idle(&c->dep->breaker,
                                               &r->generation);
    bool no_probe = beside ||
                    (c->pending && !bide__breaker_starves(
                                       &c->dep->breaker, &c->dep->policy, now));
    if (!idle && bide__breaker_refuses(&c->dep->breaker, no_probe, now))
        return refused(BIDE_BECAUSE_BREAKER_OPEN);
    struct bide__answer_to_start a = ask_limits(c, beside, now, r);
    if (a.admission != BIDE__ADMITTED || idle)
        return a;
    if (pass_breaker(c, now, r))
        return a;
    if (c->is.queued) /* the driver must not be sent back to this very call */
        bide__queue_leave(&c->dep->places);
    else if (c->is.paced)
        bide__turn_give_back(c, c->at_ns);
    c->is.queued = c->is.paced = false;
    if (r->place)
        leave_place(c);
    return refused(BIDE_BECAUSE_BREAKER_OPEN);
}

/* The gate comes first, so that a call that waits there holds nothing. */
static struct bide__answer_to_start ask_all(struct bide__call *c, bool beside,
                                            int64_t now,
                                            struct bide__running *r)
{
    struct bide__answer_to_start a = admitted();
    if (c->dep->policy.gated && bide__gate_busy(&c->dep->gate))
        a = bide__attempt_ask_gate(c, beside, now, r);
    if (a.admission == BIDE__ADMITTED)
        a = ask_rest(c, beside, now, r);
    if (a.admission != BIDE__ADMITTED && r->knock)
        bide__gate_unknock(&c->dep->gate, r->start_ns, now);
    return a;
}

static bool hedges_by_quantile(const struct bide__policy *p)
{
    return p->conf.hedge.max != 0 && p->conf.hedge.after_ns == BIDE_FOREVER;
}

static void begin_first(struct bide__call *c, const struct bide__running *r,
                        int64_t now)
{
    const struct bide__policy *p = &c->dep->policy;
    bide__blame_first(c, r);
    bide__budget_begin(p, c->lane, now);
    if (p->conf.hedge.max != 0)
        bide__window_add(&c->lane->calls, bide__tick(p->hedge_ticks, now), 0);
}

static void count_retry(struct bide__call *c)
{
    struct bide__counters *counters = &c->dep->counters;
    if (c->dep->policy.conf.hedge.max != 0) {
        bide__count(&counters->hedges); /* after a failure, too */
        return;
    }
    bide__count(&counters->retries_by_class[c->cls]);
    bide__count(&counters->retries_by_reason[c->reason]);
}

struct bide__answer_to_start bide__attempt_start(struct bide__call *c,
                                                 bool beside, int64_t now)
{
    struct bide__running r = { .start_ns = now, .probe = -1 };
    struct bide__answer_to_start a = ask_all(c, beside, now, &r);
    if (a.admission != BIDE__ADMITTED)
        return a;

    if (c->again)
        ; /* it was counted when it began first */
    else if (c->is.granted)
        count_retry(c);
    else
        begin_first(c, &r, now);
    if (c->is.queued)
        bide__queue_leave(&c->dep->places);
    c->attempts += c->attempts < UINT32_MAX; /* op.attempts_made may be huge */
    r.attempt = c->attempts;
    r.paid = c->is.granted;
    r.tokens = c->is.granted ? c->ticket_tokens : 0;
    if (!r.paid && hedges_by_quantile(&c->dep->policy))
        atomic_fetch_add_explicit(&c->lane->running, 1, memory_order_relaxed);
    c->running[c->n_running++] = r;
    c->is.granted = c->is.queued = c->is.paced = c->is.let_through = false;
    c->again = c->at_gate = c->held = false;
    c->state = BIDE__RUNNING;
    if (c->dep->policy.conf.hedge.max != 0)
        c->at_ns = bide__hedge_due(c, now);
    return a;
}

/* ===== ending ===== */

/* All the time it had was not enough. */
static bool timed_out(const bide_outcome *out)
{
    return out->fault == BIDE_FAULT_TIMEOUT && out->cls == BIDE_TRANSIENT;
}

static void tell_breaker(const struct bide__call *c,
                         const struct bide__running *r, const bide_outcome *out,
                         int64_t took, int64_t now)
{
    struct bide__breaker_env env = breaker_env(c);
    struct bide__pass pass = bide__pass_of(c, r);
    struct bide__transition t = { false, 0, 0 };
    bide__breaker_report(&env, &pass,
                         bide__is_free(c) ? BIDE__NEUTRAL : bide__health_of(out),
                         took >= c->dep->policy.conf.breaker.slow_ns ||
                             timed_out(out),
                         out->hinted ? out->hint_ns : 0, now, &t);
    announce(c, &t, now);
}

static void tell_budget(struct bide__call *c,
                        const struct bide__running *r, const bide_outcome *out,
                        int64_t now)
{
    bide_dep *dep = c->dep;
    const struct bide__policy *p = &dep->policy;
    struct bide__budget_end end = { out->cls, out->refused,
                                    bide__is_first(c, r) };
    if (r->paid) /* a retry that the caller cancelled must not drain a quota */
        bide__budget_settle(&dep->budget, p,
                            &(struct bide__ticket){ .tokens = r->tokens },
                            out->cls == BIDE_SUCCESS ||
                                out->cls == BIDE_IGNORED);
    bide__budget_report(&dep->budget, p, c->lane, &end, now);
}

/* The cap may have risen by more than the place that this attempt leaves: then a
 * second call may go, too. */
static void tell_adaptive(const struct bide__call *c, const bide_outcome *out,
                          int64_t took)
{
    bide_dep *dep = c->dep;
    uint32_t before = bide__adaptive_limit(&dep->adaptive);
    bide__adaptive_report(&dep->adaptive, &dep->policy.conf.limits, out, took,
                          atomic_load_explicit(&dep->places.used,
                                               memory_order_relaxed));
    if (bide__adaptive_limit(&dep->adaptive) > before &&
        bide__place_wanted(&dep->places, bide__dep_places(dep, BIDE__RANK_HIGH)))
        tell_of_place(c);
}

static void tell_limits(struct bide__call *c, const struct bide__running *r,
                        const bide_outcome *out, int64_t took, int64_t now)
{
    const bide_limit_conf *limits = &c->dep->policy.conf.limits;
    if (limits->adaptive != BIDE_ADAPTIVE_OFF && r->place)
        tell_adaptive(c, out, took);
    if (r->place)
        leave_place(c);
    if (limits->adaptive_rate)
        bide__rate_report(&c->dep->rate, out->cls == BIDE_THROTTLED, now);
    if (limits->adaptive_throttle && bide__health_of(out) == BIDE__WELL)
        bide__throttle_accepted(c->lane, &c->dep->policy, now);
    else if (limits->adaptive_throttle &&
             (bide__is_free(c) || bide__blames_nobody(out)))
        bide__throttle_forget(c->lane, &c->dep->policy, r->start_ns);
}

static void tell_statistics(const struct bide__call *c,
                            const struct bide__running *r,
                            const bide_outcome *out, int64_t took, int64_t now)
{
    struct bide__counters *counters = &c->dep->counters;
    if (out->cls == BIDE_SUCCESS && bide__is_first(c, r)) {
        bide__record_first(c->dep, c->lane, took, now);
        if (bide__counted(c) == 1) {
            bide__count(&c->lane->first_successes);
            return;
        }
    } else if (out->cls == BIDE_SUCCESS) {
        bide__histogram_add(&counters->late_attempt_time, took, 1);
        bide__histogram_add(&counters->late_call_time,
                            bide__elapsed_ns(c->begin_ns, now), 1);
        if (r->paid && c->dep->policy.conf.hedge.max != 0)
            bide__count(&counters->hedges_won);
    }
    bide__count(&counters->by_class[out->cls]);
}

void bide__attempt_end(struct bide__call *c, const struct bide__running *r,
                       const bide_outcome *out, int64_t now)
{
    int64_t took = bide__elapsed_ns(r->start_ns, now);
    bool is_free = bide__attempt_is_free(c, r, out, now);
    if (!r->paid && hedges_by_quantile(&c->dep->policy))
        atomic_fetch_sub_explicit(&c->lane->running, 1, memory_order_relaxed);
    if (c->dep->policy.conf.breaker.kind != BIDE_BREAKER_OFF)
        tell_breaker(c, r, out, took, now);
    tell_limits(c, r, out, took, now);
    if (is_free) {
        bide__attempt_discount(c, r, now);
        return;
    }
    tell_budget(c, r, out, now);
    tell_statistics(c, r, out, took, now);
}

/* A first attempt that a hedge overtook is still a measurement: it takes at
 * least this long. */
void bide__attempt_drop(struct bide__call *c, const struct bide__running *r,
                        int64_t now)
{
    bide_outcome ignored = { .cls = BIDE_IGNORED };
    bide__attempt_end(c, r, &ignored, now);
    if (bide__is_first(c, r) && c->reason == BIDE_BECAUSE_SUCCESS &&
        c->dep->latency) {
        int64_t took = bide__elapsed_ns(r->start_ns, now);
        bide__record_first(c->dep, c->lane, took, now);
        bide__histogram_add(&c->dep->counters.overtaken,
                            bide__fine_middle(bide__fine_bucket(took)), 1);
    }
}
