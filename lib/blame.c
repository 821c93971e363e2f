/* Who is to blame for an attempt. blame.h explains the rule. */
#include "lib/blame.h"

#include <stddef.h>

#include "bide/error.h"
#include "lib/hedge.h"

static const bide_policy_conf *conf_of(const struct bide__call *c)
{
    return &c->dep->policy.conf;
}

/* ===== outcomes ===== */

/* A problem of our own, or of the caller's making. */
static bool is_ours(bide_fault fault)
{
    return fault == BIDE_FAULT_LOCAL || fault == BIDE_FAULT_URL ||
           fault == BIDE_FAULT_UPLOAD || fault == BIDE_FAULT_CONNECTION_WAIT ||
           fault == BIDE_FAULT_TOO_LONG;
}

enum bide__health bide__health_of(const bide_outcome *out)
{
    if (out->cls == BIDE_SUCCESS)
        return BIDE__WELL;
    if (is_ours(out->fault) || out->refused_below)
        return BIDE__NEUTRAL;
    switch (out->cls) {
    case BIDE_TRANSIENT:
    case BIDE_OVERLOADED:
        return BIDE__ILL;
    case BIDE_PERMANENT: /* it responded, if only with "no" */
        return out->fault == BIDE_FAULT_NONE ? BIDE__WELL : BIDE__ILL;
    default:
        return BIDE__NEUTRAL;
    }
}

bool bide__blames_nobody(const bide_outcome *out)
{
    return out->cls == BIDE_IGNORED ||
           (out->cls != BIDE_SUCCESS && is_ours(out->fault));
}

/* ===== time ===== */

static uint32_t microseconds(int64_t ns)
{
    int64_t us = ns / 1000;
    return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

void bide__blame_first(struct bide__call *c, const struct bide__running *r)
{
    c->ours_us = microseconds(bide__elapsed_ns(c->begin_ns, r->start_ns));
}

/* The time that the policy allows an attempt that begins at r->start_ns. */
static int64_t full_time(const struct bide__call *c,
                         const struct bide__running *r)
{
    int64_t full = conf_of(c)->attempt_timeout_ns;
    int64_t deadline = conf_of(c)->deadline_ns;
    if (deadline == BIDE_FOREVER)
        return full;
    int64_t passed = bide__elapsed_ns(c->begin_ns, r->start_ns);
    int64_t ours = r->paid ? (int64_t)c->ours_us * 1000 : passed;
    int64_t used = bide__elapsed_ns(ours, passed);
    int64_t left = bide__elapsed_ns(used, deadline);
    return left < full ? left : full;
}

/* A 504 is a timeout too, from a server that was told how much time there
 * is. */
bool bide__is_clipped(const struct bide__call *c, const struct bide__running *r,
                      const bide_outcome *out, int64_t now)
{
    bool late = out->fault == BIDE_FAULT_TIMEOUT || out->status == 504;
    if (!late || out->cls != BIDE_TRANSIENT || now < c->deadline_ns)
        return false;
    int64_t full = full_time(c, r);
    return bide__elapsed_ns(r->start_ns, now) < full - full / 10;
}

bool bide__deadline_is_callers(const struct bide__call *c)
{
    return c->deadline_ns < bide__add_ns(c->begin_ns, conf_of(c)->deadline_ns);
}

/* ===== for drivers ===== */

struct bide__pass bide__pass_of(const struct bide__call *c,
                                const struct bide__running *r)
{
    return (struct bide__pass){
        .probe_until = bide__add_ns(r->start_ns, c->dep->policy.probe_ns),
        .generation = r->generation,
        .probe = r->probe,
    };
}

/* The time since it was let through becomes ours. A probe keeps its place for
 * as long as a probe may take from now on. */
static void start_now(struct bide__call *c, struct bide__running *r, int64_t now)
{
    struct bide__pass pass = bide__pass_of(c, r);
    int64_t held_up = bide__elapsed_ns(r->start_ns, now);

    r->start_ns = bide__add_ns(r->start_ns, held_up);
    bide__breaker_keep(&c->dep->breaker, &pass,
                       bide__add_ns(r->start_ns, c->dep->policy.probe_ns));
    if (!r->paid)
        bide__blame_first(c, r);
    else if (microseconds(held_up) < UINT32_MAX - c->ours_us)
        c->ours_us += microseconds(held_up);
    else
        c->ours_us = UINT32_MAX;
}

/* The index of an attempt among those running, or n_running. */
static unsigned find(const struct bide__call *c, uint32_t attempt)
{
    unsigned i = 0;
    while (i < c->n_running && c->running[i].attempt != attempt)
        i++;
    return i;
}

int bide_call_started(bide_call *call, uint32_t attempt, int64_t now_ns,
                      int64_t *ret_timeout_ns)
{
    struct bide__call *c = (struct bide__call *)call;
    int64_t now = bide__clock(now_ns);
    unsigned i = find(c, attempt);

    if (i == c->n_running)
        return BIDE_ESTATE;
    start_now(c, &c->running[i], now);
    /* A hedge is for an attempt with which the dependency is slow. */
    if (conf_of(c)->hedge.max != 0 && c->state == BIDE__RUNNING &&
        attempt == c->attempts)
        c->at_ns = bide__hedge_due(c, now);
    if (ret_timeout_ns)
        *ret_timeout_ns = bide__time_for_attempt(c, now);
    return 0;
}

bide_outcome bide_call_blame(const bide_call *call, uint32_t attempt,
                             const bide_outcome *outcome, int64_t now_ns)
{
    const struct bide__call *c = (const struct bide__call *)call;
    bide_outcome seen = *outcome;
    unsigned i = find(c, attempt);

    if (bide__blames_nobody(outcome) ||
        (i < c->n_running &&
         bide__is_clipped(c, &c->running[i], outcome, bide__clock(now_ns))))
        seen.cls = BIDE_IGNORED;
    return seen;
}
