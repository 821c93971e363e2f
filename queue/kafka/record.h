/* queue/kafka/record.h: a message as a record of Kafka.
 *
 * The value is the body, the key is the key, and headers are attributes. What bide
 * itself has to say is in headers that begin with "bide-"; a record of a foreign
 * producer has none of them, and is a first attempt. */
#ifndef BIDE_QUEUE_KAFKA_RECORD_H
#define BIDE_QUEUE_KAFKA_RECORD_H

#include "queue/kafka/send.h"
#include "queue/kafka/session.h"

/* What the headers say. Threads: owned. */
struct kf_facts {
    uint32_t attempt, deliveries, deaths, generation;
    bool suspect;
    int priority;
    int64_t queued_ms;  /* 0: with the record */
    int64_t written_ms; /* the record */
    int64_t delay_ms;   /* due so long after it was written */
    int64_t place;      /* -1: not said */
    int64_t gone;       /* a dead letter that was redriven; -1: it is none */
};

/* A record may have no time: then it was written just now, at `now_ms`. */
void kf_facts(struct kf_facts *ret, const rd_kafka_message_t *record, int64_t now_ms);

/* The bytes of a header; NULL: none. */
const char *kf_header(const rd_kafka_message_t *record, const char *name,
                      size_t *ret_len);

/* Its id, as bide_id has it, or made of where it is. */
void kf_id(char to[QUEUE_ID_MAX + 1], const rd_kafka_message_t *record);

/* NULL: no memory. */
struct queue_message *kf_message(const rd_kafka_message_t *record,
                                 const struct kf_facts *f);

/* A copy of it for another topic, with what has changed. -1: no memory. */
int kf_copy(struct kf_send *ret, const rd_kafka_message_t *record,
            const struct kf_facts *f, const char *errors);
/* What bide has to say of it, without anything of its own. */
int kf_describe(struct kf_send *to, const rd_kafka_message_t *record,
                const struct kf_facts *f, const char *errors);
int kf_header_add(struct kf_send *s, const char *name, const void *value,
                  size_t len);
int kf_header_number(struct kf_send *s, const char *name, int64_t n);

#endif
