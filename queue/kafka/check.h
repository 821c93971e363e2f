/* queue/kafka/check.h: what Kafka's settings do to a queue; without Kafka. */
#ifndef BIDE_QUEUE_KAFKA_CHECK_H
#define BIDE_QUEUE_KAFKA_CHECK_H

#include "queue/broker.h"

/* Of one topic. Threads: owned. */
struct kf_settings {
    const char *name;
    bool known;            /* false: the broker does not tell */
    bool main, dead;       /* which it is; neither: a retry topic */
    int64_t retention_ms, retention_bytes; /* -1: no end */
    bool compacts, log_append_time;
    int64_t min_insync;
    int64_t max_bytes;     /* of a record */
    int64_t queue_max_bytes; /* of one in the queue's topic */
    int replicas;          /* of its partitions */
    int brokers;
};

/* Of a broker. Threads: owned. */
struct kf_broker_settings {
    bool known;
    bool makes_topics;       /* when they are asked for */
    int64_t offsets_kept_ms; /* of a group without members */
    int64_t metadata_max;    /* bytes, beside an offset */
};

/* Of the group and the client. Threads: owned. */
struct kf_client_settings {
    int64_t max_poll_ms, session_ms;
    int32_t partitions;
    bool idempotent, acks_all;
};

void kf_compare(const struct kf_settings *s, const struct broker_plan *plan,
                broker_finding *fn, void *arg);
/* `kept_ms`: how long the queue's topic keeps messages; -1: for ever. */
void kf_compare_broker(const struct kf_broker_settings *s, int64_t kept_ms,
                       broker_finding *fn, void *arg);
void kf_compare_client(const struct kf_client_settings *s,
                       const struct broker_plan *plan, broker_finding *fn,
                       void *arg);

/* Of one topic, as kf_topic() counts them; ret->known: whether the broker tells. */
struct kafka_broker;
void kf_ask_settings(struct kafka_broker *q, int topic, struct kf_settings *ret);

/* The broker's check(): asks for them, and compares. */
int kf_check(struct broker *b, const struct broker_plan *plan, broker_finding *fn,
             void *arg);

#endif
