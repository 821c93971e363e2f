/* The decision machine: the one place where all rules are.
 *
 *              begin
 *                |        let through                 reported: success
 *              READY ---------------------> RUNNING -------------------> OVER
 *                ^  \ refused: OVER            | reported: failure
 *     time comes |                             v
 *             WAITING <--- no rule applies -- FAILED --- a rule applies --> OVER
 *
 * A failed attempt is judged by the rules below, in order; the first that
 * applies ends the call and is its reason. If none does, the retry is paid for
 * and waits. An attempt that reached nobody is made again instead (gate.h), and
 * with `when_refused: wait` a call that bide itself refuses is not over: it
 * waits, and asks again.
 *
 * Hedging uses the same machine. The next attempt is then due while one is
 * RUNNING, a failure sends it at once, and a rule that would end the call stops
 * only further hedges as long as another attempt may still succeed. */
#include "lib/call.h"

#include <stddef.h>

#include "bide/error.h"
#include "lib/blame.h"
#include "lib/hold.h"
#include "lib/plain.h"
#include "lib/ticket.h"
#include "lib/wait/wait.h"

static struct bide__call *opened(bide_call *call)
{
    return (struct bide__call *)call;
}

static const bide_policy_conf *conf_of(const struct bide__call *c)
{
    return &c->dep->policy.conf;
}

static bool hedges(const struct bide__call *c)
{
    return conf_of(c)->hedge.max != 0;
}

/* ===== the rules, in the order of their table below ===== */

/* Ignored because of its outcome, not because of the rule of blame. */
static bool is_cancelled(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->cls == BIDE_IGNORED && !c->is.clipped &&
           c->fault != BIDE_FAULT_UPLOAD &&
           c->fault != BIDE_FAULT_CONNECTION_WAIT;
}

static bool client_timed_out(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->is.clipped && bide__deadline_is_callers(c);
}

static bool upload_stalled(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->fault == BIDE_FAULT_UPLOAD;
}

/* It lost its place in the line for a connection, and would do no better at the
 * end of the line. */
static bool no_connection(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->fault == BIDE_FAULT_CONNECTION_WAIT;
}

static bool is_permanent(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->cls == BIDE_PERMANENT;
}

/* This call is not to be retried; the next one may go when it was said to. */
static bool server_refused(struct bide__call *c, int64_t now)
{
    if (c->cls != BIDE_OVERLOADED && !c->is.refused)
        return false;
    int64_t hint = c->is.hinted ? bide__hint_ns(c) : 0;
    c->at_ns = hint > 0 ? bide__add_ns(now, hint) : 0;
    return true;
}

/* Repeating it would do harm, and it may have been done once. */
static bool not_idempotent(struct bide__call *c, int64_t now)
{
    (void)now;
    return !c->is.unprocessed && !c->is.safe_twice;
}

/* A body that was never begun can still be sent. */
static bool not_replayable(struct bide__call *c, int64_t now)
{
    (void)now;
    bool begun = c->fault != BIDE_FAULT_DNS &&
                 c->fault != BIDE_FAULT_CONNECT && !c->unreached;
    return c->is.one_shot && begun;
}

static bool no_attempts_left(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->stopped_by || c->is.no_more ||
           bide__counted(c) >= c->dep->policy.max_attempts;
}

static bool upstream_retries(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->is.nested && !bide__is_free(c);
}

static bool retries_off(struct bide__call *c, int64_t now)
{
    (void)now;
    return bide__retries_off(c->dep) && !bide__is_free(c);
}

static bool no_hint(struct bide__call *c, int64_t now)
{
    (void)now;
    return c->cls == BIDE_THROTTLED && !c->is.hinted &&
           conf_of(c)->retry_after.throttled_without_hint ==
               BIDE_UNHINTED_STOP;
}

/* Too long for this call; the next one may use it. */
static bool hint_too_long(struct bide__call *c, int64_t now)
{
    if (!c->is.hinted || bide__hint_ns(c) <= conf_of(c)->retry_after.max_ns)
        return false;
    c->at_ns = bide__add_ns(now, bide__hint_ns(c));
    return true;
}

/* Never sleep first and find out later. */
static bool past_deadline(struct bide__call *c, int64_t now)
{
    return !bide__fits_deadline(c, bide__add_ns(now, c->wait_ns));
}

/* A probe is not retried, whatever its outcome. A call that was held since is no
 * retry of it, and may be the next probe: if all had been one, nobody would. */
static bool breaker_open(struct bide__call *c, int64_t now)
{
    return bide__breaker_refuses(&c->dep->breaker, c->is.probe && !c->held,
                                 now);
}

/* Near the end, because it is the only one that takes something; what asked for no
 * work does not pay. */
static bool no_budget(struct bide__call *c, int64_t now)
{
    return !c->is.granted && !bide__is_free(c) && !bide__ticket_take(c, now);
}

/* Nobody has been there for so long that this is no restart. */
static bool unreachable(struct bide__call *c, int64_t now)
{
    return c->unreached && !c->elsewhere && !c->held &&
           !bide__gate_waits(&c->dep->gate, &c->dep->policy, c->begin_ns, now);
}

static const struct rule {
    bool (*applies)(struct bide__call *c, int64_t now);
    bide_reason reason;
    bool final; /* no other attempt of the call can help either */
} rules[] = {
    { is_cancelled, BIDE_BECAUSE_CANCELLED, true },
    { client_timed_out, BIDE_BECAUSE_CLIENT_TIMEOUT, true },
    { upload_stalled, BIDE_BECAUSE_UPLOAD, true },
    { no_connection, BIDE_BECAUSE_CONNECTION_WAIT, false },
    { is_permanent, BIDE_BECAUSE_PERMANENT, true },
    { server_refused, BIDE_BECAUSE_SERVER_REFUSED, false },
    { not_idempotent, BIDE_BECAUSE_NOT_IDEMPOTENT, true },
    { not_replayable, BIDE_BECAUSE_NOT_REPLAYABLE, false },
    { no_attempts_left, BIDE_BECAUSE_ATTEMPTS, false },
    { upstream_retries, BIDE_BECAUSE_UPSTREAM_RETRIES, false },
    { retries_off, BIDE_BECAUSE_RETRIES_OFF, false },
    { no_hint, BIDE_BECAUSE_NO_HINT, false },
    { hint_too_long, BIDE_BECAUSE_HINT_TOO_LONG, false },
    { past_deadline, BIDE_BECAUSE_DEADLINE, false },
    { breaker_open, BIDE_BECAUSE_BREAKER_OPEN, false },
    { no_budget, BIDE_BECAUSE_BUDGET, false },
    { unreachable, BIDE_BECAUSE_UNREACHABLE, false },
};

enum { N_RULES = sizeof rules / sizeof rules[0] };

/* ===== transitions ===== */

static void finish(struct bide__call *c, bide_reason reason)
{
    if (c->is.granted) {
        bide__ticket_give_back(c);
        if (!c->again)
            bide__count(&c->dep->counters.retries_dropped);
    }
    c->state = BIDE__OVER;
    c->reason = (uint8_t)reason;
    if (c->is.queued)
        bide__queue_quit(c);
    else if (c->is.paced)
        bide__turn_give_back(c, c->at_ns);
}

/* The reason of a call whose last attempt fails after `reason` has ended the
 * hedging. A hedge that was refused while nothing had failed, or that found no
 * connection, was optional: the attempt that fails then was simply the last. */
static bide_reason reason_to_keep(const struct bide__call *c,
                                  bide_reason reason)
{
    bool owed = c->cls != BIDE_SUCCESS && reason != BIDE_BECAUSE_CONNECTION_WAIT;
    return bide_reason_is_refusal(reason) && !owed ? BIDE_BECAUSE_ATTEMPTS
                                                   : reason;
}

/* Ends the call, unless another attempt may still succeed: then only hedging
 * ends, and the reason is kept in case that attempt fails too. */
static void give_up(struct bide__call *c, bide_reason reason, bool final,
                    int64_t now)
{
    if (bide__hold(c, reason, now))
        return;
    if (reason == BIDE_BECAUSE_ATTEMPTS && c->stopped_by)
        reason = (bide_reason)c->stopped_by;
    if (final || c->n_running == 0) {
        finish(c, reason);
        return;
    }
    if (c->is.granted)
        bide__ticket_give_back(c);
    if (reason != BIDE_BECAUSE_ATTEMPTS && !c->stopped_by)
        bide__count(&c->dep->counters.hedges_refused);
    c->stopped_by = reason_to_keep(c, reason) & 0x3f;
    c->reason = (uint8_t)reason; /* for bide_call_hedge_refused() */
    c->state = BIDE__RUNNING;
}

/* `pending`: a hedge was already scheduled. It goes no earlier than each of the
 * failures allows. */
static void grant(struct bide__call *c, bool pending, int64_t now)
{
    int64_t at = bide__add_ns(now, c->wait_ns);
    struct bide__counters *counters = &c->dep->counters;
    if (!hedges(c) && !bide__is_free(c)) {
        bide__histogram_add(&counters->wait_computed, c->value_ns, 1);
        bide__histogram_add(&counters->wait_jittered, c->wait_ns, 1);
    }
    c->state = BIDE__WAITING;
    if (!pending || at > c->at_ns)
        c->at_ns = at;
}

static void judge(struct bide__call *c, int64_t now)
{
    bool pending = c->is.granted;
    if (c->held)
        c->wait_ns = 0; /* it has waited for longer */
    else
        bide__wait_retry(c, now);
    for (int i = 0; i < N_RULES; i++) {
        if (rules[i].applies(c, now)) {
            give_up(c, rules[i].reason, rules[i].final, now);
            return;
        }
    }
    if (!c->held) {
        grant(c, pending, now);
        return;
    }
    c->held = false; /* its wait is over */
    c->state = BIDE__READY;
}

/* The wait is over: the retry may start, if it is let through. */
static void wake(struct bide__call *c, int64_t now)
{
    if (c->held && c->is.judged) {
        c->state = BIDE__FAILED; /* to be paid for */
        return;
    }
    if (!hedges(c) && !c->held && !bide__is_free(c) && !c->at_gate)
        bide__histogram_add(&c->dep->counters.wait_slept,
                            bide__elapsed_ns(c->at_ns - c->wait_ns, now), 1);
    c->state = BIDE__READY;
}

/* ===== decisions ===== */

static bide_decision wait_until(int64_t at_ns, bide_reason reason)
{
    return (bide_decision){ BIDE_WAIT, reason, 0, 0, at_ns };
}

static bide_decision done(const struct bide__call *c, int64_t now)
{
    int64_t at = 0;
    if (c->reason == BIDE_BECAUSE_BREAKER_OPEN)
        at = bide__breaker_open_until(&c->dep->breaker);
    else if (c->reason == BIDE_BECAUSE_UNREACHABLE)
        at = bide__gate_next_knock(&c->dep->gate, &c->dep->policy, now);
    else if (c->reason == BIDE_BECAUSE_SERVER_REFUSED ||
             c->reason == BIDE_BECAUSE_HINT_TOO_LONG ||
             c->reason == BIDE_BECAUSE_RATE ||
             c->reason == BIDE_BECAUSE_SHED_RETRY ||
             c->reason == BIDE_BECAUSE_SHED_PRIORITY)
        at = c->at_ns;
    return (bide_decision){ BIDE_DONE, (bide_reason)c->reason, 0, 0,
                            at ? at : BIDE_FOREVER };
}

static bide_decision try_now(const struct bide__call *c, bide_reason reason,
                             int64_t now)
{
    return (bide_decision){ BIDE_TRY, reason, c->attempts,
                            bide__time_for_attempt(c, now), 0 };
}

/* READY: asks to be let through. True if that decides; false if the state has
 * changed, and must be looked at again. */
static bool proceed(struct bide__call *c, int64_t now, bide_decision *ret)
{
    bide_reason why = (bide_reason)c->reason;
    if (!bide__fits_deadline(c, now)) {
        give_up(c, BIDE_BECAUSE_DEADLINE, false, now);
        return false;
    }
    if (c->is.granted && !c->again && bide__retries_off(c->dep)) {
        give_up(c, BIDE_BECAUSE_RETRIES_OFF, false, now);
        return false;
    }
    struct bide__answer_to_start a =
        bide__attempt_start(c, c->n_running != 0, now);
    switch (a.admission) {
    case BIDE__ADMITTED:
        *ret = try_now(c, why, now);
        return true;
    case BIDE__HELD_UP:
        if (a.reason == BIDE_BECAUSE_KNOCKING) { /* asking sooner is no help */
            c->state = BIDE__WAITING;
            c->reason = BIDE_BECAUSE_KNOCKING;
            c->at_ns = a.at_ns;
        }
        *ret = wait_until(a.at_ns, a.reason);
        return true;
    default:
        give_up(c, a.reason, false, now);
        return false;
    }
}

/* RUNNING: waits for the attempt, or sends a hedge beside it. */
static bool wait_or_hedge(struct bide__call *c, int64_t now, bide_decision *ret)
{
    bool may = !c->stopped_by && !c->is.no_more && c->is.safe_twice && !c->is.one_shot &&
               !c->is.nested && bide__counted(c) < c->dep->policy.max_attempts &&
               hedges(c) && !bide__retries_off(c->dep);
    if (!may || now < c->at_ns) {
        *ret = wait_until(may ? c->at_ns : BIDE_FOREVER, BIDE_BECAUSE_RUNNING);
        return true;
    }
    c->cls = BIDE_SUCCESS; /* nothing failed: it costs what a plain retry costs */
    c->fault = BIDE_FAULT_NONE;
    if (!bide__ticket_take(c, now)) {
        give_up(c, BIDE_BECAUSE_BUDGET, false, now);
        return false;
    }
    c->reason = BIDE_BECAUSE_HEDGE;
    c->state = BIDE__READY;
    return false;
}

/* Kept out of line, like take_report() below, so that the usual call does not
 * pay for saving registers that only this needs. */
BIDE__OUT_OF_LINE
static bide_decision decide(struct bide__call *c, int64_t now)
{
    bide_decision d;

    for (;;) {
        switch ((enum bide__call_state)c->state) {
        case BIDE__WAITING:
            if (now < c->at_ns)
                return wait_until(c->at_ns, (bide_reason)c->reason);
            wake(c, now);
            break;
        case BIDE__READY:
            if (proceed(c, now, &d))
                return d;
            break;
        case BIDE__RUNNING:
            if (wait_or_hedge(c, now, &d))
                return d;
            break;
        case BIDE__FAILED:
            judge(c, now);
            break;
        case BIDE__OVER:
            return done(c, now);
        }
    }
}

bide_decision bide_call_next(bide_call *call, int64_t now_ns)
{
    struct bide__call *c = opened(call);
    int64_t now = bide__clock(now_ns);
    if (c->state == BIDE__OVER)
        return done(c, now);
    if (c->state == BIDE__READY && bide__fits_deadline(c, now) &&
        bide__plain_start(c, now))
        return try_now(c, BIDE_BECAUSE_FIRST, now);
    return decide(c, now);
}

/* ===== report, cancel, end ===== */

static void remember_failure(struct bide__call *c,
                             const struct bide__running *r,
                             const bide_outcome *out, bool clipped)
{
    c->is.judged = true;
    c->is.clipped = clipped;
    /* A probe that was free has left its place, and may be one again. */
    c->is.probe = r->probe >= 0 && !bide__is_free(c);
    c->cls = out->cls & 0x7;
    c->fault = out->fault & 0x1f;
    c->conflict = out->conflict;
    c->is.unprocessed = out->not_processed;
    c->is.refused = out->refused;
    c->is.hinted = out->hinted;
    c->hint_ns = out->hint_ns > 0 ? out->hint_ns : 0;
    if (out->hint_exact)
        c->hint_ns = ~c->hint_ns;
    c->state = BIDE__FAILED;
}

/* To a retry with the key of the attempt before, 409 or 425 means that the server
 * is still at that one: wait, and ask again for its answer. Such an answer
 * speaks for the server, not against it. */
static bool still_in_progress(const struct bide__call *c,
                              const bide_outcome *out, uint32_t attempt)
{
    return c->keyed && attempt - c->missed > 1 &&
           out->fault == BIDE_FAULT_NONE &&
           ((out->status == 409 && out->cls == BIDE_PERMANENT) ||
            (out->status == 425 && out->cls == BIDE_TRANSIENT));
}

BIDE__OUT_OF_LINE
static int take_report(struct bide__call *c, uint32_t attempt,
                       const bide_outcome *outcome, int64_t now)
{
    unsigned i = 0;
    while (i < c->n_running && c->running[i].attempt != attempt)
        i++;
    if (i == c->n_running)
        return BIDE_ESTATE;
    if (c->state == BIDE__FAILED && outcome->cls != BIDE_SUCCESS)
        judge(c, now); /* the previous failure, which was never asked about */
    struct bide__running r = c->running[i];
    c->running[i] = c->running[--c->n_running];

    if (c->state == BIDE__OVER) {
        bide__attempt_drop(c, &r, now); /* it lost, and its outcome is ignored */
        return 0;
    }
    bide_outcome seen = *outcome;
    if (!r.paid)
        bide__blame_first(c, &r);
    bool clipped = bide__is_clipped(c, &r, outcome, now);
    if (clipped)
        seen.cls = BIDE_IGNORED;
    bool busy = still_in_progress(c, outcome, attempt);
    if (busy)
        seen.cls = BIDE_PERMANENT;
    bide__attempt_end(c, &r, &seen, now);
    if (busy)
        seen.cls = BIDE_TRANSIENT;
    if (seen.cls == BIDE_SUCCESS)
        finish(c, BIDE_BECAUSE_SUCCESS);
    else
        remember_failure(c, &r, &seen, clipped);
    return 0;
}

int bide_call_report(bide_call *call, uint32_t attempt,
                     const bide_outcome *outcome, int64_t now_ns)
{
    struct bide__call *c = opened(call);
    int64_t now = bide__clock(now_ns);
    if (!outcome || (unsigned)outcome->cls >= BIDE_N_CLASSES) {
        static const bide_outcome ours = { .cls = BIDE_PERMANENT,
                                           .fault = BIDE_FAULT_LOCAL };
        int rc = take_report(c, attempt, &ours, now); /* or it would run on */
        return rc < 0 ? rc : BIDE_EINVAL;
    }
    if (outcome->cls == BIDE_SUCCESS && attempt == 1 &&
        bide__plain_success(c, now))
        return 0;
    return take_report(c, attempt, outcome, now);
}

void bide_call_cancel(bide_call *call)
{
    struct bide__call *c = opened(call);
    if (c->state != BIDE__OVER)
        finish(c, BIDE_BECAUSE_CANCELLED);
}

void bide_call_no_more(bide_call *call)
{
    opened(call)->is.no_more = true;
}

void bide_call_end(bide_call *call, int64_t now_ns)
{
    struct bide__call *c = opened(call);
    int64_t now = bide__clock(now_ns);

    bide_call_cancel(call);
    while (c->n_running != 0)
        bide__attempt_drop(c, &c->running[--c->n_running], now);
    if (c->reason != BIDE_BECAUSE_SUCCESS || bide__counted(c) > 1)
        bide__count(&c->dep->counters.done[c->reason]);
    bide__budget_calls(&c->dep->budget, &c->dep->policy, -1);
}

/* An attempt that was begun and never judged may have had any effect. */
bool bide_call_repeatable(const bide_call *call)
{
    struct bide__call c = *(const struct bide__call *)call;
    if (!c.is.judged)
        return c.attempts == 0 || (c.is.safe_twice && !c.is.one_shot);
    return !not_idempotent(&c, 0) && !not_replayable(&c, 0);
}
