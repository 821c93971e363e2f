/* A queue of messages, and the workers that hand them to a service.
 *
 *     struct sim_queue queue = { .conf = *conf, .caller = &caller };
 *     sim_queue_init(&queue, world);
 *     caller.queue = &queue;         // its calls are messages from now on
 *
 *   put -> WAITING -> a place of a worker: one attempt -> done, or dead
 *             ^                                        |
 *             '---- again, after the engine's wait ----'
 *
 * A message is a call that is in progress from when it is put until it is done or
 * dead; each attempt is a call of the engine's of its own, as in the worker
 * (queue/start.c). When a worker pauses, and what becomes of a message, is decided
 * by the same code: base/queue_pace.h, base/queue_verdict.h. The broker is perfect,
 * and takes no time. Threads: owned. */
#ifndef BIDE_SIM_WORLD_QUEUE_H
#define BIDE_SIM_WORLD_QUEUE_H

#include "base/queue_pace.h"
#include "sim/world/caller.h"

/* What is known of the message in a slot of the caller. */
struct sim_message {
    int64_t due_ns;          /* waiting: since, or from then on */
    int64_t wait_ns;         /* the backoff before; 0: it has not failed */
    int64_t begun_ns;        /* its attempt that runs */
    uint32_t attempts;       /* that counted */
    uint32_t deliveries;
    uint32_t engine_attempt;
    enum queue_probe probe;
};

/* Messages that wait, by when they are due: a heap. */
struct sim_due {
    int64_t at_ns;
    uint64_t order;
    uint32_t slot;
};
struct sim_line {
    struct sim_due *list;
    uint32_t n, room;
};

struct sim_queue_worker {
    struct queue_pace pace;
    uint32_t *running; /* slots; conf.at_once of them */
    uint32_t n_running;
    int64_t paused_ns; /* since; -1: it is not */
};

/* After the warm-up. */
struct sim_queue_totals {
    uint64_t pauses;
    uint64_t probes;       /* attempts of workers that paused */
    int64_t paused_ns;     /* of all workers, in all */
    uint64_t most;         /* messages in it */
    uint32_t most_attempts; /* the highest number that any attempt had */
    int64_t oldest_ns;     /* the longest that one waited that was due */
    uint64_t firsts;       /* first attempts, that had waited ... */
    double first_wait_ns;  /* ... so long in all */
    double retry_wait;     /* the longest wait for a retry, by its backoff */
    uint64_t dead;         /* that died ... */
    double dead_ns;        /* ... so long after they were put, in all */
};

struct sim_queue {
    /* from the model */
    struct sim_model_queue conf;
    struct sim_caller *caller;

    /* current state */
    struct sim_message *messages; /* by slot */
    uint32_t n_messages;
    struct sim_line fresh, retries; /* as in brokers: attempts are 0, or not */
    uint64_t order;
    struct sim_queue_worker *workers;
    uint32_t turn;     /* whose turn is first */
    struct sim_actor wake;
    int64_t wake_ns;   /* an event is set for then; -1: none */
    struct sim_luck luck; /* of the message that the engine is asked about */
    bide_rng rng;

    /* statistics */
    struct sim_queue_totals total;
};

void sim_queue_init(struct sim_queue *q, struct sim_world *w);
void sim_queue_done(struct sim_queue *q);

/* The end of the warm-up: forgets what was counted. */
void sim_queue_restart(struct sim_queue *q, int64_t now);
/* What was counted, up to now. */
struct sim_queue_totals sim_queue_totals(const struct sim_queue *q, int64_t now);

/* How many are due, and wait for a worker. */
uint64_t sim_queue_due(const struct sim_queue *q, int64_t now);
/* How long the oldest of those has waited that are due; 0: none is. */
int64_t sim_queue_oldest(const struct sim_queue *q, int64_t now);
/* The share of workers that pause. */
double sim_queue_paused(const struct sim_queue *q);

/* For the caller: the call in a slot is a new message; whether its next attempt
 * fails whatever the service does; its attempt has ended. */
void sim_queue_put(struct sim_queue *q, struct sim_world *w, uint32_t slot);
bool sim_queue_fails(const struct sim_queue *q, uint32_t slot);
void sim_queue_ended(struct sim_queue *q, struct sim_world *w, uint32_t slot,
                     const bide_outcome *out);

#endif
