/* Putting: a batch is published at once, and confirmed together. */
#include "queue/rabbitmq/put.h"

#include <stdio.h>
#include <stdlib.h>

#include "queue/make_id.h"
#include "queue/rabbitmq/session.h"
#include "queue/rabbitmq/track.h"

static int name_all(struct broker *b, struct broker_put *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t size = copy_attributes_size(items[i].attributes, items[i].n_attributes);
        if (items[i].len > b->traits.max_body)
            return broker_fail(b, BROKER_REFUSED,
                               "a message of %zu bytes: at most %zu", items[i].len,
                               b->traits.max_body);
        if (size > COPY_HEADERS_MAX)
            return broker_fail(b, BROKER_REFUSED,
                               "attributes of %zu bytes: at most %d", size,
                               COPY_HEADERS_MAX);
        if (items[i].id)
            snprintf(items[i].made_id, sizeof items[i].made_id, "%s", items[i].id);
        else
            queue_make_id(items[i].made_id);
    }
    return 0;
}

static struct copy copy_for(const struct broker_put *p, int64_t now_ms)
{
    return (struct copy){ .id = p->made_id,
                      .key = p->key,
                      .priority = p->priority,
                      .body = p->body,
                      .len = p->len,
                      .attributes = p->attributes,
                      .n_attributes = p->n_attributes,
                      .queued_ms = now_ms,
                      .due_ms = now_ms + p->delay_ns / 1000000 };
}

static bool has_keys(const struct broker_put *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].key && *items[i].key)
            return true;
    return false;
}

/* One with a key takes its place in the order, and waits there for its alarm. */
static int set_alarms(struct rmq *q, const struct broker_put *items, size_t n,
                      uint64_t *waits, int64_t now_ms)
{
    bool any = false;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++)
        if (items[i].key && *items[i].key && items[i].delay_ns > 0) {
            struct copy c = copy_for(&items[i], now_ms);
            status = track_alarm(q, &c, items[i].delay_ns, &waits[i]);
            any = true;
        }
    return status == 0 && any ? wire_wait(&q->wire) : status;
}

static int put_one(struct rmq *q, const struct broker_put *p, uint64_t wait,
                   int64_t now_ms)
{
    struct copy c = copy_for(p, now_ms);
    int lane = place_of(q, &c);

    c.wait = wait;

    q->asked_ns[lane] = 0; /* it is not empty */
    q->tracks_asked |= lane >= LANE_KEY;
    return place_publish(q, &c, lane, lane >= LANE_KEY ? 0 : p->delay_ns);
}

int rmq_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct rmq *q = (struct rmq *)b;
    int64_t now_ms = rmq_now_ms();
    int status = name_all(b, items, n);

    if (status == 0)
        status = rmq_ready(q);
    if (status != 0)
        return status;
    uint64_t *waits = calloc(n + 1, sizeof *waits);
    if (!waits)
        return rmq_no_memory(q);
    if (has_keys(items, n))
        status = place_make_tracks(q);
    wire_begin(&q->wire);
    if (status == 0)
        status = set_alarms(q, items, n, waits, now_ms);
    for (size_t i = 0; i < n && status == 0; i++) {
        items[i].duplicate = false;
        status = put_one(q, &items[i], waits[i], now_ms);
    }
    free(waits);
    if (status == 0)
        status = wire_wait(&q->wire);
    return rmq_tell(q, status);
}
