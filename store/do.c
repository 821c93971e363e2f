/* Operations by threads that wait for them. */
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "bide/run.h"
#include "run/futex.h"
#include "store/job.h"

const char *bide_store_result_name(bide_store_result result)
{
    static const char *const names[] = {
#define BIDE__X(name, text) [name] = text,
        BIDE_STORE_RESULTS(BIDE__X)
#undef BIDE__X
    };
    size_t i = (size_t)result;
    return i < sizeof names / sizeof names[0] ? names[i] : "?";
}

void bide_store_sha256(uint8_t digest[32], const void *data, size_t len)
{
    struct bide__sha256 sum;
    bide__sha256_init(&sum);
    bide__sha256_add(&sum, data, len);
    bide__sha256_end(&sum, digest);
}

void bide_store_op_done(bide_store_op *op)
{
    if (!op || !op->_answer)
        return;
    free(op->_answer);
    op->_answer = NULL;
    op->data = NULL;
    op->len = 0;
}

/* Waits until the thread has answered, or gives the job up. The lock is taken
 * last in any case: then the thread has no more to do with the operation. */
static void wait_over(bide_store *store, bide_store_op *op, int64_t deadline_ns)
{
    while (!__atomic_load_n(&op->_over, __ATOMIC_ACQUIRE) &&
           bide_now_ns() < deadline_ns)
        bide__futex_wait(&op->_over, 0, deadline_ns);
    pthread_mutex_lock(&store->lock);
    if (!op->_over)
        bide__store_late(store, op->_job, bide_now_ns());
    pthread_mutex_unlock(&store->lock);
}

int bide_store_do(bide_store *store, bide_store_op *op)
{
    struct bide__store_job *job;
    if (!store || !op)
        return BIDE_EINVAL;
    int rc = bide__store_job_new(&job, op);
    bide_store_op_done(op);
    op->result = BIDE_STORE_DOWN;
    if (rc < 0)
        return rc;
    int64_t now_ns = bide_now_ns();
    job->theirs = op;
    op->_over = 0;
    pthread_mutex_lock(&store->lock);
    op->_job = job;
    bide__store_enqueue(store, job, now_ns);
    pthread_mutex_unlock(&store->lock);
    wait_over(store, op, bide__store_after(now_ns, store->conf.timeout_ns));
    return 0;
}

int bide_store_complete(bide_store *store, bide_store_op *op, int32_t status,
                        const void *data, size_t len)
{
    if (!op)
        return BIDE_EINVAL;
    op->verb = BIDE_STORE_COMPLETE;
    op->status = status;
    op->data = data;
    op->len = len;
    return bide_store_do(store, op);
}

int bide_store_release(bide_store *store, bide_store_op *op)
{
    if (!op)
        return BIDE_EINVAL;
    op->verb = BIDE_STORE_RELEASE;
    return bide_store_do(store, op);
}
