/* The caller: drives bide's own calls on virtual time.
 *
 *     struct sim_caller caller = { .target = &service.target };
 *     sim_caller_init(&caller, world, &conf, n_deps);
 *     sim_caller_begin(&caller, world, client, call, tag, NULL);
 *
 * It does what every driver does (bide/call.h): begin, ask, try, report, end.
 * There is no thread and no sleep: a call that waits is an event. The policy is
 * run as it is, except that it has one lane, there being one thread: which core
 * the simulator runs on must not matter. Threads: owned. */
#ifndef BIDE_SIM_CALLER_H
#define BIDE_SIM_CALLER_H

#include "bide/bide.h"
#include "luck.h"
#include "metrics.h"
#include "target.h"
#include "timeouts.h"

/* A call in progress. Lives in a block, for a bide_call may not be moved. */
struct sim_call {
    bide_call call;
    struct sim_luck luck;
    bide_rng rng;
    int64_t begin_ns;
    int64_t wake_ns;     /* an event is set for then; -1: none */
    uint32_t generation; /* of the slot: events for an earlier one are void */
    uint32_t tag;        /* whoever began it knows it by that */
    uint32_t n_running;
    uint32_t running[5]; /* the attempts */
    uint32_t next_free;
};

struct sim_caller {
    /* as the model wants it */
    struct sim_target *target;
    uint32_t part;       /* its number among the parts, for its luck */
    bool not_idempotent; /* its calls must not be made twice */
    void *self;          /* of whoever wants to know ... */
    void (*on_done)(void *self, struct sim_world *w, uint32_t tag,
                    bide_reason reason); /* ... that a call is done; or NULL */
    void (*on_try)(void *self, struct sim_world *w, bide_dep *dep,
                   const bide_decision *d); /* that an attempt begins; or NULL */

    /* as it stands */
    bide_dep **deps; /* client n calls through deps[n % n_deps] */
    uint32_t n_deps;
    bool hedges;
    struct sim_sender sender;
    struct sim_actor actor;
    struct sim_actor deadline;
    struct sim_timeouts timeouts;
    struct sim_call **blocks;
    uint32_t n_slots, n_blocks, room, free; /* UINT32_MAX: none is free */
    uint64_t in_progress;

    /* as it went */
    struct sim_metrics metrics;
};

/* Makes `n_deps` dependencies of the policy: one for each process of a fleet,
 * say. 0, or what bide_policy_check() says; BIDE_EINVAL for a policy whose calls
 * queue for a place in flight (limits.queue), which is not modelled yet. */
int sim_caller_init(struct sim_caller *c, struct sim_world *w,
                    const bide_policy_conf *conf, uint32_t n_deps);

/* Calls that are still in progress are dropped. */
void sim_caller_done(struct sim_caller *c);

/* Begins call number `call` of a client: the two are the key of its luck. `op`
 * may be NULL; its generator is not used. */
void sim_caller_begin(struct sim_caller *c, struct sim_world *w,
                      uint64_t client, uint64_t call, uint32_t tag,
                      const bide_op *op);

#endif
