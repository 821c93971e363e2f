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
#include "sim/study/twins.h"

enum { MOST_THREADS = 256 };

/* Threads: shared. */
struct crew {
    const struct sim_pool *pool;
    struct sim_twins *twins; /* or NULL */
    atomic_uint next; /* the next job to begin */
    atomic_bool stopped;
    pthread_mutex_t lock; /* protects what follows */
    double done;          /* jobs, with fractions for unfinished ones */
    uint64_t events;
};

/* One thread and its current job. Threads: owned, except `crew`. */
struct hand {
    struct crew *crew;
    double from, size; /* what runs now, as a part of the job */
    double part;     /* of the job, as last reported */
    uint64_t events; /* of the job, likewise ... */
    uint64_t before; /* ... of which, before what runs now */
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
    struct hand *h = self;

    return tell(h, h->from + part * h->size, h->before + events);
}

/* ===== work ===== */

static bool has_twin(const struct crew *c, const struct sim_job *job)
{
    return c->twins && job->model->n_faults > 0 &&
           !sim_is_overloaded(job->model);
}

/* The twin first, as half of the job: a run that is cut short has none. */
static struct sim_result *do_job(struct hand *h, const struct sim_job *job,
                                 const struct sim_run_conf *run_conf)
{
    struct crew *c = h->crew;
    const struct sim_twin *twin = NULL;
    bool compared = has_twin(c, job), mine = false;
    struct sim_result *r;

    h->before = 0;
    h->from = 0;
    h->size = compared ? 0.5 : 1;
    if (compared)
        twin = sim_twins_get(c->twins, job->twin, job, run_conf, &mine);
    h->before = twin && mine ? twin->events : h->events;
    h->from = compared ? 0.5 : 0;
    r = sim_run(job->model, job->variant, job->seed, run_conf);
    if (c->twins && (twin || !compared))
        sim_recovery_judge(r, twin);
    if (compared)
        sim_twins_leave(c->twins, job->twin);
    return r;
}

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
        struct sim_result *r = do_job(&hand, &job, &run_conf);
        tell(&hand, 1, hand.before + r->events);
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

/* How many runs need each twin. */
static void expect_twins(struct crew *c)
{
    if (c->pool->n_twins == 0)
        return;
    c->twins = sim_twins_new(c->pool->n_twins);
    for (uint32_t n = 0; n < c->pool->n_jobs; n++) {
        struct sim_job job = { .variant = SIM_NONE };
        c->pool->job(c->pool->self, n, &job);
        if (has_twin(c, &job))
            sim_twins_expect(c->twins, job.twin);
    }
}

bool sim_pool_run(const struct sim_pool *pool, uint64_t *ret_events)
{
    struct crew c = { .pool = pool };
    uint32_t n = threads_for(pool), started = 0;
    pthread_t *threads = sim_new(n, sizeof *threads);

    pthread_mutex_init(&c.lock, NULL);
    expect_twins(&c);
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
    sim_twins_free(c.twins);
    if (ret_events)
        *ret_events = c.events;
    return !atomic_load(&c.stopped);
}
