/* A model: a scenario as data. Read from YAML (scenario.h), or written by hand;
 * a stage (stage.h) makes a world of it and runs it, as often as wanted.
 *
 *   clients --policy--> service --policy--> service ...
 *
 * Fleets of clients call services; a service does its own work and may call
 * further services, with a policy of its own for each. Faults happen on a
 * timetable. Variants are the same model with other policies: what a report puts
 * side by side. All names are unique among fleets and services.
 *
 * A model is not changed by running it: many threads may run one at once.
 * Threads: immutable, once read. */
#ifndef BIDE_SIM_MODEL_MODEL_H
#define BIDE_SIM_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/policy.h"
#include "sim/model/dist.h"

#define SIM_NONE UINT32_MAX
#define SIM_UNBOUNDED UINT32_MAX

struct sim_model_policy {
    char *name;
    bide_policy_conf conf; /* what it points to lives as long as the model */
};

/* Whether a call may be made twice, as the engine is told (bide_op). */
enum sim_repeat {
    SIM_IDEMPOTENT,     /* the default */
    SIM_NOT_IDEMPOTENT, /* a POST: what may have been processed is not retried */
    SIM_KEYED           /* a POST with an Idempotency-Key: retried, and the
                         * service does it once (see commit) */
};

enum sim_arrival {
    SIM_OPEN,   /* calls come at a rate, whatever becomes of them */
    SIM_CLOSED, /* each client makes its next call a while after the last ended */
    SIM_REPLAY  /* at the times of a log */
};

struct sim_model_fleet {
    char *name;
    enum sim_arrival arrival;
    uint32_t clients;
    uint32_t processes;   /* that share a budget and a breaker each; 1..clients */
    double rate;          /* open: calls a second of the whole fleet */
    bool steady;          /* open: evenly spaced, not Poisson */
    struct sim_dist think; /* closed: from the end of a call to the next */
    int64_t *replay_ns;   /* replay: when each call begins, in order */
    uint32_t n_replay;
    int64_t from_ns, until_ns; /* calls begin within; until 0: the end */
    uint64_t most_calls;  /* of each client (closed) or of all; 0: no end */
    enum sim_repeat repeat;
    uint32_t service;     /* its number: that it calls */
    uint32_t policy;      /* its number */
};

enum sim_order { SIM_FIFO, SIM_LIFO };

/* A service calls another `times` times for each request that it serves, one
 * after the other, when its own work is done; its worker is held meanwhile
 * unless it is `detached` (an event loop). */
struct sim_model_edge {
    uint32_t service, policy;
    uint32_t times;
    enum sim_repeat repeat;
};

struct sim_model_service {
    char *name;
    uint32_t workers;       /* or SIM_UNBOUNDED */
    uint32_t shards;        /* at least 1: each has its own workers and queue, a
                             * client's calls all go to one of them */
    struct sim_dist time;   /* that a worker takes for a request */
    struct sim_dist network; /* one way, to and fro; constant 0: none */
    uint32_t queue;         /* places in it, or SIM_UNBOUNDED */
    enum sim_order order;
    bool drop_late;         /* does not begin what its client gave up, or whose
                             * deadline (X-Bide-Timeout-Ms) will have passed by
                             * the time that such work takes on average */
    bool cancels;           /* learns when a client gives up, and stops the work
                             * (default: goes on, as most servers do) */
    bool detached;          /* the worker is free while calls below run */
    double error_rate;      /* of answers: 500 */
    double lost_rate;       /* of answers that are lost after the work was done
                             * (commit, then fail): the client times out */
    bool keys;              /* knows an Idempotency-Key again: commits once */
    double limit_rate;      /* requests a second, over them 429; 0: none */
    double limit_burst;     /* the bucket's size */
    int64_t retry_after_ns; /* that a 429 or a 503 for a full queue says; 0: no
                             * hint; SIM_WHEN_FREE: when the bucket has a token */
    bool refuse_overload;   /* a full queue answers "do not retry" */
    struct sim_model_edge *edges;
    uint32_t n_edges;
};

#define SIM_WHEN_FREE INT64_C(-1)

enum sim_fault_kind {
    SIM_STOP,      /* no work is begun; what is in hand is finished */
    SIM_SLOW,      /* work that is begun takes `factor` times as long */
    SIM_FAIL,      /* an answer is an error with probability `factor` */
    SIM_CAPACITY,  /* only `factor` of the workers work */
    SIM_CRASH,     /* connections are refused at once (not sent); what was in the
                    * queue and in hand is lost: those clients see a reset */
    SIM_PARTITION  /* nothing gets through, to or fro: senders time out */
};

struct sim_fault {
    enum sim_fault_kind kind;
    uint32_t service;         /* that it happens to */
    uint32_t shard;           /* or SIM_NONE: to all of them */
    uint32_t fleet;           /* partition: from that one only, or SIM_NONE */
    int64_t from_ns, to_ns;
    int64_t every_ns;         /* flapping: again and again until `to`, for ... */
    int64_t for_ns;           /* ... this long each; every 0: once, all along */
    double factor;
};

/* The same model with other policies: `fleet_policy[i]` is that of fleet i, and
 * so on; SIM_NONE: as the model has it. */
struct sim_model_variant {
    char *name;
    uint32_t *fleet_policy; /* n_fleets */
    uint32_t **edge_policy; /* n_services, each n_edges; or NULL */
    /* What the fleets say about repeating their calls: n_fleets, each one of
     * enum sim_repeat, or SIM_NONE: as the model has it. Or NULL: all of them. */
    uint32_t *fleet_repeat;
};

struct sim_model {
    char *title, *about, *look_at; /* what to look at; each may be NULL */
    int64_t duration_ns;
    int64_t warm_up_ns;            /* before it nothing counts in the figures */
    uint64_t seed;
    struct sim_model_policy *policies;
    struct sim_model_fleet *fleets;
    struct sim_model_service *services;
    struct sim_fault *faults;
    struct sim_model_variant *variants; /* none: only the model as it stands */
    uint32_t n_policies, n_fleets, n_services, n_faults, n_variants;
    /* All of it lives in one piece of memory, with what gives that back; NULL in
     * a model made by hand, whose memory is its maker's. */
    void *memory;
    void (*release)(void *memory);
};

/* How many variants are run, one at least; and the name of one, "" where the model
 * has none. */
static inline uint32_t sim_model_runs(const struct sim_model *m)
{
    return m->n_variants ? m->n_variants : 1;
}

static inline const char *sim_model_variant_name(const struct sim_model *m,
                                                 uint32_t v)
{
    return m->n_variants ? m->variants[v].name : "";
}

/* Frees a model that was read. One made by hand is left alone, and so is a
 * shallow copy of one whose `release` was set to NULL. */
void sim_model_free(struct sim_model *m);

/* Says what keeps a model from being run, in a sentence, or NULL: numbers out of
 * range, names that lead nowhere, services that call each other in a circle.
 * Models that were read (scenario.h) have nothing of the kind. */
const char *sim_model_check(const struct sim_model *m);

#endif
