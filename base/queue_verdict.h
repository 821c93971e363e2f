/* base/queue_verdict.h: what becomes of a message after an attempt: the engine's decision,
 * in the terms of a queue.
 *
 *     struct queue_verdict v = queue_verdict(&call, &outcome, policy, probe,
 *                                            now_ns);
 *     // v.how: done, again in v.delay_ns, or dead because of v.reason
 *     if (v.down)
 *         ...                       // the handler is not there: base/queue_pace.h
 *
 * The waits, the limit of attempts and the classes are the engine's. Added here is
 * only what a queue has and a call has not: an attempt that says nothing about the
 * message does not count. That is so when nobody was there (refused, cannot start, a
 * certificate that is not valid: of whom the message says nothing),
 * when the handler said that it is too much (throttled, overloaded) or that an earlier
 * delivery of the message is still under way there, and when the
 * breaker let it through only to see whether the handler works again, for as long
 * as base/queue_pace.h gives the message the benefit of the doubt. The worker and
 * the simulator both go by it. */
#ifndef BIDE_BASE_QUEUE_VERDICT_H
#define BIDE_BASE_QUEUE_VERDICT_H

#include "base/queue_pace.h"
#include "bide/call.h"
#include "bide/policy.h"

/* How a delivery ends. */
enum broker_how {
    BROKER_DONE,   /* it leaves the queue */
    BROKER_AGAIN,  /* it stays, and is due after delay_ns */
    BROKER_DEAD    /* it becomes a dead letter */
};

struct queue_verdict {
    enum broker_how how;
    bool counts;
    bool down;            /* consumption should pause */
    bool answered;        /* down: with errors; or nobody answered */
    int64_t delay_ns;     /* AGAIN */
    int64_t not_before_ns; /* down: no probe before; 0 */
    bide_reason reason;   /* DEAD: why; down: why */
};

/* After the outcome was reported to the call; `policy` is its dependency's. `probe`:
 * what the attempt was for, when it began. Of a counted probe that was the last
 * attempt, `reason` is of the death. */
struct queue_verdict queue_verdict(bide_call *call, const bide_outcome *out,
                                   const bide_policy_conf *policy,
                                   enum queue_probe probe, int64_t now);

/* Of a call that was not let through to its first attempt. */
struct queue_verdict queue_verdict_refused(const bide_decision *d, int64_t now);

/* Whether a message has had all its attempts before this one: under a limit that
 * was lowered meanwhile. Then it is dead, and not run again. */
bool queue_verdict_spent(uint32_t attempts_made, uint32_t attempts,
                         struct queue_verdict *ret);

/* Whether an outcome says that the handler, not the message, is the trouble. */
bool queue_outcome_is_down(const bide_outcome *out);

#endif
