/* How long a call waits after a failure: as the policy computes, as the server
 * asks, or until somebody is there. */
#include "lib/wait/wait.h"

static const bide_policy_conf *conf_of(const struct bide__call *c)
{
    return &c->dep->policy.conf;
}

static bool hedges(const struct bide__call *c)
{
    return conf_of(c)->hedge.max != 0;
}

static bool failed_to_connect(const struct bide__call *c)
{
    return c->fault == BIDE_FAULT_DNS || c->fault == BIDE_FAULT_CONNECT ||
           c->fault == BIDE_FAULT_RESET ||
           (c->fault == BIDE_FAULT_TIMEOUT && c->is.unprocessed);
}

/* Before the gate is shut, the wait after which another failure shuts it. */
static void knock_again(struct bide__call *c)
{
    c->reason = BIDE_BECAUSE_KNOCKING;
    c->value_ns = c->wait_min_ns = bide__gate_doubt(&c->dep->policy);
    c->wait_max_ns = 2 * c->wait_min_ns;
    c->wait_ns = bide_rng_between(c->rng, c->wait_min_ns, c->wait_max_ns);
}

/* The wait that the policy computes, without the server's hint. */
static void compute_wait(struct bide__call *c, int64_t now)
{
    uint32_t n = bide__counted(c) - 1 - (hedges(c) ? 0 : (uint32_t)c->skipped);

    c->value_ns = c->wait_ns = c->wait_min_ns = c->wait_max_ns = 0;
    c->reason = BIDE_BECAUSE_IMMEDIATE;
    if (c->elsewhere)
        return;
    if (c->spared) {
        c->reason = BIDE_BECAUSE_NOT_PROCESSED;
        return;
    }
    if (c->unreached) {
        knock_again(c);
        return;
    }
    c->reason = BIDE_BECAUSE_HEDGE;
    if (hedges(c))
        return;
    c->reason = BIDE_BECAUSE_IMMEDIATE;
    if (bide__counted(c) == 1 && conf_of(c)->backoff.immediate_first &&
        failed_to_connect(c))
        return;
    c->reason = BIDE_BECAUSE_BACKOFF;
    bide__wait_compute(c, n, now);
    c->wait_ns = bide_rng_between(c->rng, c->wait_min_ns, c->wait_max_ns);
    c->previous_ns = c->wait_ns;
}

/* As gRPC does: what the server asked for stands for the waits so far. */
static void restart_backoff(struct bide__call *c)
{
    if (hedges(c) || conf_of(c)->retry_after.then != BIDE_THEN_RESTART)
        return;
    c->skipped = bide__counted(c);
    c->previous_ns = 0;
}

/* A pushback of gRPC is the wait: its server has spread it already. */
static void heed_exactly(struct bide__call *c)
{
    c->reason = BIDE_BECAUSE_HINT;
    c->value_ns = c->wait_ns = c->wait_min_ns = c->wait_max_ns =
        bide__hint_ns(c);
}

/* The server's hint replaces that wait, or is its minimum; with jitter on top,
 * so that clients that got the same hint do not all return at once. */
static void heed_hint(struct bide__call *c)
{
    const bide_retry_after_conf *ra = &conf_of(c)->retry_after;
    int64_t most =
        bide__add_ns(c->hint_ns, bide__scale_ns(c->hint_ns, ra->jitter));
    int64_t wait = bide_rng_between(c->rng, c->hint_ns, most);

    if (ra->mode == BIDE_HINT_REPLACE || wait >= c->wait_ns) {
        c->reason = BIDE_BECAUSE_HINT;
        c->value_ns = c->hint_ns;
        c->wait_ns = wait;
    }
    if (ra->mode == BIDE_HINT_REPLACE || c->hint_ns > c->wait_min_ns)
        c->wait_min_ns = c->hint_ns;
    if (ra->mode == BIDE_HINT_REPLACE || most > c->wait_max_ns)
        c->wait_max_ns = most;
}

void bide__wait_retry(struct bide__call *c, int64_t now)
{
    compute_wait(c, now);
    if (bide__hint_exact(c) && !c->spared)
        heed_exactly(c);
    else if (c->is.hinted && c->hint_ns > 0)
        heed_hint(c);
    else
        return;
    restart_backoff(c);
}
