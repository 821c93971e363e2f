/* queue/rabbitmq/copy.h: a message as AMQP has it: properties, headers, body.
 *
 *     struct copy c = copy_of(m);                     // what is changed is said here
 *     c.attempt++;
 *     copy_publish(w, "", "default.retry", &c);
 *
 * What AMQP has a property for is in that: message-id, timestamp, priority. Bide's
 * counts are headers that begin with "bide-"; every other header is an attribute.
 * Headers that the server adds ("x-death", ...) are left out of a copy: a server of
 * version 3 takes the first of them for a cycle, and drops the message. */
#ifndef BIDE_QUEUE_RABBITMQ_COPY_H
#define BIDE_QUEUE_RABBITMQ_COPY_H

#include "queue/rabbitmq/wire.h"

/* What is no message, but about some (track.h). */
enum copy_kind { COPY_MESSAGE, COPY_MARK, COPY_ALARM, COPY_NOTE, COPY_RUN };

/* All that a copy may use of a frame for its headers. */
enum { COPY_HEADERS_MAX = 100000 };

/* Threads: owned. What it points to is the message's. */
struct copy {
    const char *id, *key, *errors;
    int priority;
    const void *body;
    size_t len;
    const struct queue_attribute *attributes;
    size_t n_attributes;
    uint32_t attempt, deaths, generation;
    uint32_t deliveries;   /* that have ended */
    bool suspect;
    int64_t queued_ms, due_ms;
    uint64_t token;        /* of the delivery that goes on with this copy; 0 */
    uint64_t seq, wait;    /* of a message with a key */
    enum copy_kind kind;
    const char *reason;    /* of a dead letter; NULL: it is none */
    const char *cls;
    const void *tail;
    size_t tail_len;
    int64_t died_ms;
};

/* After this delivery. */
struct copy copy_of(const struct queue_message *m);

/* 0, or a status. */
int copy_publish(struct wire *w, const char *exchange, const char *key,
                 const struct copy *c);

/* Fills in what arrived. -1: no memory. */
int copy_read(struct wire_in *to, const amqp_basic_properties_t *props,
              const void *body, size_t len);

/* How large the attributes are, as headers. */
size_t copy_attributes_size(const struct queue_attribute *list, size_t n);

#endif
