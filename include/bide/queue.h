/* bide/queue.h: messages that are kept until they are done (libbide-queue), and
 * a worker that hands them to a function, by a policy.
 *
 *     static bide_outcome greet(void *ctx, const bide_queue_message *m)
 *     {
 *         return fprintf(ctx, "%s\n", m->body) < 0 ? bide_queue_retry()
 *                                                  : bide_queue_done();
 *     }
 *     ...
 *     bide_queue *queue;
 *     bide_queue_worker *worker;
 *     char why[BIDE_QUEUE_WHY];
 *     bide_queue_worker_conf conf = BIDE_QUEUE_WORKER_CONF_INIT;
 *     bide_queue_item hello = { .body = "hello", .len = 5 };
 *     conf.handler = greet;
 *     conf.ctx = stdout;
 *     if (bide_queue_open(&queue, NULL, why) < 0 ||
 *         bide_queue_put(queue, &hello, 1, why) < 0 ||
 *         bide_queue_worker_new(&worker, queue, &conf, why) < 0)
 *         die(why);
 *     bide_queue_worker_run(worker);    // until bide_queue_worker_stop()
 *     bide_queue_worker_free(worker);
 *     bide_queue_close(queue);
 *
 * What `bide enqueue` puts into a queue a worker of this library takes, and the
 * other way round; `bide worker ls`, `show` and `redrive` see both. What
 * happens to a message:
 *
 *   put ---> waits ---> runs ---> done: it is gone
 *              ^          |
 *              +--retry---+---> dead: kept, with the reason
 *
 * A message leaves the queue only when its handler has succeeded, or when it is
 * kept as dead. A handler runs at least once for each message, and twice if the
 * process dies, or the machine, before its success is on disk: `idempotency_key`
 * is the same each time.
 *
 * Errors: a negative BIDE_E..., and `why` then says what was found where, in a
 * line without passwords. BIDE_EINVAL: an argument. BIDE_ENAME: no such broker or
 * queue, or not for us; it stays so until somebody changes something.
 * BIDE_ESTATE: the broker does not answer, has no room, or is damaged; nothing was
 * dropped, and later it may succeed. BIDE_ENOMEM, BIDE_ESIZE. `why` may be NULL
 * everywhere. */
#ifndef BIDE_QUEUE_H
#define BIDE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "dep.h"
#include "error.h"
#include "outcome.h"

BIDE_BEGIN_DECLS

enum {
    BIDE_QUEUE_WHY = 512,          /* bytes of a reason */
    BIDE_QUEUE_ID_MAX = 200,       /* of an id, and of a key */
    BIDE_QUEUE_ATTRIBUTES_MAX = 32 /* of one message */
};

/* ===== opening ===== */

/* A queue, to put messages into and to look at. Calls from several threads wait
 * for each other. Not to be used in the child of a fork(). Threads: shared. */
typedef struct bide_queue bide_queue;

typedef struct bide_queue_conf {
    const char *broker;  /* where it is: "sqlite:FILE", "redis://...",
                            "postgresql://..." and so on; NULL: SQLite in
                            $XDG_STATE_HOME/bide, /var/lib/bide for root */
    const char *name;    /* letters, digits, - _ ., at most 80; "default" */
    bool create;         /* make it, and what keeps its dead, if it is missing;
                            true */
} bide_queue_conf;

#define BIDE_QUEUE_CONF_INIT                                                   \
    {                                                                          \
        NULL, "default", true                                                  \
    }

/* Opens a queue; conf may be NULL. What a server needs, beyond SQLite and Redis,
 * is loaded from a module, which is installed beside `bide`. */
BIDE_API int bide_queue_open_sized(bide_queue **ret,
                                   const bide_queue_conf *conf, size_t size,
                                   char why[BIDE_QUEUE_WHY]);
static inline int bide_queue_open(bide_queue **ret, const bide_queue_conf *conf,
                                  char why[BIDE_QUEUE_WHY])
{
    return bide_queue_open_sized(ret, conf, sizeof *conf, why);
}

/* Closes it. Its workers are freed before. NULL is fine. */
BIDE_API void bide_queue_close(bide_queue *queue);

/* ===== putting ===== */

/* What a handler finds beside the body: two texts. A name has letters, digits,
 * '_', '-' and '.'; both together have at most 4096 bytes. */
typedef struct bide_queue_attribute {
    const char *name, *value;
} bide_queue_attribute;

/* A message to be put. All zero is an empty one. Threads: owned. */
typedef struct bide_queue_item {
    const void *body;
    size_t len;
    const char *id;      /* twice the same is one message; NULL: one is made */
    const char *key;     /* those with the same are handled in order, never two
                            at once; NULL: none */
    int64_t delay_ns;    /* not before this time has passed; >= 0 */
    int32_t priority;    /* -9 .. 9: higher first, but whoever has waited for ten
                            minutes goes next */
    uint32_t n_attributes;
    const bide_queue_attribute *attributes;
    /* Out. */
    bool duplicate;      /* its id was there already: nothing was put */
    char queued_id[BIDE_QUEUE_ID_MAX + 1];
    uint64_t _room[4];
} bide_queue_item;

/* Puts n messages, in their order and in one commit where the broker has such:
 * when it returns 0 they are durable. After an error some of them may be there;
 * with an id of their own they can be put again. A body that is larger than the
 * broker takes is BIDE_EINVAL, and `why` says how large it may be. */
BIDE_API int bide_queue_put(bide_queue *queue, bide_queue_item *items, size_t n,
                            char why[BIDE_QUEUE_WHY]);

/* ===== handling ===== */

/* One delivery of a message. Valid until the handler, or whoever else was given
 * it, returns. Threads: owned. */
typedef struct bide_queue_message {
    const char *id;
    const char *key;        /* "": none */
    const char *queue;      /* the name of its queue */
    const char *idempotency_key; /* made of queue and id: the same on every
                                    delivery, on every worker */
    const char *body;       /* and a zero byte behind it */
    size_t len;
    const bide_queue_attribute *attributes;
    uint32_t n_attributes;
    int32_t priority;
    uint32_t attempt;       /* from 1; those that do not count left out */
    uint32_t attempts;      /* that the policy allows; 0: not known here */
    uint32_t deliveries;    /* how often it was taken, this time included */
    uint32_t deaths;        /* workers that died with it, and only with it */
    int64_t timeout_ns;     /* what the policy allows one attempt; FOREVER */
    int64_t queued_ms;      /* Unix time, by the broker's clock */
    const char *errors;     /* of earlier attempts, a line each; "" */
} bide_queue_message;

/* Handles one message, and returns what came of it: one of the functions below,
 * or any other outcome (of bide_classify(), bide_outcome_errno(), or `last` in
 * the result of another driver). Called on threads of the worker's, at_once of
 * them; never after bide_queue_worker_run() has returned. While it runs the
 * worker sends heartbeats, so it may take hours. A function cannot be stopped:
 * one that takes long asks bide_queue_stopping(). */
typedef bide_outcome (*bide_queue_fn)(void *ctx, const bide_queue_message *m);

/* Done: it leaves the queue. */
static inline bide_outcome bide_queue_done(void)
{
    return BIDE_OUTCOME_SUCCESS;
}

/* Failed: once more, after a wait that the policy draws. */
static inline bide_outcome bide_queue_retry(void)
{
    bide_outcome out = BIDE_OUTCOME_SUCCESS;
    out.cls = BIDE_TRANSIENT;
    return out;
}

/* Failed: once more, and not before this time has passed. */
static inline bide_outcome bide_queue_retry_after(int64_t wait_ns)
{
    bide_outcome out = bide_queue_retry();
    out.hinted = true;
    out.hint_ns = wait_ns;
    return out;
}

/* Failed, and will always fail: it is dead, and kept. */
static inline bide_outcome bide_queue_dead(void)
{
    bide_outcome out = BIDE_OUTCOME_SUCCESS;
    out.cls = BIDE_PERMANENT;
    return out;
}

/* What the handler needs is not there (a database, a server): nothing was done,
 * and the attempt does not count. Consumption pauses, and one message at a time
 * is tried, ever more rarely, until something else is returned. */
static inline bide_outcome bide_queue_away(void)
{
    bide_outcome out = bide_queue_retry();
    out.fault = BIDE_FAULT_CONNECT;
    out.not_processed = true;
    return out;
}

/* Given back, because of bide_queue_stopping(): it does not count, unless it was
 * the time of this attempt that had ended. */
static inline bide_outcome bide_queue_given_back(void)
{
    bide_outcome out = BIDE_OUTCOME_SUCCESS;
    out.cls = BIDE_IGNORED;
    return out;
}

/* Whether the handler should end: the time for draining is over, timeout_ns is,
 * or the message has become somebody else's, or may soon: because this process stood
 * still for longer than its lease, or could not reach the broker. Cheap enough for a
 * loop. */
BIDE_API bool bide_queue_stopping(const bide_queue_message *m);

/* Says why this attempt fails, for the history that is kept with the message; at
 * most 240 bytes of it. */
BIDE_API void bide_queue_error(const bide_queue_message *m, const char *text);

/* Adds to the output of this attempt, of which the last 4 KiB are kept with a
 * message that dies. */
BIDE_API void bide_queue_output(const bide_queue_message *m, const void *data,
                                size_t len);

/* ===== the worker ===== */

/* Takes messages of one queue and hands them to a function. Threads: owned,
 * except for _stop() and _stats_get(), which any thread may call. */
typedef struct bide_queue_worker bide_queue_worker;

/* There may be more of them one day. */
typedef enum bide_queue_happened {
    BIDE_QUEUE_ENDED,       /* an attempt: message, end, counted, ...; or DEAD without
                               one: the limit of attempts was lowered */
    BIDE_QUEUE_LOST,        /* message: its result came too late, and was refused */
    BIDE_QUEUE_PAUSED,      /* consumption: reason, text */
    BIDE_QUEUE_RESUMED,
    BIDE_QUEUE_RESCUED,     /* n messages of a worker that died are free again */
    BIDE_QUEUE_CRASHED,     /* n of them have died of it: dead */
    BIDE_QUEUE_BROKER_AWAY, /* text */
    BIDE_QUEUE_BROKER_BACK,
    BIDE_QUEUE_DRAINING,    /* n handlers are still at work */
    BIDE_QUEUE_ERRORS_COUNT /* paused for 3 h in which all that was tried failed:
                               from now on that counts */
} bide_queue_happened;

typedef enum bide_queue_end {
    BIDE_QUEUE_IS_DONE,
    BIDE_QUEUE_IS_RETRIED,  /* after wait_ns */
    BIDE_QUEUE_IS_DEAD      /* because of `reason` */
} bide_queue_end;

/* What happened, for logs. Valid during the call. Threads: owned. */
typedef struct bide_queue_event {
    bide_queue_happened kind;
    bide_queue_end end;
    const bide_queue_message *message; /* ENDED, LOST; else NULL */
    bool counted;           /* the attempt counts */
    bide_class cls;         /* of its outcome */
    bide_reason reason;     /* of a death, of a pause */
    int64_t wait_ns;
    int64_t took_ns;
    const char *text;       /* "" where there is none */
    uint64_t n;
} bide_queue_event;

typedef struct bide_queue_worker_conf {
    bide_queue_fn handler;  /* required */
    void *ctx;              /* of handler and on_event */
    bide_dep *dep;          /* whose policy it runs by, to be freed after the
                               worker; NULL: one of its own, with the preset
                               `queue`. No hedging */
    uint32_t at_once;       /* handlers at work; 1 .. 1000; 16 */
    bool until_empty;       /* ends when nothing is left in the queue; false */
    int64_t drain_ns;       /* how long what runs may take once it is told to
                               stop; >= 0; 25 s */
    int64_t lease_ns;       /* how long a worker that has gone silent keeps its
                               messages; 3 s .. 1 h; 30 s */

    /* Called on the thread that runs the worker, which waits for it; NULL:
     * nobody is told. */
    void (*on_event)(void *ctx, const bide_queue_event *e);
} bide_queue_worker_conf;

#define BIDE_QUEUE_WORKER_CONF_INIT                                            \
    {                                                                          \
        NULL, NULL, NULL, 16, false, INT64_C(25000000000),                     \
            INT64_C(30000000000), NULL                                         \
    }

/* Creates a worker, with its threads and a connection of its own to the broker:
 * handlers may put messages into `queue`. Nothing is taken yet. BIDE_ESTATE also
 * where the policy and the settings of the queue would lose messages. */
BIDE_API int bide_queue_worker_new_sized(bide_queue_worker **ret,
                                         bide_queue *queue,
                                         const bide_queue_worker_conf *conf,
                                         size_t size, char why[BIDE_QUEUE_WHY]);
static inline int bide_queue_worker_new(bide_queue_worker **ret,
                                        bide_queue *queue,
                                        const bide_queue_worker_conf *conf,
                                        char why[BIDE_QUEUE_WHY])
{
    return bide_queue_worker_new_sized(ret, queue, conf, sizeof *conf, why);
}

/* Works, on this thread and on those of the handlers, until it is told to stop
 * or the queue is empty; what it still holds then has been given back. A broker
 * that goes away is no reason to end: it is asked again, at least every 5 s.
 * Once for each worker: BIDE_ESTATE. BIDE_EINVAL. */
BIDE_API int bide_queue_worker_run(bide_queue_worker *worker);

/* Tells it to drain: nothing more is taken, what runs has drain_ns, and then is
 * asked to stop. Told once more: it is asked at once. From any thread, and from
 * a signal handler. NULL is fine. */
BIDE_API void bide_queue_worker_stop(bide_queue_worker *worker);

/* Frees it. It does not run any more. NULL is fine. */
BIDE_API void bide_queue_worker_free(bide_queue_worker *worker);

/* ===== what can be seen ===== */

typedef struct bide_queue_stats {
    uint64_t done;          /* messages */
    uint64_t retried;       /* attempts that failed and count */
    uint64_t given_back;    /* deliveries that did not count */
    uint64_t dead;          /* messages, for all reasons */
    uint64_t redelivered;   /* taken, and had been taken before */
    uint64_t lost;          /* results that were refused */
    uint64_t rescued;       /* messages of workers that died */
    uint64_t running;       /* handlers, now */
    bool paused;            /* nothing but a probe is taken, ... */
    bide_reason why;        /* ... because of this */
    bool draining;
    int64_t silent_ns;      /* since the broker answered last */
} bide_queue_stats;

/* What a worker has done so far. BIDE_EINVAL. */
BIDE_API int bide_queue_worker_stats_get_sized(const bide_queue_worker *worker,
                                               bide_queue_stats *ret,
                                               size_t size);
static inline int
bide_queue_worker_stats_get(const bide_queue_worker *worker,
                            bide_queue_stats *ret)
{
    return bide_queue_worker_stats_get_sized(worker, ret, sizeof *ret);
}

typedef struct bide_queue_counts {
    uint64_t waiting;       /* could run now */
    uint64_t held;          /* behind another one with the same key */
    uint64_t later;         /* have to wait, for a delay or a retry */
    uint64_t running;
    uint64_t dead;
    int64_t oldest_ns;      /* how long the oldest of waiting and held is due */
    int64_t next_ns;        /* until the first of `later` is; BIDE_FOREVER */
} bide_queue_counts;

/* Counts what is in the queue, of all producers and workers. */
BIDE_API int bide_queue_counts_get_sized(bide_queue *queue,
                                         bide_queue_counts *ret, size_t size,
                                         char why[BIDE_QUEUE_WHY]);
static inline int bide_queue_counts_get(bide_queue *queue,
                                        bide_queue_counts *ret,
                                        char why[BIDE_QUEUE_WHY])
{
    return bide_queue_counts_get_sized(queue, ret, sizeof *ret, why);
}

typedef enum bide_queue_state {
    BIDE_QUEUE_WAITING,
    BIDE_QUEUE_HELD,
    BIDE_QUEUE_LATER,
    BIDE_QUEUE_RUNNING,
    BIDE_QUEUE_DEAD
} bide_queue_state;

/* A message in the queue. Valid during the call. Threads: owned. */
typedef struct bide_queue_row {
    const bide_queue_message *message; /* `attempt` is how many have counted */
    bide_queue_state state;
    const char *reason;     /* of a dead one: "attempts", "permanent", ... */
    const char *cls;        /* "transient", ... */
    int64_t died_ms;        /* Unix time, by the broker's clock */
    const void *output;     /* the last of its handler's */
    size_t output_len;
} bide_queue_row;

/* Which messages. All zero: all that are alive. */
typedef struct bide_queue_filter {
    bool dead;              /* the dead ones instead */
    const char *id;         /* this one; if there is none, those that begin so */
    const char *reason;     /* those that died of it */
    int64_t since_ms;       /* died, or were queued, at or after; 0: always */
    int64_t until_ms;       /* ... and before; 0: until now */
    size_t most;            /* 0: all */
} bide_queue_filter;

/* Calls fn for each, until it returns false. fn must not call this queue. filter
 * may be NULL. */
BIDE_API int bide_queue_look_sized(bide_queue *queue,
                                   const bide_queue_filter *filter, size_t size,
                                   bool (*fn)(void *ctx,
                                              const bide_queue_row *row),
                                   void *ctx, char why[BIDE_QUEUE_WHY]);
static inline int bide_queue_look(bide_queue *queue,
                                  const bide_queue_filter *filter,
                                  bool (*fn)(void *ctx,
                                             const bide_queue_row *row),
                                  void *ctx, char why[BIDE_QUEUE_WHY])
{
    return bide_queue_look_sized(queue, filter, sizeof *filter, fn, ctx, why);
}

BIDE_END_DECLS
#endif
