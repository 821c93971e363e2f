/* A model: a scenario as data. Read from YAML (scenario.h), or written by hand;
 * sim_run() (stage.h) builds a world from it and runs it, any number of times.
 *
 *   clients --policy--> service --policy--> service ...
 *
 * Fleets of clients call services; a service does its own work and may call
 * further services, with a separate policy for each. Faults happen on a
 * timetable. Variants are the same model with other policies, which a report
 * puts side by side. All names are unique among fleets and services.
 *
 * Running does not change a model: many threads may run it at once.
 * Threads: immutable, once read. */
#ifndef BIDE_SIM_MODEL_MODEL_H
#define BIDE_SIM_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/balance.h"
#include "bide/policy.h"
#include "sim/model/dist.h"
#include "sim/model/profile.h"

#define SIM_NONE UINT32_MAX
#define SIM_UNBOUNDED UINT32_MAX

struct sim_model_policy {
    char *name;
    bide_policy_conf conf; /* what it points to lives as long as the model */
};

/* Whether a call may be repeated, as the engine sees it (bide_op). */
enum sim_repeat {
    SIM_IDEMPOTENT,     /* the default */
    SIM_NOT_IDEMPOTENT, /* a POST: not retried if it may have been processed */
    SIM_KEYED           /* a POST with an Idempotency-Key: retried, and the
                         * service does it once (see commit) */
};

enum sim_arrival {
    SIM_OPEN,   /* calls arrive at a rate, however they end */
    SIM_CLOSED, /* each client makes its next call a while after the last ended */
    SIM_REPLAY, /* at the times of a log */
    SIM_CRON    /* each client makes a call every so often, by the same clock */
};

/* A queue between a fleet and its service: each call is a message, which a worker
 * takes and hands to the service, its handler. The rules are the worker's own
 * (base/queue_pace.h, base/queue_verdict.h). */
struct sim_model_queue {
    uint32_t workers;  /* processes; 0: there is no queue */
    uint32_t at_once;  /* messages that each of them works on */
    uint32_t waiting;  /* in it when the run begins */
    double poison;     /* share of the messages that fail each time */
    double fails_first; /* share of first attempts that fail */
    bool pauses;       /* consumption, while the handler is not there */
    bool forgives;     /* such attempts do not count */
};

struct sim_model_fleet {
    char *name;
    enum sim_arrival arrival;
    uint32_t clients;
    uint32_t processes;   /* that share a budget and a breaker each; 1..clients */
    double rate;          /* open: calls a second of the whole fleet; with a
                           * profile: until its first change */
    struct sim_profile load; /* open: how the rate changes; no steps: not at
                           * all */
    bool steady;          /* open: evenly spaced, not Poisson */
    struct sim_dist think; /* closed: from the end of a call to the next */
    int64_t every_ns;     /* cron: from one call of a client to its next */
    int64_t spread_ns;    /* cron, closed: clients begin within that long, each
                           * at a time of its own; 0: all at once */
    int64_t *replay_ns;   /* replay: when each call begins, in order */
    uint32_t n_replay;
    int64_t from_ns, until_ns; /* calls begin within; until 0: the end */
    uint64_t most_calls;  /* of each client (closed) or of all; 0: no end */
    enum sim_repeat repeat;
    uint32_t service;     /* the number of the service it calls */
    uint32_t policy;      /* the number of its policy */
    struct sim_model_queue queue;
};

enum sim_order { SIM_FIFO, SIM_LIFO };

/* A service calls another `times` times for each request that it serves, one
 * after the other, when its own work is done; its worker waits meanwhile unless
 * it is `detached` (an event loop).
 *
 * If it is `parallel`, all calls are made at once and the slowest is waited for;
 * the first that fails ends the rest. If the other has shards, call n goes to
 * the shard n after the client's. */
struct sim_model_edge {
    uint32_t service, policy;
    uint32_t times;
    bool parallel;
    enum sim_repeat repeat;
};

/* How attempts are spread over the servers of a service. Each process of a
 * caller balances for itself, as a sidecar does: it knows its own attempts in
 * flight and its own failures. */
struct sim_model_balance {
    enum bide__balance_by by;
    bool ejects;                    /* servers that fail */
    struct bide__ejection ejection; /* if so */
    int64_t slow_start_ns;          /* after its return, a server's share grows
                                     * for so long */
};

struct sim_model_service {
    char *name;
    uint32_t workers;       /* of each server; or SIM_UNBOUNDED */
    uint32_t shards;        /* at least 1: all calls of a client go to one of
                             * them */
    uint32_t servers;       /* of each shard, equivalent, each with its own
                             * workers and queue; 0 is 1 */
    struct sim_model_balance balance;
    struct sim_dist time;   /* that a worker takes for a request */
    struct sim_dist network; /* one way, in each direction; constant 0: none */
    uint32_t queue;         /* its length, or SIM_UNBOUNDED */
    enum sim_order order;
    bool drop_late;         /* does not begin work that its client has abandoned,
                             * or whose deadline (X-Bide-Timeout-Ms) will have
                             * passed after the mean service time */
    bool cancels;           /* learns when a client gives up, and stops the work
                             * (default: continues, like most servers) */
    bool detached;          /* the worker is free while calls below run */
    double error_rate;      /* of responses: 500 */
    double lost_rate;       /* of responses that are lost after the work was done
                             * (commit, then fail): the client times out */
    bool keys;              /* recognizes an Idempotency-Key: commits once */
    double limit_rate;      /* requests a second, beyond that 429; 0: none */
    double limit_burst;     /* the bucket's size */
    int64_t retry_after_ns; /* of a 429 or a 503 for a full queue; 0: no hint;
                             * SIM_WHEN_FREE: when the bucket has a token, which
                             * is then kept for whoever was told so */
    bool refuse_overload;   /* a full queue responds "do not retry" */
    struct sim_model_edge *edges;
    uint32_t n_edges;
};

#define SIM_WHEN_FREE INT64_C(-1)

enum sim_fault_kind {
    SIM_STOP,      /* no work is begun; work in progress is finished */
    SIM_SLOW,      /* work that is begun takes `factor` times as long */
    SIM_FAIL,      /* a response is an error with probability `factor` */
    SIM_CAPACITY,  /* only `factor` of the workers work; if that is no whole
                    * number, the next one, and all of them slower */
    SIM_CRASH,     /* connections are refused at once (not sent); what was queued
                    * or in progress is lost: those clients see a reset */
    SIM_PARTITION, /* nothing gets through in either direction: timeouts */
    SIM_REFUSE     /* connections are refused at once (not sent); what was queued
                    * or in progress is finished */
};

struct sim_fault {
    enum sim_fault_kind kind;
    uint32_t service;         /* the one affected */
    uint32_t shard;           /* or SIM_NONE: all of them */
    uint32_t fleet;           /* partition: from that one only, or SIM_NONE */
    int64_t from_ns, to_ns;
    int64_t every_ns;         /* flapping: again and again until `to`, for ... */
    int64_t for_ns;           /* ... this long each; every 0: once, all along */
    double factor;
    uint32_t server;          /* the first one affected, of ... */
    uint32_t n_servers;       /* ... so many; 0: all of them */
    bool in_turn;             /* each time that it happens again, the next ones */
    bool at_once;             /* fail: without any work */
};

/* The same model with other policies, or another way to balance:
 * `fleet_policy[i]` is that of fleet i, and so on; SIM_NONE: the model's own. */
struct sim_model_variant {
    char *name;
    uint32_t *fleet_policy; /* n_fleets */
    uint32_t **edge_policy; /* n_services, each n_edges; or NULL */
    /* Whether the fleets' calls may be repeated: n_fleets, each one of enum
     * sim_repeat, or SIM_NONE: the model's own. Or NULL: the model's for
     * all. */
    uint32_t *fleet_repeat;
    /* n_services, each NULL for the model's own. Or NULL: the model's for all. */
    const struct sim_model_balance **balance;
    /* n_fleets, likewise. */
    const struct sim_model_queue **queue;
};

struct sim_model {
    char *title, *about, *look_at; /* what to look at; each may be NULL */
    int64_t duration_ns;
    int64_t warm_up_ns;            /* the figures ignore what comes before */
    uint64_t seed;
    struct sim_model_policy *policies;
    struct sim_model_fleet *fleets;
    struct sim_model_service *services;
    struct sim_fault *faults;
    struct sim_model_variant *variants; /* none: only the model as it stands */
    uint32_t n_policies, n_fleets, n_services, n_faults, n_variants;
    /* All of it is in one block of memory, with its destructor; NULL in a model
     * made by hand, whose memory belongs to its creator. */
    void *memory;
    void (*release)(void *memory);
};

/* How many variants are run, at least one; and the name of one, "" if the model
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

/* How many servers a service has in all. */
static inline uint32_t sim_service_servers(const struct sim_model_service *s)
{
    return s->shards * (s->servers ? s->servers : 1);
}

/* Calls a second of an open fleet, on average over a run of that length. */
double sim_fleet_rate(const struct sim_model_fleet *f, int64_t duration_ns);

/* Multiplies the rate of a fleet, whatever its profile. */
void sim_fleet_scale(struct sim_model_fleet *f, double factor);

/* When the last fault ends; 0: there is none. */
int64_t sim_model_faults_end(const struct sim_model *m);

/* Frees a model that was read. Does nothing for one made by hand, nor for a
 * shallow copy whose `release` was set to NULL. */
void sim_model_free(struct sim_model *m);

/* Returns why a model cannot be run, in a sentence, or NULL: numbers out of
 * range, names that do not exist, services that call each other in a cycle.
 * Models that were read (scenario.h) are always valid. */
const char *sim_model_check(const struct sim_model *m);

#endif
