/* Twins, run once and shared. */
#include "sim/study/twins.h"

#include <pthread.h>
#include <stdlib.h>

#include "sim/model/memory.h"

enum state { NOT_RUN, RUNNING, READY };

struct entry {
    enum state state;
    uint32_t expected; /* runs that will still leave it */
    struct sim_twin *twin;
};

/* Threads: shared; the lock protects the entries. */
struct sim_twins {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    struct entry *entries;
    uint32_t n;
};

struct sim_twins *sim_twins_new(uint32_t n)
{
    struct sim_twins *all = sim_new(1, sizeof *all);

    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->ready, NULL);
    all->entries = sim_new(n, sizeof *all->entries);
    all->n = n;
    return all;
}

void sim_twins_free(struct sim_twins *all)
{
    if (!all)
        return;
    for (uint32_t i = 0; i < all->n; i++)
        sim_twin_free(all->entries[i].twin);
    pthread_cond_destroy(&all->ready);
    pthread_mutex_destroy(&all->lock);
    free(all->entries);
    free(all);
}

void sim_twins_expect(struct sim_twins *all, uint32_t i)
{
    all->entries[i].expected++;
}

const struct sim_twin *sim_twins_get(struct sim_twins *all, uint32_t i,
                                     const struct sim_job *job,
                                     const struct sim_run_conf *run_conf,
                                     bool *ret_mine)
{
    struct entry *e = &all->entries[i];
    struct sim_twin *twin;

    pthread_mutex_lock(&all->lock);
    while (e->state == RUNNING)
        pthread_cond_wait(&all->ready, &all->lock);
    *ret_mine = e->state == NOT_RUN;
    if (*ret_mine) {
        e->state = RUNNING;
        pthread_mutex_unlock(&all->lock);
        twin = sim_twin_run(job->model, job->variant, job->seed, run_conf,
                            job->twin_duration_ns ? job->twin_duration_ns
                                                  : job->model->duration_ns);
        pthread_mutex_lock(&all->lock);
        e->twin = twin;
        e->state = READY;
        pthread_cond_broadcast(&all->ready);
    }
    twin = e->twin;
    pthread_mutex_unlock(&all->lock);
    return twin;
}

void sim_twins_leave(struct sim_twins *all, uint32_t i)
{
    struct entry *e = &all->entries[i];
    struct sim_twin *last = NULL;

    pthread_mutex_lock(&all->lock);
    if (--e->expected == 0) {
        last = e->twin;
        e->twin = NULL;
    }
    pthread_mutex_unlock(&all->lock);
    sim_twin_free(last);
}
