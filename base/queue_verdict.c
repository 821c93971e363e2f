/* The engine's decision, in the terms of a queue. */
#include "base/queue_verdict.h"

#include "bide/policy.h"

bool queue_outcome_is_down(const bide_outcome *out)
{
    return bide_outcome_unreached(out) || out->cls == BIDE_THROTTLED ||
           out->cls == BIDE_OVERLOADED || out->refused ||
           out->fault == BIDE_FAULT_TLS || out->fault == BIDE_FAULT_URL ||
           (out->fault == BIDE_FAULT_LOCAL && out->not_processed);
}

/* What was sent before is still under way, behind a bide that knows its key: that is
 * no attempt, and its answer is worth the wait, however long it takes. */
static bool is_in_progress(const bide_outcome *out)
{
    return out->status == 409 && out->cls == BIDE_TRANSIENT &&
           out->fault == BIDE_FAULT_NONE && out->not_processed &&
           out->refused_below;
}

static struct queue_verdict again(int64_t delay_ns, bool counts)
{
    return (struct queue_verdict){ .how = BROKER_AGAIN,
                                   .counts = counts,
                                   .delay_ns = delay_ns };
}

/* A hint, no longer than the policy lets servers ask for. A call would end there; a
 * message can wait. */
static int64_t hint_of(const bide_outcome *out, const bide_policy_conf *policy)
{
    int64_t most = policy->retry_after.max_ns;

    return !out->hinted ? 0 : out->hint_ns < most ? out->hint_ns : most;
}

/* The wait that the engine drew, or was asked for, whatever it decided then. */
static int64_t wait_of(const bide_call *call, const bide_decision *d,
                       const bide_outcome *out, const bide_policy_conf *policy,
                       int64_t now)
{
    int64_t wait = 0, hint = hint_of(out, policy);
    bide_verdict v;

    if (d->action == BIDE_WAIT && d->at_ns != BIDE_FOREVER)
        return d->at_ns > now ? d->at_ns - now : 0;
    if (bide_call_verdict(call, &v) == 0)
        wait = v.wait_ns;
    if (out->hinted && out->hint_ns > hint) /* its jitter, on the shorter one */
        wait = (int64_t)((double)wait / (double)out->hint_ns * (double)hint);
    return hint > wait ? hint : wait;
}

static struct queue_verdict down(struct queue_verdict v, bide_reason reason,
                                 int64_t not_before)
{
    v.down = true;
    v.reason = reason;
    v.not_before_ns = not_before;
    return v;
}

/* The handler answered, and what it said says nothing good about it. */
static struct queue_verdict errs(struct queue_verdict v, const bide_decision *d)
{
    bool held = d->action == BIDE_DONE && d->at_ns != BIDE_FOREVER;

    v = down(v, v.how == BROKER_DEAD ? v.reason : BIDE_BECAUSE_BREAKER_OPEN,
             held ? d->at_ns : 0);
    v.answered = true;
    return v;
}

/* A failure of the message's own. */
static struct queue_verdict counted(const bide_decision *d, int64_t wait)
{
    if (d->action == BIDE_WAIT || d->reason == BIDE_BECAUSE_BUDGET ||
        d->reason == BIDE_BECAUSE_HINT_TOO_LONG)
        return again(wait, true);
    if (d->reason == BIDE_BECAUSE_BREAKER_OPEN)
        return errs(again(wait, true), d);
    return (struct queue_verdict){ .how = BROKER_DEAD, .counts = true,
                                   .reason = d->reason };
}

static struct queue_verdict failed(const bide_call *call,
                                   const bide_decision *d,
                                   const bide_outcome *out,
                                   const bide_policy_conf *policy,
                                   enum queue_probe probe, int64_t now)
{
    int64_t wait = wait_of(call, d, out, policy, now);

    if (queue_outcome_is_down(out))
        return down(again(wait, false),
                    out->cls == BIDE_THROTTLED    ? BIDE_BECAUSE_LOCAL_THROTTLE
                    : out->cls == BIDE_OVERLOADED ? BIDE_BECAUSE_SERVER_REFUSED
                                                  : BIDE_BECAUSE_UNREACHABLE,
                    out->hinted ? now + hint_of(out, policy) : 0);
    if (is_in_progress(out))
        return again(wait, false);
    if (probe == QUEUE_NO_PROBE || out->cls != BIDE_TRANSIENT)
        return counted(d, wait);
    return errs(probe == QUEUE_FREE_PROBE ? again(wait, false)
                                          : counted(d, wait),
                d);
}

struct queue_verdict queue_verdict(bide_call *call, const bide_outcome *out,
                                   const bide_policy_conf *policy,
                                   enum queue_probe probe, int64_t now)
{
    bide_decision d = bide_call_next(call, now);

    if (out->cls == BIDE_SUCCESS)
        return (struct queue_verdict){ .how = BROKER_DONE, .counts = true };
    if (out->cls == BIDE_IGNORED) /* we stopped it: given back */
        return again(0, false);
    return failed(call, &d, out, policy, probe, now);
}

struct queue_verdict queue_verdict_refused(const bide_decision *d, int64_t now)
{
    struct queue_verdict v = again(0, false);

    if (d->action == BIDE_DONE && (d->reason == BIDE_BECAUSE_ATTEMPTS ||
                                   d->reason == BIDE_BECAUSE_DEADLINE))
        return (struct queue_verdict){ .how = BROKER_DEAD,
                                       .reason = d->reason };
    return down(v, d->reason == BIDE_BECAUSE_HELD ? BIDE_BECAUSE_BREAKER_OPEN
                                                  : d->reason,
                d->at_ns == BIDE_FOREVER ? now : d->at_ns);
}

bool queue_verdict_spent(uint32_t attempts_made, uint32_t attempts,
                         struct queue_verdict *ret)
{
    if (attempts_made < attempts)
        return false;
    *ret = (struct queue_verdict){ .how = BROKER_DEAD,
                                   .reason = BIDE_BECAUSE_ATTEMPTS };
    return true;
}
