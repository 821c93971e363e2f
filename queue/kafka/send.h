/* queue/kafka/send.h: writing records, and waiting until they are confirmed. */
#ifndef BIDE_QUEUE_KAFKA_SEND_H
#define BIDE_QUEUE_KAFKA_SEND_H

#include "queue/kafka/session.h"

/* Threads: owned. */
struct kf_send {
    int topic;                /* as for kf_topic() */
    int32_t partition;        /* -1: by its key. Out: where it is */
    const void *key, *body;   /* NULL: none */
    size_t key_len, len;
    rd_kafka_headers_t *headers; /* owned: kf_send_done() frees them */
    int64_t offset;           /* out */
    rd_kafka_resp_err_t err;  /* out */
    bool over;                /* out: we know what became of it */
};

/* 0: all of them are confirmed; otherwise each has its err. */
int kf_send(struct kafka_broker *q, struct kf_send *list, size_t n);

/* The same, except that 0 leaves out those that are too large: kf_is_large(). */
int kf_send_but_large(struct kafka_broker *q, struct kf_send *list, size_t n);

/* Kafka tells its time only to who writes: so this writes an empty record among the
 * dead letters, of which it says that none is gone. Where those have the times of
 * their writers, nothing is learned. */
int kf_ask_time(struct kafka_broker *q, int32_t partition);

static inline bool kf_is_large(const struct kf_send *s)
{
    return s->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
}

void kf_send_done(struct kf_send *list, size_t n);

#endif
