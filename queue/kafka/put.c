/* Putting: into the queue's topic, or for a delay into a retry topic. */
#include <stdlib.h>
#include <string.h>

#include "queue/kafka/fetch.h"
#include "queue/kafka/put.h"
#include "queue/kafka/record.h"
#include "queue/kafka/topics.h"
#include "queue/make_id.h"

static int describe(struct kf_send *s, const struct broker_put *p)
{
    int64_t delay_ms = (p->delay_ns + KF_MS - 1) / KF_MS;

    *s = (struct kf_send){ .topic = p->delay_ns > 0 ? kf_tier(p->delay_ns) : KF_MAIN,
                           .partition = RD_KAFKA_PARTITION_UA,
                           .key = p->key,
                           .key_len = p->key ? strlen(p->key) : 0,
                           .body = p->body,
                           .len = p->len };
    for (size_t i = 0; i < p->n_attributes; i++)
        if (kf_header_add(s, p->attributes[i].name, p->attributes[i].value,
                          strlen(p->attributes[i].value)) != 0)
            return -1;
    if (kf_header_add(s, "bide-id", p->made_id, strlen(p->made_id)) != 0 ||
        (delay_ms > 0 && kf_header_number(s, "bide-delay", delay_ms) != 0) ||
        (p->priority && kf_header_number(s, "bide-priority", p->priority) != 0))
        return -1;
    return 0;
}

static int name_all(struct broker *b, struct broker_put *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (items[i].len > b->traits.max_body)
            return broker_fail(b, BROKER_REFUSED,
                               "a message of %zu bytes: at most %zu "
                               "(message.max.bytes, less what a retry adds)",
                               items[i].len, b->traits.max_body);
        items[i].duplicate = false;
        if (items[i].id)
            snprintf(items[i].made_id, sizeof items[i].made_id, "%s", items[i].id);
        else
            queue_make_id(items[i].made_id);
    }
    return 0;
}

int kf_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = name_all(b, items, n);

    if (status != 0)
        return status;
    struct kf_send *list = calloc(n + 1, sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        if (describe(&list[i], &items[i]) != 0)
            status = BROKER_NO_MEMORY;
    if (!list || status != 0)
        status = broker_fail(b, BROKER_NO_MEMORY, "out of memory");
    else
        status = kf_send(q, list, n);
    for (size_t i = 0; list && i < n && q->lanes; i++)
        if (list[i].over && !list[i].err)
            kf_await(q, list[i].topic, list[i].partition, list[i].offset, INT64_MAX,
                     items[i].delay_ns, 0, list[i].key, list[i].key_len);
    if (list)
        kf_send_done(list, n);
    free(list);
    return status;
}
