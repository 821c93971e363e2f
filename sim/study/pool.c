/* Runs jobs on several threads, which take job after job from one counter.
 * Apart from that they share only the progress, under a lock that each takes a
 * few times a second. */
#define _POSIX_C_SOURCE 200809L
#include "sim/study/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/model/memory.h"

enum { MOST_THREADS = 256 };

/* Threads: shared. */
struct crew {
    const struct sim_pool *pool;
    atomic_uint next; /* the next job to begin */
    atomic_bool stopped;
    pthread_mutex_t lock; /* protects what follows */
    double done;          /* jobs, with fractions for unfinished ones */
    uint64_t events;
};

/* One thread and its current job. Threads: owned, except `crew`. */
struct hand {
    struct crew *crew;
    double part;     /* of the job, as last reported */
    uint64_t events; /* of the job, likewise */
};

/* ===== progress ===== */

static bool tell(struct hand *h, double part, uint64_t events)
{
    struct crew *c = h->crew;
    const struct sim_run_conf *run_conf = &c->pool->run_conf;

    pthread_mutex_lock(&c->lock);
    c->done += part - h->part;
    c->events += events - h->events;
    h->part = part;
    h->events = events;
    if (run_conf->progress && !atomic_load(&c->stopped) &&
        !run_conf->progress(run_conf->self, c->done / c->pool->n_jobs, c->events))
        atomic_store(&c->stopped, true);
    pthread_mutex_unlock(&c->lock);
    return !atomic_load(&c->stopped);
}

static bool hear(void *self, double part, uint64_t events)
{
    return tell(self, part, events);
}

/* ===== work ===== */

static void *work(void *self)
{
    struct crew *c = self;
    struct hand hand = { .crew = c };
    struct sim_run_conf run_conf = c->pool->run_conf;

    run_conf.self = &hand;
    run_conf.progress = hear;
    while (!atomic_load(&c->stopped)) {
        uint32_t n = atomic_fetch_add(&c->next, 1);
        struct sim_job job = { .variant = SIM_NONE };

        if (n >= c->pool->n_jobs)
            break;
        c->pool->job(c->pool->self, n, &job);
        run_conf.samples = job.samples;
        struct sim_result *r =
            sim_run(job.model, job.variant, job.seed, &run_conf);
        tell(&hand, 1, r->events);
        hand.part = 0;
        hand.events = 0;
        c->pool->take(c->pool->self, n, r);
    }
    return NULL;
}

static uint32_t threads_for(const struct sim_pool *pool)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n =
        pool->threads ? pool->threads : (uint32_t)(cores > 0 ? cores : 1);

    if (n > MOST_THREADS)
        n = MOST_THREADS;
    return n < pool->n_jobs ? n : pool->n_jobs;
}

bool sim_pool_run(const struct sim_pool *pool, uint64_t *ret_events)
{
    struct crew c = { .pool = pool };
    uint32_t n = threads_for(pool), started = 0;
    pthread_t *threads = sim_new(n, sizeof *threads);

    pthread_mutex_init(&c.lock, NULL);
    /* This thread is one of them: the work gets done even if no other thread
     * can be started. */
    while (started + 1 < n &&
           pthread_create(&threads[started], NULL, work, &c) == 0)
        started++;
    work(&c);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&c.lock);
    free(threads);
    if (ret_events)
        *ret_events = c.events;
    return !atomic_load(&c.stopped);
}
