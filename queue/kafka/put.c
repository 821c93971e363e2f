/* Putting: into the queue's topic, or for a delay into a retry topic. */
#include <stdlib.h>
#include <string.h>

#include "queue/kafka/check.h"
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

/* A record is deleted when its topic's retention is over, due or not. Half of that is
 * for whoever comes to handle it, as in what check() asks for. */
static int check_delay(struct kafka_broker *q, int64_t delay_ns)
{
    struct kf_settings s;
    int topic = kf_tier(delay_ns);
    int64_t keeps = q->keeps_ms[topic];
    char name[KF_TOPIC_NAME];

    if (keeps == 0) {
        kf_ask_settings(q, topic, &s);
        keeps = s.known && s.retention_ms > 0 ? s.retention_ms : INT64_MAX;
        q->keeps_ms[topic] = keeps;
    }
    if (delay_ns / KF_MS <= keeps / 2)
        return 0;
    kf_topic(q, topic, name);
    return broker_fail(&q->b, BROKER_REFUSED,
                       "a delay of %lld s: at most half of what %s keeps messages "
                       "for, %lld s (retention.ms)",
                       (long long)(delay_ns / KF_S), name, (long long)keeps / 1000);
}

static int check_delays(struct kafka_broker *q, const struct broker_put *items,
                        size_t n)
{
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++)
        if (items[i].delay_ns > 0)
            status = check_delay(q, items[i].delay_ns);
    return status;
}

/* What the topic does not take is refused with its limit. */
static int refuse_large(struct kafka_broker *q, const struct kf_send *list, size_t n)
{
    struct kf_settings s;
    char name[KF_TOPIC_NAME];
    size_t i = 0;

    while (i < n && !kf_is_large(&list[i]))
        i++;
    if (i == n)
        return 0;
    kf_topic(q, list[i].topic, name);
    kf_ask_settings(q, list[i].topic, &s);
    return s.known ? broker_fail(&q->b, BROKER_REFUSED,
                                 "a message of %zu bytes: %s takes %lld, with what "
                                 "goes along (max.message.bytes)",
                                 list[i].len, name, (long long)s.max_bytes)
                   : kf_fail(q, list[i].err, "writing");
}

int kf_put(struct broker *b, struct broker_put *items, size_t n)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = name_all(b, items, n);

    if (status == 0)
        status = check_delays(q, items, n);
    if (status != 0)
        return status;
    struct kf_send *list = calloc(n + 1, sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        if (describe(&list[i], &items[i]) != 0)
            status = BROKER_NO_MEMORY;
    if (!list || status != 0)
        status = broker_fail(b, BROKER_NO_MEMORY, "out of memory");
    else if ((status = kf_send_but_large(q, list, n)) == 0)
        status = refuse_large(q, list, n);
    for (size_t i = 0; list && i < n && q->lanes; i++)
        if (list[i].over && !list[i].err)
            kf_await(q, list[i].topic, list[i].partition, list[i].offset, INT64_MAX,
                     items[i].delay_ns, 0, list[i].key, list[i].key_len);
    if (list)
        kf_send_done(list, n);
    free(list);
    return status;
}
