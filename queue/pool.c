/* Threads that run handlers, and the two lists between them and the worker. */
#include "queue/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bide/run.h"
#include "queue/hold.h"

struct queue_pool {
    const struct queue_handler *handler;
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct bide__list todo, ended;
    unsigned n_ended, enough; /* as many make the descriptor readable */
    bool over;
    bool signalled; /* the descriptor is readable */
    int fd;
    unsigned idle;  /* threads that wait */
    bool waking;    /* one of them was signalled, and is on its way */
    unsigned n;
    pthread_t threads[];
};

void queue_job_tail(struct queue_job *job, const void *data, size_t len)
{
    const char *from = data;
    size_t keep;

    if (len > sizeof job->tail) {
        from += len - sizeof job->tail;
        len = sizeof job->tail;
    }
    keep = job->tail_len + len > sizeof job->tail ? sizeof job->tail - len
                                                  : job->tail_len;
    memmove(job->tail, job->tail + job->tail_len - keep, keep);
    memcpy(job->tail + keep, from, len);
    job->tail_len = keep + len;
}

static struct queue_job *first(struct bide__list *list)
{
    struct queue_job *job =
        bide__container_of(list->next, struct queue_job, line);

    bide__list_remove(&job->line);
    return job;
}

/* With the lock. The worker reads the descriptor once for all that ended. */
static void signal_ended(struct queue_pool *p)
{
    const uint64_t one = 1;

    if (!p->signalled && p->n_ended > 0 && p->n_ended >= p->enough) {
        p->signalled = true;
        (void)!write(p->fd, &one, sizeof one);
    }
}

static void hand_back(struct queue_pool *p, struct queue_job *job)
{
    job->slot = NULL;
    bide__list_append(&p->ended, &job->line);
    p->n_ended++;
    signal_ended(p);
}

/* With the lock. One thread at a time is woken, and wakes the next if there is more to
 * do when it comes: handlers of microseconds are done by then, and waking all of them
 * would cost more than the work. */
static void wake(struct queue_pool *p)
{
    if (p->waking || p->idle == 0 || bide__list_empty(&p->todo))
        return;
    p->waking = true;
    pthread_cond_signal(&p->work);
}

/* One that was stopped before a thread was free for it has not begun. */
static bool is_stopped(struct queue_job *job)
{
    if (atomic_load(&job->stop) == QUEUE_GO_ON && !queue_hold_over(job))
        return false;
    job->out = (bide_outcome){ .cls = BIDE_IGNORED };
    memcpy(job->text, "stopped", sizeof "stopped");
    return true;
}

static void *work(void *arg)
{
    struct queue_pool *p = arg;
    const struct queue_handler_kind *kind = p->handler->kind;
    void *slot = kind->slot_new ? kind->slot_new(p->handler) : p;
    int64_t began = 0; /* 0: read the clock; else the job before has ended then */

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (bide__list_empty(&p->todo) && !p->over) {
            p->idle++;
            pthread_cond_wait(&p->work, &p->lock);
            p->idle--;
            p->waking = false;
            began = 0;
        }
        if (bide__list_empty(&p->todo))
            break;
        struct queue_job *job = first(&p->todo);
        job->slot = slot;
        wake(p);
        pthread_mutex_unlock(&p->lock);
        if (!began)
            began = bide_now_ns();
        if (is_stopped(job)) {
            ;
        } else if (slot) {
            kind->run(p->handler, slot, job);
        } else {
            job->out = (bide_outcome){ .cls = BIDE_TRANSIENT,
                                       .fault = BIDE_FAULT_LOCAL,
                                       .not_processed = true };
            memcpy(job->text, "out of memory", sizeof "out of memory");
        }
        job->end_ns = bide_now_ns();
        job->run_ns = job->end_ns - began;
        began = job->end_ns;
        pthread_mutex_lock(&p->lock);
        hand_back(p, job);
    }
    pthread_mutex_unlock(&p->lock);
    if (slot && kind->slot_free)
        kind->slot_free(slot);
    return NULL;
}

struct queue_pool *queue_pool_new(const struct queue_handler *handler,
                                  unsigned threads)
{
    struct queue_pool *p =
        calloc(1, sizeof *p + threads * sizeof p->threads[0]);

    if (!p)
        return NULL;
    p->handler = handler;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    bide__list_init(&p->todo);
    bide__list_init(&p->ended);
    p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    while (p->fd >= 0 && p->n < threads &&
           pthread_create(&p->threads[p->n], NULL, work, p) == 0)
        p->n++;
    if (p->n == threads)
        return p;
    queue_pool_free(p);
    return NULL;
}

void queue_pool_free(struct queue_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->n; i++)
        pthread_join(p->threads[i], NULL);
    if (p->fd >= 0)
        close(p->fd);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    free(p);
}

void queue_pool_give(struct queue_pool *p, struct bide__list *jobs)
{
    pthread_mutex_lock(&p->lock);
    while (!bide__list_empty(jobs))
        bide__list_append(&p->todo, &first(jobs)->line);
    wake(p);
    pthread_mutex_unlock(&p->lock);
}

void queue_pool_recall(struct queue_pool *p, struct bide__list *to)
{
    pthread_mutex_lock(&p->lock);
    while (!bide__list_empty(&p->todo))
        bide__list_append(to, &first(&p->todo)->line);
    pthread_mutex_unlock(&p->lock);
}

void queue_pool_reap(struct queue_pool *p, struct bide__list *to)
{
    uint64_t n;

    pthread_mutex_lock(&p->lock);
    if (p->signalled)
        (void)!read(p->fd, &n, sizeof n);
    p->signalled = false;
    while (!bide__list_empty(&p->ended))
        bide__list_append(to, &first(&p->ended)->line);
    p->n_ended = 0;
    pthread_mutex_unlock(&p->lock);
}

void queue_pool_enough(struct queue_pool *p, unsigned n)
{
    pthread_mutex_lock(&p->lock);
    p->enough = n;
    signal_ended(p);
    pthread_mutex_unlock(&p->lock);
}

void queue_pool_stop(struct queue_pool *p, struct queue_job *job,
                     enum queue_stop how)
{
    pthread_mutex_lock(&p->lock);
    if (atomic_load(&job->stop) < (int)how) {
        atomic_store(&job->stop, how);
        if (job->slot && p->handler->kind->wake)
            p->handler->kind->wake(job->slot);
    }
    pthread_mutex_unlock(&p->lock);
}

int queue_pool_fd(const struct queue_pool *p)
{
    return p->fd;
}
