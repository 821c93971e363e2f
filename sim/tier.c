#include "tier.h"

#include <stdlib.h>

#include "memory.h"

static void submit(void *self, struct sim_world *w, const struct sim_request *r)
{
    struct sim_tier *t = self;
    uint32_t i;
    if (t->n_free > 0) {
        i = t->free[--t->n_free];
    } else {
        t->served = sim_grow(t->served, t->n_served, &t->served_room,
                             sizeof *t->served);
        i = t->n_served++;
    }
    t->served[i] = *r;
    /* each attempt of the layer above is a call of its own here */
    uint64_t call = bide_rng_hash(r->call, r->attempt, 0, 0);
    sim_caller_begin(&t->caller, w, r->client, call, i,
                     &(bide_op){ .idempotent = !t->caller.not_idempotent,
                                 .upstream_attempt = r->attempt });
}

/* The call below may be refused before it was sent, that is, from inside
 * submit(): so the answer takes an event. */
static void on_done(void *self, struct sim_world *w, uint32_t tag,
                    bide_reason reason)
{
    struct sim_tier *t = self;
    sim_world_at(w, w->now_ns, &t->actor, tag, reason);
}

static void act(struct sim_actor *self, struct sim_world *w, uint32_t i,
                uint32_t reason)
{
    struct sim_tier *t = self->self;
    struct sim_request r = t->served[i];
    bide_outcome out = BIDE_OUTCOME_SUCCESS;
    if (reason != BIDE_BECAUSE_SUCCESS)
        out = (bide_outcome){ .cls = BIDE_TRANSIENT, .status = 503 };
    t->free = sim_grow(t->free, t->n_free, &t->free_room, sizeof *t->free);
    t->free[t->n_free++] = i;
    r.from->answer(r.from->self, w, &r, &out);
}

int sim_tier_init(struct sim_tier *t, struct sim_world *w,
                  const bide_policy_conf *conf)
{
    t->target = (struct sim_target){ t, submit };
    t->actor = (struct sim_actor){ act, t };
    t->caller.self = t;
    t->caller.on_done = on_done;
    return sim_caller_init(&t->caller, w, conf, 1);
}

void sim_tier_done(struct sim_tier *t)
{
    sim_caller_done(&t->caller);
    free(t->served);
    free(t->free);
}
