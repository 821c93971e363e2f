/* The thread that ends handlers whose message may be somebody else's soon. */
#include "queue/hold.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "bide/policy.h"
#include "queue/hold_clock.h"

struct queue_hold {
    struct queue_pool *pool;
    struct queue_job *jobs;
    size_t n;
    int64_t grace_ns;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over, any; /* any: one of the jobs has such a time */
};

bool queue_hold_over(const struct queue_job *job)
{
    int64_t until = atomic_load(&job->hold_ns);

    return until && hold_clock_ns() >= until;
}

/* *ret_wait: until it has to be done again. */
static bool stop_those_due(struct queue_hold *h, int64_t *ret_wait)
{
    int64_t now = hold_clock_ns(), next = now + BIDE_SECOND;
    bool any = false;

    for (size_t i = 0; i < h->n; i++) {
        int64_t until = atomic_load(&h->jobs[i].hold_ns);
        if (!until)
            continue;
        any = true;
        int64_t asked = until - h->grace_ns, at = now < asked ? asked : until;
        if (now >= asked)
            queue_pool_stop(h->pool, &h->jobs[i],
                            now >= until ? QUEUE_STOP_NOW : QUEUE_STOP_ASKED);
        if (at > now && at < next)
            next = at;
    }
    *ret_wait = next - now;
    return any;
}

static void wait_for(struct queue_hold *h, int64_t wait_ns)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    wait_ns += at.tv_nsec;
    at.tv_sec += wait_ns / BIDE_SECOND;
    at.tv_nsec = wait_ns % BIDE_SECOND;
    pthread_cond_timedwait(&h->changed, &h->lock, &at);
}

static void *watch(void *arg)
{
    struct queue_hold *h = arg;
    int64_t wait_ns;

    pthread_mutex_lock(&h->lock);
    while (!h->over) {
        h->any = stop_those_due(h, &wait_ns);
        if (h->any)
            wait_for(h, wait_ns);
        else
            pthread_cond_wait(&h->changed, &h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

struct queue_hold *queue_hold_new(struct queue_pool *pool,
                                  struct queue_job *jobs, size_t n,
                                  int64_t grace_ns)
{
    struct queue_hold *h = calloc(1, sizeof *h);
    pthread_condattr_t attr;

    if (!h)
        return NULL;
    h->pool = pool;
    h->jobs = jobs;
    h->n = n;
    h->grace_ns = grace_ns;
    pthread_mutex_init(&h->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&h->thread, NULL, watch, h) == 0)
        return h;
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
    return NULL;
}

void queue_hold_free(struct queue_hold *h)
{
    if (!h)
        return;
    pthread_mutex_lock(&h->lock);
    h->over = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* The thread looks once a second while there is something; it need not be told of later
 * times. */
void queue_hold_set(struct queue_hold *h, struct queue_job *job,
                    int64_t until_ns)
{
    atomic_store(&job->hold_ns, until_ns);
    if (!until_ns)
        return;
    pthread_mutex_lock(&h->lock);
    if (!h->any) {
        h->any = true;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->lock);
}
