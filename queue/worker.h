/* queue/worker.h: takes messages from a broker, hands them to a handler, and tells the
 * broker what became of them.
 *
 *     struct queue_worker_conf conf = QUEUE_WORKER_CONF_INIT;
 *     conf.broker = broker;
 *     conf.dep = dep;                     // its policy: preset `queue`
 *     conf.handler = &command.handler;
 *     conf.at_once = 4;
 *     struct queue_worker *w = queue_worker_new(&conf);
 *     int dead = queue_worker_run(w);     // until it is told to stop
 *     queue_worker_free(w);
 *
 * One thread, the caller's, talks to the broker, in turns: everything that has ended
 * is settled, what is due is taken, and both are one commit. So a turn costs the same
 * for one message and for a hundred, and while it writes, handlers run.
 *
 *   take -> the engine: TRY -> a thread of the pool -> outcome -> the engine
 *    ^                                                             |
 *    '---- settle: done, again after the engine's wait, dead <-----'
 *
 * base/queue_verdict.h turns what the engine says into an end; base/queue_pace.h
 * decides how many may run. */
#ifndef BIDE_QUEUE_WORKER_H
#define BIDE_QUEUE_WORKER_H

#include <stdatomic.h>

#include "base/queue_pace.h"
#include "base/queue_verdict.h"
#include "bide/dep.h"
#include "queue/broker.h"
#include "queue/handler.h"

enum queue_event_kind {
    QUEUE_ENDED,        /* an attempt: `job`, `verdict`. Or a death without one:
                           then the job is not `running` */
    QUEUE_LOST,         /* `job`: somebody else has the message */
    QUEUE_CONSUMPTION_PAUSED,  /* `text` says why */
    QUEUE_CONSUMPTION_RESUMED,
    QUEUE_RESCUED,      /* `n` messages of a dead worker */
    QUEUE_CRASHED,      /* `n` of those are dead letters now */
    QUEUE_BROKER_AWAY,  /* `text` */
    QUEUE_BROKER_BACK,
    QUEUE_DRAINING,     /* `n` are still running */
    QUEUE_ERRORS_COUNT  /* so long a pause: probes are attempts from now on */
};

/* Threads: owned; valid during the call. */
struct queue_event {
    enum queue_event_kind kind;
    const struct queue_job *job;
    const struct queue_verdict *verdict;
    const char *text;
    size_t n;
};

/* What has happened so far. Written by the worker, read by anybody. */
struct queue_stats {
    atomic_uint_fast64_t done, retries, redelivered, lost, rescued, given_back;
    atomic_uint_fast64_t dead[BIDE_N_REASONS]; /* by reason */
    atomic_uint_fast64_t crashed;
    atomic_uint_fast64_t running;
    atomic_int state;            /* enum queue_pace_state */
    atomic_int why;              /* enum bide_reason, while paused */
    atomic_int_fast64_t paused_ns;  /* since when, while paused */
    atomic_int_fast64_t contact_ns; /* the broker answered last */
    atomic_int away;                /* it has failed since */
    atomic_int draining;
};

struct queue_worker_conf {
    struct broker *broker;
    bide_dep *dep;
    const struct queue_handler *handler;
    uint32_t at_once;     /* handlers */
    uint32_t ahead;       /* taken before a handler is free, at most */
    bool deep;            /* those wait in the pool's own line, for handlers of
                             microseconds: its threads need not wait for a turn
                             with the broker */
    int64_t drain_ns;     /* for what runs when it is told to stop */
    int64_t beat_ns;
    bool until_empty;     /* ends when nothing is left */
    int signal_fd;        /* a signalfd: the first drains, the second stops; -1 */
    const bide_rng *rng;  /* for probes */
    void (*on_event)(void *ctx, const struct queue_event *e);
    /* An attempt is about to begin: may set job->trace. NULL: nobody asks. */
    void (*on_start)(void *ctx, struct queue_job *job);
    void *ctx;
    /* Called about once a second with fresh counts; NULL: none are asked for. */
    void (*on_counts)(void *ctx, const struct broker_counts *counts);
};

#define QUEUE_WORKER_CONF_INIT                                                 \
    {                                                                          \
        .at_once = 1, .drain_ns = INT64_C(25000000000),                        \
        .beat_ns = INT64_C(10000000000), .signal_fd = -1                       \
    }

struct queue_worker;

/* NULL: no memory, or no threads. The conf is copied; what it points to must
 * outlive the worker. */
struct queue_worker *queue_worker_new(const struct queue_worker_conf *conf);

/* Runs until it is told to stop, or until the queue is empty. Whatever it still
 * holds then has been given back. Returns how many messages died. */
uint64_t queue_worker_run(struct queue_worker *w);

/* Tells it to drain; a second time, to stop at once. From any thread, also from a
 * signal handler. */
void queue_worker_stop(struct queue_worker *w);

const struct queue_stats *queue_worker_stats(const struct queue_worker *w);
void queue_worker_free(struct queue_worker *w);

#endif
