/* Finding and making topics. */
#include "queue/kafka/topics.h"

#include <stdio.h>
#include <string.h>

#include "bide/run.h"
#include "queue/missing.h"

enum { DEAD = KF_TOPICS, N_NAMES };

static const struct {
    const char *suffix;
    int64_t up_to_s; /* waits of so many seconds */
} tiers[KF_TIERS] = { { ".retry.10s", 10 },
                      { ".retry.1m", 60 },
                      { ".retry.10m", 600 },
                      { ".retry.1h", 3600 },
                      { ".retry.long", INT64_MAX / KF_S } };

void kf_topic(const struct kafka_broker *q, int topic, char to[KF_TOPIC_NAME])
{
    snprintf(to, KF_TOPIC_NAME, "%s%s", q->b.queue,
             topic == KF_MAIN ? ""
             : topic == DEAD  ? ".dead"
                              : tiers[topic - 1].suffix);
}

int kf_tier(int64_t delay_ns)
{
    int tier = 0;

    while (tier < KF_TIERS - 1 && delay_ns > tiers[tier].up_to_s * KF_S)
        tier++;
    return 1 + tier;
}

/* ===== finding ===== */

/* How many partitions each has; 0: it is not there. */
static int look(struct kafka_broker *q, int32_t counts[N_NAMES], int *ret_brokers)
{
    const struct rd_kafka_metadata *all;
    rd_kafka_resp_err_t err = rd_kafka_metadata(q->producer, 1, NULL, &all,
                                                KF_PATIENCE_MS);

    rd_kafka_poll(q->producer, 0); /* why it failed */
    if (err)
        return kf_fail(q, err, "the list of topics");
    for (int i = 0; i < N_NAMES; i++) {
        char name[KF_TOPIC_NAME];
        kf_topic(q, i, name);
        counts[i] = 0;
        for (int j = 0; j < all->topic_cnt; j++)
            if (strcmp(all->topics[j].topic, name) == 0 && !all->topics[j].err)
                counts[i] = all->topics[j].partition_cnt;
    }
    *ret_brokers = all->broker_cnt;
    rd_kafka_metadata_destroy(all);
    return 0;
}

int kf_queues(struct broker *b, void (*fn)(void *arg, const char *name), void *arg)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    const struct rd_kafka_metadata *all;
    rd_kafka_resp_err_t err = rd_kafka_metadata(q->producer, 1, NULL, &all,
                                                KF_PATIENCE_MS);

    if (err)
        return kf_fail(q, err, "the list of topics");
    for (int i = 0; i < all->topic_cnt; i++) {
        const char *name = all->topics[i].topic;
        if (queue_name_ok(name) && name[0] != '_' && !strstr(name, ".retry.") &&
            !(strlen(name) > 5 && strcmp(name + strlen(name) - 5, ".dead") == 0))
            fn(arg, name);
    }
    rd_kafka_metadata_destroy(all);
    return 0;
}

/* ===== making ===== */

static rd_kafka_NewTopic_t *new_topic(struct kafka_broker *q, int topic,
                                      int32_t partitions, int brokers)
{
    char name[KF_TOPIC_NAME], why[200];
    int copies = q->url.replication ? q->url.replication
                 : brokers >= 3     ? 3
                                    : brokers;

    kf_topic(q, topic, name);
    rd_kafka_NewTopic_t *t = rd_kafka_NewTopic_new(name, partitions, copies, why,
                                                   sizeof why);
    if (!t)
        return NULL;
    /* 14 days are more than a message waits between two attempts; dead letters
     * stay until somebody looks. */
    rd_kafka_NewTopic_set_config(t, "cleanup.policy", "delete");
    rd_kafka_NewTopic_set_config(t, "retention.ms",
                                 topic == DEAD ? "-1" : "1209600000");
    rd_kafka_NewTopic_set_config(t, "retention.bytes", "-1");
    if (topic != KF_MAIN) { /* due times are the broker's */
        rd_kafka_NewTopic_set_config(t, "message.timestamp.type", "LogAppendTime");
        /* what fits into a topic as Kafka comes, and what a copy adds */
        rd_kafka_NewTopic_set_config(t, "max.message.bytes", "1114124");
    }
    if (copies >= 3)
        rd_kafka_NewTopic_set_config(t, "min.insync.replicas", "2");
    return t;
}

/* The result of CreateTopics: `exists` is as good as made. */
static rd_kafka_resp_err_t result_of(rd_kafka_queue_t *queue)
{
    rd_kafka_event_t *e = rd_kafka_queue_poll(queue, 2 * KF_PATIENCE_MS);
    rd_kafka_resp_err_t err = e ? rd_kafka_event_error(e)
                                : RD_KAFKA_RESP_ERR__TIMED_OUT;
    size_t n = 0;

    if (e && !err) {
        const rd_kafka_topic_result_t **r = rd_kafka_CreateTopics_result_topics(
            rd_kafka_event_CreateTopics_result(e), &n);
        for (size_t i = 0; i < n && !err; i++)
            if (rd_kafka_topic_result_error(r[i]) !=
                RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
                err = rd_kafka_topic_result_error(r[i]);
    }
    if (e)
        rd_kafka_event_destroy(e);
    return err;
}

static rd_kafka_resp_err_t make(struct kafka_broker *q, rd_kafka_NewTopic_t **list,
                                size_t n)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(q->producer);

    rd_kafka_CreateTopics(q->producer, list, n, NULL, queue);
    rd_kafka_resp_err_t err = result_of(queue);
    rd_kafka_queue_destroy(queue);
    return err;
}

/* A broker that makes topics when they are asked for. */
static void ask_for(struct kafka_broker *q, int topic)
{
    const struct rd_kafka_metadata *m;
    char name[KF_TOPIC_NAME];

    kf_topic(q, topic, name);
    rd_kafka_topic_t *t = rd_kafka_topic_new(q->producer, name, NULL);
    if (!t)
        return;
    if (rd_kafka_metadata(q->producer, 0, t, &m, KF_PATIENCE_MS) == 0)
        rd_kafka_metadata_destroy(m);
    rd_kafka_topic_destroy(t);
}

static int make_missing(struct kafka_broker *q, const int32_t counts[N_NAMES],
                        int brokers)
{
    rd_kafka_NewTopic_t *list[N_NAMES];
    int32_t partitions = counts[KF_MAIN] ? counts[KF_MAIN] : q->url.partitions;
    size_t n = 0;

    for (int i = 0; i < N_NAMES; i++)
        if (counts[i] == 0 &&
            (list[n] = new_topic(q, i, partitions, brokers)) != NULL)
            n++;
    rd_kafka_resp_err_t err = make(q, list, n);
    rd_kafka_NewTopic_destroy_array(list, n);
    if (err == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE) {
        for (int i = 0; i < N_NAMES; i++)
            if (counts[i] == 0)
                ask_for(q, i);
        err = RD_KAFKA_RESP_ERR_NO_ERROR;
    }
    return err ? kf_fail(q, err, "making its topics") : 0;
}

/* Partition p of a retry topic belongs to partition p of the queue. */
static int compare(struct kafka_broker *q, const int32_t counts[N_NAMES])
{
    for (int i = 1; i < N_NAMES; i++) {
        char name[KF_TOPIC_NAME];
        kf_topic(q, i, name);
        if (counts[i] < counts[KF_MAIN])
            return broker_fail(&q->b, BROKER_REFUSED,
                               "kafka: the topic %s has %d partitions, %s has %d: "
                               "kafka-topics --alter --topic %s --partitions %d",
                               name, counts[i], q->b.queue, counts[KF_MAIN], name,
                               counts[KF_MAIN]);
    }
    return 0;
}

static int settle_on(struct kafka_broker *q, const int32_t counts[N_NAMES])
{
    int status = compare(q, counts);

    if (status == 0)
        q->partitions = counts[KF_MAIN];
    return status;
}

int kf_topics_agree(struct kafka_broker *q)
{
    int32_t counts[N_NAMES];
    int brokers, status = look(q, counts, &brokers);

    return status ? status : compare(q, counts);
}

static bool all_there(const int32_t counts[N_NAMES])
{
    for (int i = 0; i < N_NAMES; i++)
        if (counts[i] == 0)
            return false;
    return true;
}

int kf_topics_ready(struct kafka_broker *q)
{
    int32_t counts[N_NAMES];
    int brokers, status = look(q, counts, &brokers);

    if (status != 0 || all_there(counts))
        return status ? status : settle_on(q, counts);
    if (counts[KF_MAIN] == 0 && !q->create)
        return queue_missing(&q->b, kf_queues, "kafka: there is no topic `%s`",
                             q->b.queue);
    status = make_missing(q, counts, brokers);
    int64_t end = bide_now_ns() + 2 * KF_PATIENCE_MS * KF_MS;
    while (status == 0 && !all_there(counts)) {
        if (bide_now_ns() > end)
            return broker_fail(&q->b, BROKER_REFUSED,
                               "kafka: the topics of `%s` are not there, and the "
                               "broker does not make them",
                               q->b.queue);
        rd_kafka_poll(q->producer, 50);
        status = look(q, counts, &brokers);
    }
    return status ? status : settle_on(q, counts);
}
