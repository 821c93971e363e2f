/* queue/sqs/hands.h: what we hold: each delivery, as SQS told it.
 *
 *     struct sq_hand *h = sq_hand_add(q, SQ_MAIN, message, sent_ns, hidden_ns);
 *     if (!h)
 *         ...                                       // no memory
 *     struct queue_message *m = sq_hand_message(q, h);
 *     ...
 *     sq_hand_drop(q, sq_hand_find(q, m->token));
 *
 * The text of the message is kept: a copy of it is made from that, so that what a
 * foreign producer wrote is passed on as it was. */
#ifndef BIDE_QUEUE_SQS_HANDS_H
#define BIDE_QUEUE_SQS_HANDS_H

#include "queue/sqs/send.h"
#include "queue/sqs/session.h"

/* Threads: owned. Moved by the next sq_hand_add() and _drop(). */
struct sq_hand {
    uint64_t token;
    enum sq_where where;
    char *text;             /* an element of `Messages` */
    size_t len;
    int64_t received_ns;    /* before we asked for it */
    int64_t until_ns;       /* until then nobody else gets it */
    int64_t most_ns;        /* and beats can move that no further than here */
    uint32_t count;         /* receives, without those before it was due */
    bool stashed;           /* not handed out yet */
    bool in_place;          /* it has a key, and its place among its group */
    char *lock;             /* it has another one's place: that one's receipt
                               handle, a JSON string; NULL: none (lock.h) */
    int64_t lock_until_ms;
    char trial[QUEUE_ID_MAX + 1]; /* trial.h */
    bool told, copied, keeps, settled; /* how far settle() has come; `keeps`:
                               the copy has its place */
};

struct sq_hand *sq_hand_add(struct sqs_broker *q, enum sq_where where,
                            struct sq_value message, int64_t sent_ns,
                            int64_t hidden_ns);
/* NULL: not ours, or no longer. */
struct sq_hand *sq_hand_find(struct sqs_broker *q, uint64_t token);
void sq_hand_drop(struct sqs_broker *q, struct sq_hand *h);
void sq_hands_done(struct sqs_broker *q);

static inline struct sq_value sq_hand_value(const struct sq_hand *h)
{
    return (struct sq_value){ h->text, h->len };
}

static inline struct sq_value sq_hand_handle(const struct sq_hand *h)
{
    return sq_member(sq_hand_value(h), "ReceiptHandle");
}

/* A system attribute, which SQS writes as a text. */
int64_t sq_hand_number(const struct sq_hand *h, const char *name);

/* What is known of it; sq_state_done() after it. 0, or a status. */
int sq_hand_state(struct sqs_broker *q, const struct sq_hand *h,
                  struct sq_state *s);

/* Keeps of the state what settle() needs. 0, or a status. */
int sq_hand_keep(struct sqs_broker *q, struct sq_hand *h,
                 const struct sq_state *s);

/* The message as a handler gets it; NULL: no memory. */
struct queue_message *sq_hand_message(struct sqs_broker *q,
                                      const struct sq_hand *h);

/* A copy of it, with `state`, which the caller has changed and keeps. */
void sq_hand_copy(struct sqs_broker *q, const struct sq_hand *h,
                  enum sq_where to, struct sq_state *state,
                  struct sq_letter *ret);

/* Sends a copy with `state`, which waits as that says, and then deletes it; or
 * makes it the copy's lock. */
int sq_hand_replace(struct sqs_broker *q, const struct sq_hand *h,
                    enum sq_where to, struct sq_state *state);

/* Copies into the same queue, with nothing counted, and deletes. What cannot be
 * said to SQS comes back when its hiding ends. */
int sq_give_back(struct sqs_broker *q, bool only_stashed);

#endif
