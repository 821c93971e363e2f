/* A service: workers, a queue in front of them, calls to further services, and
 * faults on a timetable.
 *
 *     struct sim_service service = SIM_SERVICE_INIT;
 *     service.conf.workers = 30;
 *     service.conf.time = sim_exponential(100e6);
 *     sim_service_init(&service, world);
 *     caller.target = &service.target;
 *
 * A request is an item from the moment it is sent until its response has left:
 *
 *   ON_ITS_WAY -> QUEUED -> IN_HAND -> BELOW -> ANSWERED
 *
 * It waits if all workers are busy, and is refused if the queue is full, too.
 * Work is finished even if its client has given up, unless the service is one
 * that learns of it. Threads: owned. */
#ifndef BIDE_SIM_WORLD_SERVICE_H
#define BIDE_SIM_WORLD_SERVICE_H

#include "sim/model/model.h"
#include "sim/model/promises.h"
#include "sim/model/slab.h"
#include "sim/world/caller.h"
#include "sim/world/ledger.h"
#include "sim/world/target.h"

enum sim_item_state {
    SIM_ITEM_FREE,
    SIM_ITEM_ON_ITS_WAY,
    SIM_ITEM_QUEUED,
    SIM_ITEM_IN_HAND,
    SIM_ITEM_BELOW,    /* its own work is done; a call below runs for it */
    SIM_ITEM_ANSWERED, /* the response is on its way */
    SIM_ITEM_GONE      /* cancelled while it was queued or on its way */
};

struct sim_item {
    _Alignas(SIM_LINE) struct sim_request request;
    int64_t begun_ns;    /* when a worker took it; when it was queued */
    int64_t hint_ns;     /* of the response */
    uint32_t generation; /* events for an earlier request are void */
    uint32_t shard;      /* number of its server, shard by shard */
    uint32_t below;      /* slot of the call below; in parallel, of the first */
    uint32_t times;      /* calls made over the current edge; in parallel, that
                          * have succeeded */
    uint16_t edge;
    uint8_t state;
    uint8_t answer;      /* its kind */
    bool holds;          /* a worker */
    bool beginning;      /* a call below is being begun */
    bool refused;        /* one was, when it was begun */
};

/* The time that the first attempt of a call will take. */
struct sim_foreseen {
    uint64_t client, call; /* call UINT64_MAX: none */
    int64_t took_ns;
};

enum { SIM_FORESEEN = 64 };

/* Workers with their own queue: one server of a shard. */
struct sim_shard {
    uint32_t limit;   /* of workers, with faults */
    uint32_t busy;
    uint32_t *queue;  /* items; a ring of a power of 2 */
    uint32_t first, n_ring, room;
    uint32_t n_queued; /* those in the ring that are not gone */
    double slow;      /* the factor by which work takes longer */
    double fail;      /* probability of an error */
    double fail_fast; /* ... before any work */
    bool crashed, refuses, cut;
    struct sim_promises places; /* in the queue */
};

/* Calls to another service. */
struct sim_edge {
    struct sim_caller caller;
    struct sim_service *owner;
    struct sim_actor later;
};

struct sim_service {
    /* from the model */
    struct sim_model_service conf;
    uint32_t part;           /* its number among the parts, for its luck */
    const struct sim_fault *faults; /* those of this service */
    uint32_t n_faults;
    const struct sim_sender **fleets; /* by number; for partitions from one */
    struct sim_edge *edges;  /* conf.n_edges of them, initialized */

    /* current state */
    struct sim_target target;
    struct sim_actor arrival, finish, answer, cancel, toggle;
    struct sim_shard *shards; /* the servers of the first, of the second ... */
    uint32_t servers;        /* of each */
    uint32_t n_shards;       /* servers in all */
    struct sim_slab items;
    struct sim_foreseen foreseen[SIM_FORESEEN]; /* by call, modulo */
    bool *active;            /* faults */
    uint32_t *first;         /* server that each fault affects */
    uint32_t n_cut_fleets;   /* partitions from one fleet that are active */
    bool network;            /* messages take time */
    struct sim_promises promises; /* of tokens */
    double tokens;           /* of the rate limit, less those promised ... */
    int64_t tokens_ns;       /* ... then */
    double spare;            /* tokens that were promised, and not claimed */
    struct sim_ledger operations, keys; /* committed */
    double work_ns;          /* mean, of one request */
    double capacity;         /* requests it could have served ... */
    int64_t capacity_ns;     /* ... up to then */
    double capacity_rate;    /* per nanosecond, from then on; or infinite */

    /* statistics */
    uint64_t arrived, waited, refused, throttled, dropped, served, wasted;
    uint64_t errors, broken, lost, unheard, commits, duplicates;
    uint64_t begun; /* taken by a worker, after having been queued ... */
    double queued_ns; /* ... for so long, in all */
    double busy_ns, wasted_ns;
};

/* Unlimited workers and queue, immediate responses. */
#define SIM_SERVICE_INIT                                                       \
    {                                                                          \
        .conf = { .workers = SIM_UNBOUNDED, .shards = 1, .servers = 1,         \
                  .balance = { .ejection = BIDE__EJECTION_INIT },              \
                  .queue = SIM_UNBOUNDED },                                    \
        .part = 1,                                                             \
    }

void sim_service_init(struct sim_service *s, struct sim_world *w);
void sim_service_done(struct sim_service *s);

/* Gauges: over all servers. */
uint64_t sim_service_queued(const struct sim_service *s);
uint64_t sim_service_busy(const struct sim_service *s);
/* For how long the requests that hold a worker now have held it, in all. */
double sim_service_held(const struct sim_service *s, int64_t now);
/* Requests that it could have served so far, not counting times without a
 * limit; and whether there is a limit now. */
double sim_service_capacity(const struct sim_service *s, int64_t now);
bool sim_service_unlimited(const struct sim_service *s);
/* Requests in it, from arrival to the response. */
uint64_t sim_service_left(const struct sim_service *s);

/* ===== internal ===== */

static inline struct sim_item *sim_service_item(const struct sim_service *s,
                                                uint32_t i)
{
    return sim_slab_at(&s->items, i, sizeof(struct sim_item));
}

enum { SIM_ITEM_LINES = sizeof(struct sim_item) / SIM_LINE };

/* Directions of a message, for its luck. */
#define SIM_WAY_BACK (UINT32_C(1) << 31)
#define SIM_CANCELLING (UINT32_C(1) << 30)

static inline uint64_t sim_service_luck(const struct sim_service *s,
                                        const struct sim_world *w,
                                        const struct sim_request *r,
                                        enum sim_luck_use use, uint32_t more)
{
    return sim_luck_word(w->seed, r->client, r->call,
                         sim_luck_what(use, s->part, r->attempt | more));
}

/* Whether it happens to a request, with that probability. */
static inline bool sim_service_befalls(const struct sim_service *s,
                                       const struct sim_world *w,
                                       const struct sim_request *r,
                                       enum sim_luck_use use, double rate)
{
    return rate > 0 &&
           sim_luck_unit(sim_service_luck(s, w, r, use, 0)) < rate;
}

static inline int64_t sim_service_time(const struct sim_service *s,
                                       const struct sim_world *w,
                                       const struct sim_request *r)
{
    if (s->conf.time.kind == SIM_CONSTANT)
        return (int64_t)s->conf.time.at_ns;
    return sim_dist_draw(&s->conf.time,
                         sim_service_luck(s, w, r, SIM_LUCK_SERVICE, 0));
}

static inline int64_t sim_service_hop(const struct sim_service *s,
                                      const struct sim_world *w,
                                      const struct sim_request *r,
                                      uint32_t direction)
{
    if (!s->network)
        return 0;
    return sim_dist_draw(&s->conf.network,
                         sim_service_luck(s, w, r, SIM_LUCK_NETWORK,
                                          direction));
}

/* service_faults.c */
void sim_service_schedule(struct sim_service *s, struct sim_world *w);
bool sim_service_cuts_fleet(const struct sim_service *s,
                            const struct sim_request *r, uint32_t shard);

/* Whether messages between a sender and a shard are lost. */
static inline bool sim_service_cuts(const struct sim_service *s,
                                    const struct sim_request *r,
                                    uint32_t shard)
{
    return s->shards[shard].cut ||
           (s->n_cut_fleets > 0 && sim_service_cuts_fleet(s, r, shard));
}

#endif
