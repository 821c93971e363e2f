/* The broker's table, from open to close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bide/run.h"
#include "queue/redis/bell.h"
#include "queue/redis/check.h"
#include "queue/redis/deliver.h"
#include "queue/redis/look.h"
#include "queue/redis/put.h"
#include "queue/redis/session.h"
#include "queue/redis/workers.h"
#include "queue/make_id.h"

static void free_broker(struct redis_broker *q)
{
    redis_free(q->redis);
    redis_free(q->bell);
    free(q->hands);
    free(q);
}

static int open_connections(struct redis_broker *q,
                            const struct broker_conf *conf, char *error)
{
    struct redis_url url;
    char why[REDIS_WHY];

    if (redis_url_read(&url, conf->url, why) != 0) {
        snprintf(error, BROKER_ERROR, "%s", why);
        return BROKER_REFUSED;
    }
    q->redis = redis_new(&url);
    q->bell = conf->consume ? redis_new(&url) : NULL;
    if (q->redis && (q->bell || !conf->consume))
        return 0;
    snprintf(error, BROKER_ERROR, "out of memory");
    return BROKER_NO_MEMORY;
}

static int open_queue(struct broker **ret, const struct broker_conf *conf,
                      char *error)
{
    struct redis_broker *q = calloc(1, sizeof *q);
    char id[QUEUE_ID_MAX + 1];

    if (!q) {
        snprintf(error, BROKER_ERROR, "out of memory");
        return BROKER_NO_MEMORY;
    }
    int status = open_connections(q, conf, error);
    if (status != 0) {
        free_broker(q);
        return status;
    }
    q->b.traits = (struct broker_traits){ .max_body = 16 << 20,
                                          .max_delay_ns = INT64_MAX / 4,
                                          .has_priorities = true,
                                          .has_keys = true };
    snprintf(q->b.queue, sizeof q->b.queue, "%s", conf->queue);
    queue_make_id(id);
    snprintf(q->worker, sizeof q->worker, "w%.*s", QUEUE_MADE_ID, id);
    q->lease_us = conf->lease_ns / 1000;
    q->ageing_us = conf->ageing_ns / 1000;
    q->max_deaths = conf->max_deaths;
    q->create = conf->create;
    q->consume = conf->consume;
    q->ahead_ms = -bide_now_ns() / 1000000;
    status = rq_ready(q);
    if (status != 0) {
        memcpy(error, q->b.error, BROKER_ERROR);
        free_broker(q);
        return status;
    }
    q->doubt = false;
    *ret = &q->b;
    return 0;
}

static void close_queue(struct broker *b)
{
    struct redis_broker *q = (struct redis_broker *)b;

    if (q->consume)
        rq_leave(q);
    free_broker(q);
}

const struct broker_kind broker_redis = {
    .name = "redis",
    .schemes = { "rediss", "redis+unix", "unix" },
    .open = open_queue,
    .close = close_queue,
    .put = rq_put,
    .take = rq_take,
    .beat = rq_beat,
    .settle = rq_settle,
    .rescue = rq_rescue,
    .begin = rq_group_begin,
    .commit = rq_group_commit,
    .wait_fd = rq_wait_fd,
    .woken = rq_woken,
    .counts = rq_counts,
    .each = rq_each,
    .redrive = rq_redrive,
    .check = rq_check,
    .queues = rq_queues,
};
