/* The broker's table, from open to close. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/make_id.h"
#include "queue/rabbitmq/bell.h"
#include "queue/rabbitmq/check.h"
#include "queue/rabbitmq/deliver.h"
#include "queue/rabbitmq/hand.h"
#include "queue/rabbitmq/look.h"
#include "queue/rabbitmq/put.h"
#include "queue/rabbitmq/rescue.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/track.h"

static void free_broker(struct rmq *q)
{
    wire_drop(&q->wire);
    free(q->wire.in);
    free(q->wire.marks);
    hand_drop_all(q);
    tracks_forget(q);
    free(q->hand);
    free(q->seen);
    for (size_t i = 0; i < sizeof q->settled / sizeof q->settled[0]; i++)
        free(q->settled[i].line);
    free(q);
}

static void set_up(struct rmq *q, const struct broker_conf *conf)
{
    char id[QUEUE_ID_MAX + 1];

    q->b.traits = (struct broker_traits){
        .max_body = 16 << 20,
        .max_delay_ns = ((INT64_C(1) << LEVELS) - 1) * RMQ_TENTH,
        .has_priorities = true,
        .has_keys = true,
        .keys_stay = true,
        .forgets_ids = true,
        .retries_apart = true,
    };
    snprintf(q->b.queue, sizeof q->b.queue, "%s", conf->queue);
    queue_make_id(id);
    snprintf(q->worker, sizeof q->worker, "w%.*s", QUEUE_MADE_ID, id);
    while (getrandom(&q->last_token, sizeof q->last_token, 0) < 0)
        ;
    q->last_token >>= 2; /* it counts from there, and fits into a header */
    q->lease_ns = conf->lease_ns;
    q->ageing_ns = conf->ageing_ns;
    q->max_deaths = conf->max_deaths;
    q->create = conf->create;
    q->consume = conf->consume;
    q->slot = q->flow = -1;
    q->due_ns = BIDE_FOREVER;
    for (int i = 0; i < LANES; i++)
        q->served_ns[i] = bide_now_ns();
}

static int open_queue(struct broker **ret, const struct broker_conf *conf, char *error)
{
    struct rmq *q = calloc(1, sizeof *q);

    if (!q) {
        snprintf(error, BROKER_ERROR, "out of memory");
        return BROKER_NO_MEMORY;
    }
    if (rmq_url_read(&q->url, conf->url, error) != 0) {
        free_broker(q);
        return BROKER_REFUSED;
    }
    set_up(q, conf);
    int status = rmq_ready(q);
    if (status != 0) {
        memcpy(error, q->b.error, BROKER_ERROR);
        free_broker(q);
        return status;
    }
    *ret = &q->b;
    return 0;
}

/* With an empty list nobody is to blame for what the server takes back. */
static void close_queue(struct broker *b)
{
    struct rmq *q = (struct rmq *)b;

    if (q->wire.c && q->consume && q->slot >= 0 && q->known == q->wire.number) {
        char name[RMQ_NAME];
        amqp_queue_purge_t m = { .queue = wire_bytes(place_list(q, q->slot, name)) };
        int status = tracks_end(q);
        wire_begin(&q->wire);
        if (status == 0 &&
            wire_send(&q->wire, WIRE_WORK, AMQP_QUEUE_PURGE_METHOD, &m, true) == 0)
            (void)wire_wait(&q->wire);
    }
    wire_leave(&q->wire);
    free_broker(q);
}

__attribute__((visibility("default"))) const struct broker_kind broker_rabbitmq = {
    .name = "amqp",
    .schemes = { "amqps" },
    .open = open_queue,
    .close = close_queue,
    .put = rmq_put,
    .take = rmq_take,
    .beat = rmq_beat,
    .settle = rmq_settle,
    .rescue = rmq_rescue,
    .begin = rmq_begin,
    .commit = rmq_commit,
    .wait_fd = rmq_wait_fd,
    .woken = rmq_woken,
    .counts = rmq_counts,
    .each = rmq_each,
    .redrive = rmq_redrive,
    .check = rmq_check,
};
