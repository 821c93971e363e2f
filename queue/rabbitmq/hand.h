/* queue/rabbitmq/hand.h: the deliveries that the worker has, and the list of them that
 * the server keeps.
 *
 *     hand_add(q, m, in->channel, in->tag);       // m->token is set
 *     hand_publish(q);                            // the list; confirmed: it may run
 *     struct rmq_hand *h = hand_find(q, m->token);
 *     hand_drop(q, h);                            // settled, or lost
 *
 * The list is what makes a death known: who held what, and how many beside it. It is one
 * message in NAME.worker.K.hand, which keeps only the newest (max-length 1). */
#ifndef BIDE_QUEUE_RABBITMQ_HAND_H
#define BIDE_QUEUE_RABBITMQ_HAND_H

#include "queue/rabbitmq/session.h"

enum { HAND_LABEL = QUEUE_ID_MAX + QUEUE_KEY_MAX + 80 };

/* What a delivery is known by when the server gives it to somebody else, or again: a line
 * of a list begins with it. Its length. */
size_t hand_label(char to[HAND_LABEL], const struct queue_message *m);

/* 0, or -1: no memory. */
int hand_add(struct rmq *q, struct queue_message *m, uint16_t channel, uint64_t tag);
struct rmq_hand *hand_find(struct rmq *q, uint64_t token);
/* The same delivery, that has no tag on this connection. */
struct rmq_hand *hand_unattached(struct rmq *q, const struct queue_message *m);
void hand_attach(struct rmq_hand *h, uint16_t channel, uint64_t tag);
void hand_drop(struct rmq *q, struct rmq_hand *h);
/* Drops it, and remembers that it was settled. A server writes an acknowledgement to its
 * disk when it has time: one that was killed may deliver the message again. */
void hand_settled(struct rmq *q, struct rmq_hand *h, int64_t queued_ms);
/* Was it settled, before the connection failed? */
bool hand_was_settled(const struct rmq *q, const struct queue_message *m);
void hand_drop_all(struct rmq *q);
/* Those with a key are in their tracks (proof.h says until when). */
void hand_drop_unkeyed(struct rmq *q);

/* Publishes the list; wire_wait() confirms it. */
int hand_publish(struct rmq *q);
/* Others count by our list what we run, and what the server has sent us to wait here. */
bool hand_is_listed_wrong(struct rmq *q);

/* ===== the lists of all workers ===== */

/* All zero is empty. Threads: owned. */
struct lists {
    struct wire_in *items; /* the body: "WORKER SLOT WAITING HELD\n" (the last two: what
                              lies here and does not run), then a line for each */
    size_t n;
};

/* Reads the lists of the slots from `first` on, below `end`, but not of `but`. */
int lists_read(struct rmq *q, struct lists *ret, int first, int end, int but);
/* A list is not there while another worker reads it, as all do when a server is back: who
 * took that for an empty one would start what runs elsewhere. So this asks again. */
int lists_read_well(struct rmq *q, struct lists *ret, int first, int end, int but);
/* As it is, of one slot; it stays unacknowledged on LOOK. */
int lists_get(struct rmq *q, struct lists *ret, int slot);
/* Who holds a message; -1: nobody. */
int lists_find(const struct lists *l, const struct queue_message *m,
               uint64_t *ret_token);
void lists_free(struct lists *l);

/* A line as a message, without its body. *line moves behind it. NULL: at the end, or
 * no memory. */
struct queue_message *lists_message(const char **line);

#endif
