/* A batch goes out at once, and is waited for together. */
#include "queue/kafka/send.h"

#include <stdio.h>

#include "bide/run.h"
#include "queue/kafka/record.h"
#include "queue/kafka/topics.h"

void kf_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *arg);

void kf_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *arg)
{
    struct kafka_broker *q = arg;
    struct kf_send *s = m->_private;
    rd_kafka_timestamp_type_t type;
    int64_t ms = rd_kafka_message_timestamp(m, &type);

    (void)rk;
    if (!m->err && type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME && kf_is_time(ms)) {
        q->ahead_ms = ms - bide_now_ns() / KF_MS; /* the broker's own clock */
        q->knows_time = true;
    }
    s->err = m->err;
    s->partition = m->partition;
    s->offset = m->offset;
    s->over = true;
}

static void send_one(struct kafka_broker *q, struct kf_send *s)
{
    char topic[KF_TOPIC_NAME];
    rd_kafka_headers_t *headers = s->headers ? rd_kafka_headers_copy(s->headers)
                                             : rd_kafka_headers_new(1);

    kf_topic(q, s->topic, topic);
    s->over = false;
    s->err = __extension__ rd_kafka_producev(
        q->producer, RD_KAFKA_V_TOPIC(topic),
        RD_KAFKA_V_PARTITION(s->partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(s->key, s->key_len),
        RD_KAFKA_V_VALUE((void *)s->body, s->len),
        RD_KAFKA_V_TIMESTAMP(kf_now_ms(q)), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_OPAQUE(s), RD_KAFKA_V_END);
    if (s->err) {
        rd_kafka_headers_destroy(headers);
        s->over = true;
    }
}

static bool all_over(const struct kf_send *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!list[i].over)
            return false;
    return true;
}

/* A producer that has failed for good is replaced: what it had is lost with it,
 * and reported as such. */
static int renew(struct kafka_broker *q)
{
    char why[200];

    if (rd_kafka_fatal_error(q->producer, why, sizeof why) == 0)
        return 0;
    rd_kafka_destroy(q->producer);
    q->producer = kf_client(q, KF_WRITES);
    return q->producer ? 0 : BROKER_REFUSED;
}

/* Where the broker had a batch already, and no longer knows where, librdkafka counts on
 * from -1: then no offset in that partition can be believed. */
static void doubt_offsets(struct kf_send *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; !list[i].err && list[i].offset < 0 && j < n; j++)
            if (list[j].topic == list[i].topic &&
                list[j].partition == list[i].partition && list[j].offset >= 0)
                list[j].offset = -1;
}

static int send_all(struct kafka_broker *q, struct kf_send *list, size_t n,
                    bool but_large)
{
    int status = 0;

    for (size_t i = 0; i < n; i++)
        send_one(q, &list[i]);
    /* librdkafka itself gives up after message.timeout.ms: we never leave before,
     * since it writes into the list */
    while (!all_over(list, n))
        rd_kafka_poll(q->producer, 100);
    doubt_offsets(list, n);
    for (size_t i = 0; i < n && status == 0; i++)
        if (list[i].err && !(but_large && kf_is_large(&list[i])))
            status = kf_fail(q, list[i].err, "writing");
    if (status != 0) {
        char why[BROKER_ERROR];
        snprintf(why, sizeof why, "%s", q->b.error);
        if (renew(q) == 0)
            snprintf(q->b.error, sizeof q->b.error, "%s", why);
    }
    return status;
}

int kf_send(struct kafka_broker *q, struct kf_send *list, size_t n)
{
    return send_all(q, list, n, false);
}

int kf_send_but_large(struct kafka_broker *q, struct kf_send *list, size_t n)
{
    int status = send_all(q, list, n, true);

    for (size_t i = 0; i < n && n > 1 && status == 0; i++)
        if (kf_is_large(&list[i])) /* several may have been too large together */
            status = send_all(q, &list[i], 1, true);
    return status;
}

int kf_ask_time(struct kafka_broker *q, int32_t partition)
{
    struct kf_send s = { .topic = KF_TOPICS, .partition = partition };
    int status = kf_header_number(&s, "bide-gone", INT64_MAX)
                     ? broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory")
                     : kf_send(q, &s, 1);

    q->knows_time = q->knows_time || status == 0; /* not again, if it does not tell */
    kf_send_done(&s, 1);
    return status;
}

void kf_send_done(struct kf_send *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].headers)
            rd_kafka_headers_destroy(list[i].headers);
}
