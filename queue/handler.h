/* queue/handler.h: what does the work: a command, an HTTP endpoint, a C function.
 *
 *     static void greet(const struct queue_handler *h, void *slot,
 *                       struct queue_job *job)
 *     {
 *         (void)h, (void)slot;
 *         printf("%s\n", job->message->id);
 *         job->out.cls = BIDE_SUCCESS;
 *     }
 *     static const struct queue_handler_kind kind = { .run = greet };
 *     struct queue_handler h = { .kind = &kind };
 *
 * run() makes one attempt, on a thread of the pool, and blocks until it has ended,
 * also its children. It fills in `out`, `text` and `tail`. It watches the time
 * (timeout_ns) and `stop`, which another thread sets: STOP_ASKED, then STOP_NOW. An
 * attempt that was stopped is IGNORED, and the message is given back. */
#ifndef BIDE_QUEUE_HANDLER_H
#define BIDE_QUEUE_HANDLER_H

#include <stdatomic.h>

#include "base/list.h"
#include "base/queue_pace.h"
#include "bide/call.h"
#include "observe/event/event.h"
#include "queue/message.h"

enum queue_stop { QUEUE_GO_ON, QUEUE_STOP_ASKED, QUEUE_STOP_NOW };

/* One delivery. Threads: owned, first by the worker, then by a thread of the pool,
 * then by the worker again; `stop` and `hold_ns` are shared. */
struct queue_job {
    struct bide__list line;
    struct queue_message *message;
    const char *queue;
    bide_call call;
    bide_op op;
    uint32_t attempt;   /* its number, from 1 */
    uint32_t attempts;  /* that the policy allows */
    int64_t timeout_ns; /* BIDE_FOREVER */
    enum queue_probe probe;
    uint32_t engine_attempt; /* its number in the call */
    struct bide__trace trace; /* its span; not sampled: none. Whoever sets it */
    char traceparent[56];     /* ... writes it here, for the handler; "" */
    bool running;       /* begun: begin_ns and `attempt` are set */
    int64_t begin_ns, end_ns;
    int64_t run_ns;     /* how long run() took, without waiting for a thread */
    atomic_int stop;
    atomic_int_fast64_t hold_ns; /* queue/hold.h; 0: none */
    void *slot;         /* of the thread that runs it; NULL: not yet */

    bide_outcome out;
    char text[QUEUE_ERROR_MAX + 1]; /* "exit 1", "HTTP 503", ... */
    char tail[QUEUE_TAIL_MAX];
    size_t tail_len;
};

struct queue_handler;

struct queue_handler_kind {
    /* What a thread keeps from job to job: a handle of libcurl, say. NULL: no
     * memory. Both may be NULL: nothing. */
    void *(*slot_new)(const struct queue_handler *h);
    void (*slot_free)(void *slot);
    void (*run)(const struct queue_handler *h, void *slot,
                struct queue_job *job);
    /* job->stop has changed: makes run() notice. NULL: it looks itself. */
    void (*wake)(void *slot);
    /* About once a second, on the worker's thread. NULL: nothing. */
    void (*tidy)(void);
};

/* Threads: immutable. The first member of each kind's own. */
struct queue_handler {
    const struct queue_handler_kind *kind;
};

/* Adds output to the tail of a job, of which the last QUEUE_TAIL_MAX stay. */
void queue_job_tail(struct queue_job *job, const void *data, size_t len);

#endif
