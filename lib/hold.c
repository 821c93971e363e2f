/* Calls that bide itself refuses, and that wait until it does not. */
#include "lib/hold.h"

#include "lib/ticket.h"

/* Between two times that a call asks which was refused. */
#define HELD_LEAST_NS (50 * BIDE_MILLISECOND)
#define HELD_MOST_NS  (2 * BIDE_SECOND)

/* When a call that was refused should ask again: when the breaker lets probes
 * through; otherwise soon, and less often the longer it has waited. Spread, so
 * that those that were refused together do not ask together. */
static int64_t ask_again_at(const struct bide__call *c, bide_reason reason,
                            int64_t now)
{
    int64_t step = bide__elapsed_ns(c->begin_ns, now) / 8;
    if (step < HELD_LEAST_NS)
        step = HELD_LEAST_NS;
    if (step > HELD_MOST_NS)
        step = HELD_MOST_NS;
    int64_t at = bide__add_ns(now, c->held ? 0 : c->wait_ns);
    int64_t free =
        reason == BIDE_BECAUSE_BREAKER_OPEN
            ? bide__breaker_open_until(&c->dep->breaker)
        : reason == BIDE_BECAUSE_UNREACHABLE
            ? bide__gate_next_knock(&c->dep->gate, &c->dep->policy, now)
            : 0;
    return bide__add_ns(free > at ? free : at,
                        bide_rng_between(c->rng, step / 2, step));
}

/* Whether a call that is refused for this may go later. Where nobody is there,
 * unreachable.wait bounds the waiting: a call without a deadline must end. */
static bool may_pass(const struct bide__call *c, bide_reason reason,
                     int64_t now)
{
    if (!bide_reason_is_refusal(reason) || reason == BIDE_BECAUSE_RETRIES_OFF)
        return false;
    if (reason == BIDE_BECAUSE_UNREACHABLE)
        return bide__elapsed_ns(c->begin_ns, now) <
               c->dep->policy.conf.unreachable.wait_ns;
    return reason != BIDE_BECAUSE_BUDGET || !bide__share_spent(c, now);
}

/* With `when_refused: wait`: what bide itself refuses may go later. It holds
 * nothing meanwhile. */
bool bide__hold(struct bide__call *c, bide_reason reason, int64_t now)
{
    if (c->dep->policy.conf.when_refused != BIDE_REFUSED_WAIT ||
        c->n_running != 0 || c->is.no_more || !may_pass(c, reason, now))
        return false;
    if (!c->is.judged)
        c->wait_ns = 0;
    int64_t at = ask_again_at(c, reason, now);
    if (!bide__fits_deadline(c, at))
        return false;
    if (c->is.granted && !c->again)
        bide__ticket_give_back(c);
    if (c->is.queued)
        bide__queue_quit(c);
    c->held = true;
    c->at_ns = at;
    c->reason = BIDE_BECAUSE_HELD;
    c->state = BIDE__WAITING;
    return true;
}
