/* The broker's table, from open to close. This is the module: whoever names a
 * queue in PostgreSQL loads it, and libpq with it (queue/broker_open.c). */
#include <stdlib.h>
#include <string.h>

#include "queue/postgresql/check.h"
#include "queue/postgresql/deliver.h"
#include "queue/postgresql/look.h"
#include "queue/postgresql/put.h"
#include "queue/postgresql/session.h"
#include "queue/postgresql/workers.h"

#define MS INT64_C(1000000)

/* What the database's owner may have set otherwise: that a commit is on the disk
 * before it is confirmed; that time is spent in our statements by indexes only,
 * also while statistics still say that the table is empty; and that a statement is
 * planned once: that takes longer than to run it. */
static const char session_sql[] =
    "SET synchronous_commit = on; SET default_transaction_isolation = 'read "
    "committed'; SET client_encoding = 'UTF8'; SET search_path = pg_catalog; SET "
    "statement_timeout = 0; SET lock_timeout = 0; SET "
    "idle_in_transaction_session_timeout = '60s'; SET enable_seqscan = off; SET "
    "enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = "
    "off; SET enable_sort = off; SET jit = off; SET plan_cache_mode = "
    "force_generic_plan";

static void free_broker(struct pg_broker *q)
{
    pg_free(q->pg);
    pg_args_done(&q->args);
    hands_done(&q->hands);
    hands_done(&q->taken);
    hands_done(&q->settled);
    free(q);
}

static int open_queue(struct broker **ret, const struct broker_conf *conf,
                      char *error)
{
    struct pg_broker *q = calloc(1, sizeof *q);

    if (q)
        q->pg = pg_new(conf->url, session_sql);
    if (!q || !q->pg) {
        free(q);
        snprintf(error, BROKER_ERROR, "out of memory");
        return BROKER_NO_MEMORY;
    }
    q->b.traits = (struct broker_traits){ .max_body = 64 << 20,
                                          .max_delay_ns = INT64_MAX / 4,
                                          .has_priorities = true,
                                          .has_keys = true };
    snprintf(q->b.queue, sizeof q->b.queue, "%s", conf->queue);
    q->lease_us = conf->lease_ns / 1000;
    q->ageing_us = conf->ageing_ns / 1000;
    q->max_deaths = conf->max_deaths;
    q->create = conf->create;
    q->consume = conf->consume;
    int status = pgq_ready(q);
    if (status != 0) {
        memcpy(error, q->b.error, BROKER_ERROR);
        free_broker(q);
        return status;
    }
    *ret = &q->b;
    return 0;
}

static void close_queue(struct broker *b)
{
    struct pg_broker *q = (struct pg_broker *)b;

    pgq_leave(q);
    free_broker(q);
}

/* A notification may have come with the answer to another statement: then the
 * socket says nothing, and whoever asks looks at once, this one time. */
static int wait_fd(struct broker *b, int64_t *ret_poll_ns)
{
    struct pg_broker *q = (struct pg_broker *)b;
    bool rang = pg_is_connected(q->pg) && pg_notified(q->pg);

    *ret_poll_ns = rang ? 0 : 1000 * MS;
    return pg_fd(q->pg);
}

static void woken(struct broker *b)
{
    struct pg_broker *q = (struct pg_broker *)b;

    if (pg_is_connected(q->pg))
        (void)pg_notified(q->pg);
}

__attribute__((visibility("default")))
const struct broker_kind broker_postgresql = {
    .name = "postgresql",
    .schemes = { "postgres" },
    .open = open_queue,
    .close = close_queue,
    .put = pgq_put,
    .take = pgq_take,
    .beat = pgq_beat,
    .settle = pgq_settle,
    .rescue = pgq_rescue,
    .begin = pgq_begin,
    .commit = pgq_commit,
    .wait_fd = wait_fd,
    .woken = woken,
    .counts = pgq_counts,
    .each = pgq_each,
    .redrive = pgq_redrive,
    .check = pgq_check,
    .queues = pgq_queues,
};
