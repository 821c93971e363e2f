/* The beginning of a call, and what its operation means for it. */
#include <stddef.h>
#include <string.h>

#include "lib/call.h"

static void set_op(struct bide__call *c, const bide_op *op)
{
    c->is.safe_twice = op->idempotent || op->has_key ||
                       c->dep->policy.conf.idempotency_key == BIDE_KEY_GENERATE;
    c->is.one_shot = op->one_shot_body;
    c->pending = op->body_pending;
    c->keyed =
        op->has_key || c->dep->policy.conf.idempotency_key == BIDE_KEY_GENERATE;
}

void bide_call_set_op(bide_call *call, const bide_op *op)
{
    if (op)
        set_op((struct bide__call *)call, op);
}

/* A retry is refused before a first attempt, whatever its priority: its caller
 * has been served once. */
static void set_rank(struct bide__call *c, const bide_op *op)
{
    c->is.rank = BIDE__RANK_NORMAL;
    if (op->upstream_attempt > 1)
        c->is.rank = BIDE__RANK_RETRY;
    else if (op->priority > 0)
        c->is.rank = BIDE__RANK_HIGH;
    else if (op->priority < 0)
        c->is.rank = BIDE__RANK_LOW;
}

/* All that is smaller than a word, from `state` to `attempts`, at once. One by
 * one, the compiler would read what is there first, and wait for it. */
static void clear_flags(struct bide__call *c)
{
    enum { FROM = offsetof(struct bide__call, state) };
    memset((char *)c + FROM, 0, offsetof(struct bide__call, attempts) - FROM);
}

void bide_call_begin(bide_call *call, bide_dep *dep, const bide_op *op,
                     int64_t now_ns)
{
    static const bide_op cautious = { 0 };
    struct bide__call *c = (struct bide__call *)call;
    const bide_policy_conf *conf = &dep->policy.conf;
    int64_t now = bide__clock(now_ns);

    if (!op)
        op = &cautious;
    c->dep = dep;
    c->rng = op->rng ? op->rng : &dep->rng;
    c->lane = bide__dep_lane(dep);
    c->begin_ns = now;
    c->deadline_ns = bide__add_ns(now, conf->deadline_ns);
    c->previous_ns = 0;
    c->skipped = 0;
    c->at_ns = 0;
    c->attempts = op->attempts_made;
    c->missed = 0;
    clear_flags(c); /* BIDE__READY */
    c->reason = BIDE_BECAUSE_FIRST;
    set_op(c, op);
    c->is.nested =
        op->upstream_attempt != 0 && conf->nested == BIDE_NESTED_PASS;
    set_rank(c, op);
    if (op->deadline_ns > 0 && op->deadline_ns < c->deadline_ns)
        c->deadline_ns = op->deadline_ns;
    bide__budget_calls(&dep->budget, &dep->policy, 1);
}
