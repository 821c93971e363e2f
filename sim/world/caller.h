/* The caller: drives bide's own calls on virtual time.
 *
 *     struct sim_caller caller = { .target = &service.target };
 *     sim_caller_init(&caller, world, &conf, n_deps);
 *     sim_caller_begin(&caller, world, client, number, NULL);
 *
 * It does what every driver does (bide/call.h): begin, ask, try, report, end.
 * There is no thread and no sleep: a call that waits is an event. The policy is
 * used unchanged, except that it has one lane, since there is one thread: the
 * core that the simulator runs on must not matter. Threads: owned. */
#ifndef BIDE_SIM_WORLD_CALLER_H
#define BIDE_SIM_WORLD_CALLER_H

#include "bide/bide.h"
#include "sim/model/luck.h"
#include "sim/model/slab.h"
#include "sim/world/balance/balancer.h"
#include "sim/world/metrics.h"
#include "sim/world/places.h"
#include "sim/world/record_marks.h"
#include "sim/world/target.h"
#include "sim/world/timeouts.h"

enum { SIM_AT_ONCE = 5 }; /* concurrent attempts of a call: one and four hedges */

/* The request that a call serves, if any. */
struct sim_job {
    uint32_t tag;              /* by which its creator recognizes it */
    uint32_t process;          /* whose dependency it calls through */
    /* from the request */
    uint32_t upstream_attempt; /* its claim */
    uint64_t operation;
    int64_t deadline_ns;
    bool key_came_along;  /* its key is derived from that one */
};

/* A call in progress. It is never moved: a bide_call must not be.
 *
 * Ten thousand of them do not fit into the processor's cache. So what each
 * event needs of a call is in its first cache line, what the engine needs for a
 * plain success in the next two, and the rest is neither read nor written
 * without need. */
struct sim_call {
    _Alignas(SIM_LINE) uint64_t client;
    int64_t begin_ns;    /* between the two, or the compiler would load them at
                          * once, just after each was stored */
    uint64_t number;
    int64_t wake_ns;     /* an event is set for then; -1: none */
    uint32_t generation; /* of the slot: events for an earlier one are void */
    uint32_t running[SIM_AT_ONCE]; /* the attempts */
    uint8_t n_running;
    uint8_t last;        /* kind of the last response */
    bool waiting : 1;    /* in backoff */
    bool queued : 1;     /* for a place in flight */
    bool again : 1;      /* the last attempt found nobody: the next one stands
                          * for it */
    bool sampled : 1;    /* its marks are kept */
    bool hinted : 1;     /* by the last response */
    bool serves : 1;     /* a request of another caller ... */
    bool key_came_along : 1; /* ... that had a key */
    uint32_t process;    /* the number of its dependency */
    bide_call call;
    int64_t hint_ns;     /* if hinted */
    uint64_t operation;  /* if it serves */
    uint32_t tag;        /* if it serves */
    uint32_t upstream_attempt; /* if it serves */
    uint32_t next, previous; /* slots of other calls for the same request, for
                              * whoever began them */
    uint32_t choice;     /* of its servers, if there are several */
    uint32_t number_there[SIM_AT_ONCE]; /* of each attempt, if the target wants to
                                         * know when it is abandoned */
};

struct sim_queue;

struct sim_caller {
    /* from the model */
    struct sim_target *target;
    uint32_t part;       /* its number among the parts, for its luck */
    enum sim_repeat repeat;
    struct sim_queue *queue; /* in front of the target; NULL: none */
    struct sim_marks *marks; /* of sampled clients; or NULL */
    void *self;          /* of the observer, which is told ... */
    /* ... that a call is done, and its last response; or NULL */
    void (*on_done)(void *self, struct sim_world *w, const struct sim_call *call,
                    bide_reason reason, const struct sim_answer *last);
    /* ... that an attempt begins; or NULL */
    void (*on_try)(void *self, struct sim_world *w, bide_dep *dep,
                   const bide_decision *d);

    /* current state */
    bide_dep **deps; /* client n calls through deps[n % n_deps] */
    uint32_t n_deps;
    struct sim_balancer *balancer; /* of the target's servers; NULL: it has
                                    * one */
    bool keyed;      /* its requests carry an Idempotency-Key */
    bide_outcome known[SIM_ANSWER_KINDS]; /* how the policy classifies each */
    const struct sim_call *asked; /* the call that the engine is asked about: */
    uint16_t draws;               /* its luck is drawn, by ... */
    uint64_t seed;
    bide_rng rng;                 /* ... this */
    bide_op op;                   /* of calls that serve no request */
    struct sim_sender sender;
    struct sim_actor actor;
    struct sim_actor deadline;
    struct sim_timeouts timeouts;
    struct sim_places *places; /* for each dependency; NULL: nobody queues */
    struct sim_slab calls;

    /* statistics */
    struct sim_metrics metrics;
    int64_t affected_ns;  /* of the calls that began before that ... */
    int64_t last_back_ns; /* ... the last one ended then; 0: none has */
};

/* Creates `n_deps` dependencies of the policy: one for each process of a fleet,
 * for example. 0, or the result of bide_policy_check(). The target must be
 * set. */
int sim_caller_init(struct sim_caller *c, struct sim_world *w,
                    const bide_policy_conf *conf, uint32_t n_deps);

/* Calls that are still in progress are dropped. */
void sim_caller_done(struct sim_caller *c);

/* Begins call `number` of a client: the two are the key of its luck. `job` may
 * be NULL. Returns the number of its slot; it may already be over, if it was
 * refused, and on_done has then been called. */
uint32_t sim_caller_begin(struct sim_caller *c, struct sim_world *w,
                          uint64_t client, uint64_t number,
                          const struct sim_job *job);

/* How many calls are in progress that began before then. */
uint64_t sim_caller_older(const struct sim_caller *c, int64_t before_ns);

/* Cancels the call in a slot; on_done is not called. */
void sim_caller_cancel(struct sim_caller *c, struct sim_world *w,
                       uint32_t slot);

/* What follows is for its own files, and for places.c and timeouts.c. */

/* The call in a slot that is in use. */
static inline struct sim_call *sim_caller_at(const struct sim_caller *c,
                                             uint32_t slot)
{
    return sim_slab_at(&c->calls, slot, sizeof(struct sim_call));
}

/* The index of an attempt among those of a call that are running, or -1. */
static inline int sim_call_find(const struct sim_call *call, uint32_t attempt)
{
    for (int i = 0; i < call->n_running; i++)
        if (call->running[i] == attempt)
            return i;
    return -1;
}

/* Attempts of a call, but for those that found nobody. */
static inline uint32_t sim_call_counted(const struct sim_call *call)
{
    return bide_call_attempts(&call->call) - bide_call_missed(&call->call);
}

enum { SIM_CALL_LINES = 3 }; /* all that most calls need */

SIM_FETCHES void sim_caller_fetch(const struct sim_caller *c, uint32_t slot)
{
    sim_fetch_lines(sim_caller_at(c, slot), SIM_CALL_LINES);
}

/* Asks the engine what to do next with the call in a slot, and does it. */
void sim_caller_go_on(struct sim_caller *c, struct sim_world *w, uint32_t slot);

/* For a queue: an attempt of the message in a slot, by the dependency of a
 * process. `number` is that of the delivery. What was decided is in *ret; if it
 * is not TRY, nothing was sent. */
void sim_caller_deliver(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                        uint32_t process, const bide_op *op, uint32_t number,
                        bide_decision *ret);

/* For a queue: ends the attempt; the message waits again, for its next backoff
 * (wait_ns > 0) or for a place. */
void sim_caller_requeue(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                        uint32_t attempts, int64_t wait_ns);

/* caller.c: ends a call as decided; removes an attempt from those running;
 * tells the target that it has been abandoned. */
void sim_caller_finish(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                       const bide_decision *d);
void sim_caller_drop(struct sim_caller *c, uint32_t slot, int i);
void sim_caller_tell_off(struct sim_caller *c, struct sim_world *w,
                         uint32_t slot, int i);

/* Sets whose luck the engine draws, and from which draw on. */
static inline void sim_caller_lend_luck(struct sim_caller *c,
                                        const struct sim_call *call,
                                        uint16_t draws)
{
    c->asked = call;
    c->draws = draws;
}

#endif
