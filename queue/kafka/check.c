/* Asking for the settings of topics and of our own client. */
#include "queue/kafka/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/kafka/look.h"
#include "queue/kafka/topics.h"

enum { N_NAMES = KF_TOPICS + 1 };

static const char *value_of(const rd_kafka_ConfigResource_t *r, const char *name)
{
    size_t n;
    const rd_kafka_ConfigEntry_t **list = rd_kafka_ConfigResource_configs(r, &n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(rd_kafka_ConfigEntry_name(list[i]), name) == 0 &&
            rd_kafka_ConfigEntry_value(list[i]))
            return rd_kafka_ConfigEntry_value(list[i]);
    return "";
}

static void read_settings(struct kf_settings *s, const rd_kafka_ConfigResource_t *r)
{
    s->known = rd_kafka_ConfigResource_error(r) == 0;
    if (!s->known)
        return;
    s->retention_ms = strtoll(value_of(r, "retention.ms"), NULL, 10);
    s->retention_bytes = strtoll(value_of(r, "retention.bytes"), NULL, 10);
    s->compacts = strstr(value_of(r, "cleanup.policy"), "compact") != NULL;
    s->log_append_time =
        strcmp(value_of(r, "message.timestamp.type"), "LogAppendTime") == 0;
    s->min_insync = strtoll(value_of(r, "min.insync.replicas"), NULL, 10);
    s->max_bytes = strtoll(value_of(r, "max.message.bytes"), NULL, 10);
}

static void read_broker(void *arg, const rd_kafka_ConfigResource_t *r)
{
    struct kf_broker_settings *s = arg;

    s->known = rd_kafka_ConfigResource_error(r) == 0;
    s->makes_topics =
        strcmp(value_of(r, "auto.create.topics.enable"), "true") == 0;
    s->offsets_kept_ms =
        strtoll(value_of(r, "offsets.retention.minutes"), NULL, 10) * 60000;
    s->metadata_max = strtoll(value_of(r, "offset.metadata.max.bytes"), NULL, 10);
}

/* Asks, and calls fn with each answer. A broker that does not answer such questions
 * leaves them unknown. */
static void ask(struct kafka_broker *q, rd_kafka_ConfigResource_t **list, size_t n,
                void (*fn)(void *arg, const rd_kafka_ConfigResource_t *r), void *arg)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(q->producer);
    size_t got = 0;

    rd_kafka_DescribeConfigs(q->producer, list, n, NULL, queue);
    rd_kafka_event_t *e = rd_kafka_queue_poll(queue, 2 * KF_PATIENCE_MS);
    if (e && rd_kafka_event_error(e) == 0) {
        const rd_kafka_ConfigResource_t **found =
            rd_kafka_DescribeConfigs_result_resources(
                rd_kafka_event_DescribeConfigs_result(e), &got);
        for (size_t i = 0; i < got; i++)
            fn(arg, found[i]);
    }
    if (e)
        rd_kafka_event_destroy(e);
    rd_kafka_ConfigResource_destroy_array(list, n);
    rd_kafka_queue_destroy(queue);
}

static void read_topic(void *arg, const rd_kafka_ConfigResource_t *r)
{
    struct kf_settings *list = arg;

    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(rd_kafka_ConfigResource_name(r), list[i].name) == 0)
            read_settings(&list[i], r);
}

static void describe(struct kafka_broker *q, struct kf_settings list[N_NAMES])
{
    rd_kafka_ConfigResource_t *names[N_NAMES];

    for (int i = 0; i < N_NAMES; i++)
        names[i] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC,
                                               list[i].name);
    ask(q, names, N_NAMES, read_topic, list);
    for (int i = 0; i < N_NAMES; i++)
        list[i].queue_max_bytes = list[KF_MAIN].max_bytes;
}

static void read_one(void *arg, const rd_kafka_ConfigResource_t *r)
{
    read_settings(arg, r);
}

void kf_ask_settings(struct kafka_broker *q, int topic, struct kf_settings *ret)
{
    char name[KF_TOPIC_NAME];

    kf_topic(q, topic, name);
    rd_kafka_ConfigResource_t *one =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
    *ret = (struct kf_settings){ .known = false };
    ask(q, &one, 1, read_one, ret);
}

static void describe_broker(struct kafka_broker *q, int32_t id,
                            struct kf_broker_settings *to)
{
    char name[16];

    snprintf(name, sizeof name, "%d", (int)id);
    rd_kafka_ConfigResource_t *one =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, name);
    ask(q, &one, 1, read_broker, to);
}

/* And tells one of the brokers there are. */
static int count_replicas(struct kafka_broker *q, struct kf_settings list[N_NAMES],
                          int32_t *ret_broker)
{
    const struct rd_kafka_metadata *all;
    rd_kafka_resp_err_t err = rd_kafka_metadata(q->producer, 1, NULL, &all,
                                                KF_PATIENCE_MS);

    if (err)
        return kf_fail(q, err, "the list of topics");
    for (int i = 0; i < all->topic_cnt; i++)
        for (int j = 0; j < N_NAMES; j++) {
            const struct rd_kafka_metadata_topic *t = &all->topics[i];
            list[j].brokers = all->broker_cnt;
            if (strcmp(t->topic, list[j].name) == 0 && t->partition_cnt > 0)
                list[j].replicas = t->partitions[0].replica_cnt;
        }
    *ret_broker = all->broker_cnt > 0 ? all->brokers[0].id : -1;
    rd_kafka_metadata_destroy(all);
    return 0;
}

static const char *client_value(rd_kafka_t *rk, const char *name, char to[64])
{
    size_t size = 64;

    if (rd_kafka_conf_get(rd_kafka_conf(rk), name, to, &size) != RD_KAFKA_CONF_OK)
        to[0] = '\0';
    return to;
}

static void check_client(struct kafka_broker *q, const struct broker_plan *plan,
                         broker_finding *fn, void *arg)
{
    char text[64];
    struct kf_client_settings s = { .partitions = q->partitions };

    s.max_poll_ms = atoll(client_value(q->reader, "max.poll.interval.ms", text));
    s.session_ms = atoll(client_value(q->reader, "session.timeout.ms", text));
    s.idempotent = strcmp(client_value(q->producer, "enable.idempotence", text),
                          "true") == 0;
    const char *acks = client_value(q->producer, "request.required.acks", text);
    s.acks_all = !*acks || strcmp(acks, "-1") == 0 || strcmp(acks, "all") == 0;
    kf_compare_client(&s, plan, fn, arg);
}

int kf_check(struct broker *b, const struct broker_plan *plan, broker_finding *fn,
             void *arg)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    struct kf_settings list[N_NAMES];
    struct kf_broker_settings broker = { .known = false };
    char names[N_NAMES][KF_TOPIC_NAME];
    int32_t id = -1;
    int status = kf_ready(q);

    for (int i = 0; i < N_NAMES; i++) {
        kf_topic(q, i, names[i]);
        list[i] = (struct kf_settings){ .name = names[i],
                                        .main = i == KF_MAIN,
                                        .dead = i == KF_TOPICS };
    }
    if (status == 0)
        status = kf_reader(q);
    if (status == 0)
        status = count_replicas(q, list, &id);
    if (status != 0)
        return status;
    describe(q, list);
    describe_broker(q, id, &broker);
    for (int i = 0; i < N_NAMES; i++)
        kf_compare(&list[i], plan, fn, arg);
    kf_compare_broker(&broker, list[KF_MAIN].known ? list[KF_MAIN].retention_ms : 0,
                      fn, arg);
    check_client(q, plan, fn, arg);
    return 0;
}
