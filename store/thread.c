/* The store's thread: batches, knocking while it is down, sweeping. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "bide/backoff.h"
#include "bide/policy.h"
#include "bide/run.h"
#include "store/job.h"

enum { SWEEP_MOST = 200 };
#define SWEEP_ACTIVE BIDE_SECOND       /* between sweeps */
#define SWEEP_IDLE (10 * BIDE_SECOND)
#define SWEEP_BEHIND (20 * BIDE_MILLISECOND)
/* A store that answers and then fails again, as on a full disk, is knocked at less
 * and less often; only one that was up for so long begins anew. */
#define STEADY (10 * BIDE_SECOND)

/* What one commit does. */
struct batch {
    struct bide__store_job *jobs[BIDE__STORE_BATCH];
    bide_store_op *ops[BIDE__STORE_BATCH];
    size_t n;
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ===== taking ===== */

static void take(struct batch *batch, struct bide__store_job *job)
{
    bide__list_remove(&job->line);
    job->taken = true;
    batch->jobs[batch->n] = job;
    batch->ops[batch->n++] = &job->op;
}

static void take_owed(bide_store *store, struct batch *batch, int64_t now_ns)
{
    while (!bide__list_empty(&store->owed) && batch->n < BIDE__STORE_BATCH) {
        struct bide__store_job *job = bide__container_of(
            store->owed.next, struct bide__store_job, line);
        store->n_owed--;
        store->owed_bytes -= job->bytes;
        if (job->deadline_ns > now_ns) {
            take(batch, job);
            continue;
        }
        bide__list_remove(&job->line);
        store->stats.dropped++;
        bide__store_job_free(job);
    }
}

static void take_queue(bide_store *store, struct batch *batch)
{
    while (store->n_queue > 0 && batch->n < BIDE__STORE_BATCH) {
        store->n_queue--;
        take(batch, bide__container_of(store->queue.next,
                                       struct bide__store_job, line));
    }
}

/* ===== settling ===== */

/* Back to owed; its deadline stays what it was. */
static void owe_again(bide_store *store, struct bide__store_job *job)
{
    job->taken = false;
    bide__list_append(&store->owed, &job->line);
    store->n_owed++;
    store->owed_bytes += job->bytes;
}

/* All but those that found no room, which are put into `full`. */
static void settle(bide_store *store, struct batch *batch, struct batch *full,
                   int64_t now_ns)
{
    store->stats.operations += batch->n;
    store->stats.commits += batch->n > 0;
    for (size_t i = 0; i < batch->n; i++) {
        struct bide__store_job *job = batch->jobs[i];
        if (!job->theirs && job->op.verb == BIDE_STORE_CLAIM &&
            job->op.result == BIDE_STORE_FIRST) {
            bide__store_owe(store, job, now_ns);
            continue;
        }
        if (job->op.result == BIDE_STORE_FULL) {
            full->jobs[full->n++] = job;
            continue;
        }
        bide__store_answer(job, job->op.result);
        bide__store_job_free(job);
    }
}

static void settle_failed(bide_store *store, struct batch *batch, size_t owed,
                          int64_t now_ns)
{
    for (size_t i = 0; i < batch->n; i++) {
        struct bide__store_job *job = batch->jobs[i];
        if (i < owed) {
            owe_again(store, job);
            continue;
        }
        store->stats.down += job->theirs != NULL;
        free(job->op._answer);
        job->op._answer = NULL;
        bide__store_answer(job, BIDE_STORE_DOWN);
        bide__store_owe(store, job, now_ns);
    }
}

/* Whoever still waits in the queue need not wait until his time is over. */
static void refuse_queue(bide_store *store, int64_t now_ns)
{
    while (store->n_queue > 0) {
        struct bide__store_job *job = bide__container_of(
            store->queue.next, struct bide__store_job, line);
        bide__list_remove(&job->line);
        store->n_queue--;
        store->stats.down++;
        bide__store_answer(job, BIDE_STORE_DOWN);
        if (job->op.verb == BIDE_STORE_CLAIM)
            bide__store_job_free(job); /* nobody has seen it */
        else
            bide__store_owe(store, job, now_ns);
    }
}

/* A server may say anything, and this reaches a log, or a terminal. */
static void failed(bide_store *store, char *why, int64_t now_ns)
{
    static const bide_backoff backoff = {
        .base_ns = 50 * BIDE_MILLISECOND,
        .cap_ns = 2 * BIDE_SECOND,
        .factor = 2,
        .jitter = BIDE_JITTER_EQUAL,
    };
    bide__make_safe(why);
    if (!store->down && now_ns - store->up_ns >= STEADY)
        store->failures = 0;
    if (store->down)
        bide__store_still_down(store, why);
    else
        bide__store_set_down(store, why);
    refuse_queue(store, now_ns);
    bide_rng rng = bide_rng_seed(&store->seeded, store->seeded.counter);
    store->previous_wait_ns = bide_backoff_wait(
        &backoff, store->failures++, store->previous_wait_ns, &rng);
    store->knock_ns = now_ns + store->previous_wait_ns;
}

/* ===== sweeping ===== */

/* Removes some of what has expired, and counts. Whether there was any. */
static bool sweep(bide_store *store)
{
    struct bide__store_count count = { 0 };
    char why[256] = "it has failed";
    pthread_mutex_unlock(&store->lock);
    int n = store->kind->sweep(store->self, SWEEP_MOST, why, sizeof why);
    int rc = n < 0 ? n
                   : store->kind->count(store->self, &count, why, sizeof why);
    int64_t now_ns = bide_now_ns();
    pthread_mutex_lock(&store->lock);
    store->sweep_ns = now_ns + (n == SWEEP_MOST ? SWEEP_BEHIND
                                : store->active ? SWEEP_ACTIVE
                                                : SWEEP_IDLE);
    store->active = n > 0;
    if (rc < 0) {
        failed(store, why, now_ns);
        return false;
    }
    store->stats.swept += (uint64_t)n;
    store->stats.records = count.records;
    store->stats.bytes = count.bytes;
    store->stats.oldest_ns = count.oldest_ns;
    return n > 0;
}

/* What was refused for want of room. What has expired takes none: if there was
 * any, it is asked again, once. */
static void settle_full(bide_store *store, struct batch *full)
{
    bool more = full->n > 0 && sweep(store);
    for (size_t i = 0; i < full->n; i++) {
        struct bide__store_job *job = full->jobs[i];
        if (more && job->theirs && !job->again) {
            job->again = true;
            job->taken = false;
            bide__list_append(&store->queue, &job->line);
            store->n_queue++;
            continue;
        }
        bide__store_answer(job, BIDE_STORE_FULL);
        bide__store_job_free(job);
    }
}

/* ===== the loop ===== */

/* One commit: what is owed, and what came meanwhile; while it is down, an empty
 * one at least. The lock is given back while the kind works. */
static void commit(bide_store *store, int64_t now_ns)
{
    struct batch batch = { .n = 0 }, full = { .n = 0 };
    char why[256] = "it has failed";
    take_owed(store, &batch, now_ns);
    size_t owed = batch.n;
    take_queue(store, &batch);
    if (batch.n == 0 && !store->down)
        return;
    if (!store->active) /* the next sweep is near again */
        store->sweep_ns = earlier(store->sweep_ns, now_ns + SWEEP_ACTIVE);
    store->active = true;
    pthread_mutex_unlock(&store->lock);
    int rc = store->kind->run(store->self, batch.ops, batch.n, why, sizeof why);
    now_ns = bide_now_ns();
    pthread_mutex_lock(&store->lock);
    if (rc < 0) {
        settle_failed(store, &batch, owed, now_ns);
        failed(store, why, now_ns);
        return;
    }
    bide__store_set_up(store, now_ns);
    settle(store, &batch, &full, now_ns);
    settle_full(store, &full);
}

static bool has_work(const bide_store *store)
{
    return !store->down && (store->n_queue > 0 || store->n_owed > 0);
}

/* Sleeps until there is something to do. */
static void rest(bide_store *store)
{
    for (;;) {
        int64_t until = store->down ? store->knock_ns : store->sweep_ns;
        int64_t now_ns = bide_now_ns();
        if (store->ending || has_work(store) || until <= now_ns)
            return;
        until = earlier(until, now_ns + SWEEP_IDLE);
        struct timespec at = { .tv_sec = (time_t)(until / BIDE_SECOND),
                               .tv_nsec = (long)(until % BIDE_SECOND) };
        pthread_cond_timedwait(&store->work, &store->lock, &at);
    }
}

/* One more try for what is still to be written. */
static void finish(bide_store *store)
{
    while (store->n_owed + store->n_queue > 0) {
        size_t before = store->n_owed + store->n_queue;
        commit(store, bide_now_ns());
        if (store->down || store->n_owed + store->n_queue >= before)
            break;
    }
    store->stats.dropped += store->n_owed;
}

void *bide__store_main(void *arg)
{
    bide_store *store = arg;
    pthread_mutex_lock(&store->lock);
    while (!store->ending) {
        rest(store);
        int64_t now_ns = bide_now_ns();
        if (has_work(store) || store->down)
            commit(store, now_ns);
        if (!store->down && !store->ending && store->sweep_ns <= now_ns)
            sweep(store);
    }
    finish(store);
    store->ended = true;
    bool orphan = store->orphan;
    pthread_cond_broadcast(&store->work);
    pthread_mutex_unlock(&store->lock);
    if (orphan)
        bide__store_free(store);
    return NULL;
}
