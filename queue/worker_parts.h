/* The worker's own state, which worker.c (when) and turn.c (what) share. */
#ifndef BIDE_QUEUE_WORKER_PARTS_H
#define BIDE_QUEUE_WORKER_PARTS_H

#include "queue/ahead.h"
#include "queue/hold.h"
#include "queue/pool.h"
#include "queue/worker.h"

/* Threads: owned, except for what queue_worker_stop() writes. */
struct queue_worker {
    struct queue_worker_conf conf;
    struct queue_pool *pool;
    struct queue_hold *hold;
    struct queue_pace pace;
    bool errors_count;           /* was said, in this pause */
    struct queue_ahead ahead;
    int64_t moved_ns;            /* something has ended, or was started */
    int64_t ended_ns;            /* the first of `ends` */
    unsigned enough;             /* as the pool was told */
    struct queue_stats stats;

    struct queue_job *jobs;      /* conf.at_once + conf.ahead of them */
    struct bide__list unused, taken;
    uint32_t n_taken;            /* wait for a free handler */
    uint32_t n_running;          /* with the pool */
    struct broker_end *ends;     /* to be settled: of `settling`, in order */
    struct queue_job **settling;
    struct queue_verdict *settling_verdicts;
    size_t n_ends;
    struct queue_message **fresh; /* room for a take */
    struct queue_message **held;  /* all that we hold, for beats */

    bool suspects;               /* some wait until we are alone */
    bool alone;                  /* we run one */
    int64_t look_ns;             /* when to look at the broker again */
    int64_t beat_ns, rescue_ns, counts_ns, tidy_ns; /* when next */
    bool away;                   /* the broker did not answer last time */
    int64_t away_wait_ns;
    bool empty;

    int stop_fd;                 /* eventfd */
    int stops;                   /* how often it was told */
    int64_t drain_until_ns;
    bool drained;                /* that was */
    uint64_t dead;
};

/* ===== turn.c ===== */

/* One turn with the broker: settles, beats, rescues and takes. False: it did not
 * answer, nothing has changed, and look_ns says when to try again. */
bool worker_turn(struct queue_worker *w, int64_t now);

/* ===== start.c ===== */

/* Hands what was taken to the pool, as far as the pace and the engine allow. */
void worker_start(struct queue_worker *w, int64_t now);

/* Takes from the pool what has ended, and decides what becomes of it. */
void worker_collect(struct queue_worker *w, int64_t now);

/* How many of those that run count for the pace, and how many more may start. */
uint32_t worker_counted(const struct queue_worker *w);
uint32_t worker_room(struct queue_worker *w, int64_t now);

/* Gives back what no handler has begun; and that, if nothing has ended for a
 * while: it may run elsewhere. */
void worker_give_back(struct queue_worker *w);
void worker_give_back_stale(struct queue_worker *w, int64_t now);

/* How many may be taken before a handler is free. */
static inline uint32_t worker_ahead(const struct queue_worker *w)
{
    return queue_ahead_room(&w->ahead, w->conf.at_once, w->conf.ahead);
}

static inline void worker_tell(const struct queue_worker *w,
                               const struct queue_event *e)
{
    if (w->conf.on_event)
        w->conf.on_event(w->conf.ctx, e);
}

#endif
