/* Jobs: copied from an operation, answered, given up, owed. */
#include "store/job.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "run/futex.h"

enum { MOST_TEXT = 1024, MOST_ROOM = 255 };

/* ===== making ===== */

static bool short_enough(const char *text, size_t most)
{
    return text && strnlen(text, most + 1) <= most;
}

static bool valid(const bide_store_op *op)
{
    return op->verb <= BIDE_STORE_LOOK_UP && !op->_job &&
           short_enough(op->scope, MOST_TEXT) &&
           short_enough(op->owner, MOST_TEXT) &&
           short_enough(op->key, MOST_TEXT) && op->key[0] &&
           short_enough(op->room, MOST_ROOM) && op->lease_ns > 0 &&
           op->keep_ns > 0 &&
           (op->verb != BIDE_STORE_COMPLETE || op->data || op->len == 0);
}

/* Copies n bytes and a NUL to *at, and moves it on. */
static char *put(char **at, const void *from, size_t n)
{
    char *to = *at;
    if (n > 0)
        memcpy(to, from, n);
    to[n] = '\0';
    *at += n + 1;
    return to;
}

/* Tokens are positive also as signed numbers, for databases. */
static int draw_token(uint64_t *ret)
{
    do {
        if (getrandom(ret, sizeof *ret, 0) != (ssize_t)sizeof *ret)
            return BIDE_EENTROPY;
        *ret &= INT64_MAX;
    } while (*ret == 0);
    return 0;
}

int bide__store_job_new(struct bide__store_job **ret, const bide_store_op *op)
{
    uint64_t token = op->token;
    if (!valid(op))
        return BIDE_EINVAL;
    if (op->verb == BIDE_STORE_CLAIM && draw_token(&token) < 0)
        return BIDE_EENTROPY;
    size_t len = op->verb == BIDE_STORE_COMPLETE && !op->too_large ? op->len : 0;
    size_t scope = strlen(op->scope), owner = strlen(op->owner),
           key = strlen(op->key), room = strlen(op->room);
    struct bide__store_job *job =
        malloc(sizeof *job + scope + owner + key + room + len + 5);
    if (!job)
        return BIDE_ENOMEM;
    char *at = (char *)(job + 1);
    *job = (struct bide__store_job){ .op = *op, .bytes = len };
    job->op.scope = put(&at, op->scope, scope);
    job->op.owner = put(&at, op->owner, owner);
    job->op.key = put(&at, op->key, key);
    job->op.room = put(&at, op->room, room);
    job->op.data = put(&at, op->data, len);
    job->op.len = len;
    job->op.token = token;
    job->op._answer = NULL;
    *ret = job;
    return 0;
}

void bide__store_job_free(struct bide__store_job *job)
{
    free(job->op._answer);
    free(job);
}

/* ===== answering ===== */

static void wake_port(bide_store_port *port)
{
    if (!port->signalled) {
        port->signalled = true;
        eventfd_write(port->event_fd, 1);
    }
}

void bide__store_answer(struct bide__store_job *job, bide_store_result result)
{
    bide_store_op *to = job->theirs;
    if (!to)
        return;
    bool answered = result == BIDE_STORE_DONE;
    job->theirs = NULL;
    to->result = result;
    to->token = result == BIDE_STORE_FIRST ? job->op.token : to->token;
    to->left_ns = job->op.left_ns;
    to->age_ns = job->op.age_ns;
    to->_job = NULL;
    if (answered || result == BIDE_STORE_TOO_LARGE)
        to->status = job->op.status;
    if (answered) {
        to->_answer = job->op._answer;
        to->data = job->op.data;
        to->len = job->op.len;
        job->op._answer = NULL;
    }
    if (!job->port) {
        __atomic_store_n(&to->_over, 1, __ATOMIC_RELEASE);
        bide__futex_wake_all(&to->_over);
        return;
    }
    bide__list_remove(&job->pending);
    to->_next = NULL;
    *job->port->done_end = to;
    job->port->done_end = &to->_next;
    wake_port(job->port);
}

/* ===== giving up ===== */

static bool must_be_written(bide_store_verb verb)
{
    return verb == BIDE_STORE_COMPLETE || verb == BIDE_STORE_RELEASE;
}

void bide__store_owe(bide_store *store, struct bide__store_job *job,
                     int64_t now_ns)
{
    bide_store_op *op = &job->op;
    if (op->verb == BIDE_STORE_CLAIM)
        op->verb = BIDE_STORE_RELEASE;
    if (!must_be_written(op->verb)) {
        bide__store_job_free(job);
        return;
    }
    if (store->n_owed >= BIDE__STORE_OWED ||
        store->owed_bytes + job->bytes > BIDE__STORE_OWED_BYTES) {
        store->stats.dropped++;
        bide__store_job_free(job);
        return;
    }
    job->taken = false;
    job->deadline_ns = bide__store_after(now_ns, op->keep_ns);
    bide__list_append(&store->owed, &job->line);
    store->n_owed++;
    store->owed_bytes += job->bytes;
    pthread_cond_signal(&store->work);
}

void bide__store_give_up(bide_store *store, struct bide__store_job *job,
                         int64_t now_ns)
{
    if (job->port)
        bide__list_remove(&job->pending);
    job->theirs->_job = NULL;
    job->theirs = NULL;
    job->port = NULL;
    if (job->taken)
        return; /* the thread will see that nobody waits */
    bide__list_remove(&job->line);
    store->n_queue--;
    if (must_be_written(job->op.verb))
        bide__store_owe(store, job, now_ns);
    else
        bide__store_job_free(job);
}

void bide__store_late(bide_store *store, struct bide__store_job *job,
                      int64_t now_ns)
{
    bide_store_op *op = job->theirs;
    bide_store_port *port = job->port;
    bide__store_give_up(store, job, now_ns);
    op->result = BIDE_STORE_DOWN;
    store->stats.down++;
    if (port) {
        op->_next = NULL;
        *port->done_end = op;
        port->done_end = &op->_next;
    }
    char why[64];
    snprintf(why, sizeof why, "%s: no answer within %lld ms", store->kind->name,
             (long long)(store->conf.timeout_ns / BIDE_MILLISECOND));
    bide__store_set_down(store, why);
}

/* ===== beginning ===== */

void bide__store_enqueue(bide_store *store, struct bide__store_job *job,
                         int64_t now_ns)
{
    job->deadline_ns = bide__store_after(now_ns, store->conf.timeout_ns);
    if (!store->down && store->n_queue < BIDE__STORE_QUEUE) {
        bide__list_append(&store->queue, &job->line);
        if (store->n_queue++ == 0)
            pthread_cond_signal(&store->work);
        return;
    }
    store->stats.down++;
    bide__store_answer(job, BIDE_STORE_DOWN);
    if (must_be_written(job->op.verb))
        bide__store_owe(store, job, now_ns);
    else
        bide__store_job_free(job);
}

/* ===== down and up ===== */

static void tell_down(bide_store *store, const char *why)
{
    snprintf(store->why, sizeof store->why, "%s", why);
    if (store->conf.on_change)
        store->conf.on_change(store->conf.ctx, false, store->why);
}

void bide__store_set_down(bide_store *store, const char *why)
{
    if (store->down)
        return;
    store->down = true;
    store->failed[0] = '\0';
    tell_down(store, why);
}

void bide__store_still_down(bide_store *store, const char *why)
{
    bool twice = strcmp(store->failed, why) == 0;
    snprintf(store->failed, sizeof store->failed, "%s", why);
    if (twice && strcmp(store->why, why) != 0)
        tell_down(store, why);
}

void bide__store_set_up(bide_store *store, int64_t now_ns)
{
    if (!store->down)
        return;
    store->down = false;
    store->up_ns = now_ns;
    if (store->conf.on_change)
        store->conf.on_change(store->conf.ctx, true, NULL);
}
