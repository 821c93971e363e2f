/* queue/sqs/state.h: what bide knows of a message, as its attribute `bide`.
 *
 *     struct sq_state s;
 *     if (sq_state_read(&s, message) != 0)    // an element of `Messages`
 *         ...                                 // no memory
 *     s.attempt++;
 *     sq_state_write(&s, &out, SQ_STATE_ALL);
 *     sq_state_done(&s);
 *
 * The attribute is a JSON object. A message without it is a foreign producer's,
 * or one that bide had nothing to say about; then all of it is zero, and the id
 * is the attribute `bide.id`, or SQS's own MessageId. */
#ifndef BIDE_QUEUE_SQS_STATE_H
#define BIDE_QUEUE_SQS_STATE_H

#include "queue/message.h"
#include "queue/sqs/json.h"

struct bide__out;

/* Threads: owned. */
struct sq_state {
    char id[QUEUE_ID_MAX + 1];
    char key[QUEUE_ID_MAX + 1];   /* "": none, or it is the group's name */
    uint32_t attempt, delivered, deaths, generation; /* before this copy */
    bool suspect, unsure;         /* queue/blame.h */
    bool base64;                  /* the body is not what it looks like */
    int64_t queued_ms;            /* first; 0: this is the first copy */
    int64_t wait_ms;              /* due so long after it was sent */
    char *errors;                 /* NULL: none */
    struct sq_value lock;         /* whose place it has, and until when: lock.h */
    int64_t lock_until_ms;
    char trial[QUEUE_ID_MAX + 1]; /* who wants to know what becomes of it:
                                     trial.h; "": nobody */
    struct sq_value packed;       /* attributes that SQS does not take: names
                                     and texts */
    struct sq_value native;       /* its own, as SQS has them */
    bool native_inside;           /* they are in here: ten is SQS's limit */

    /* of a dead letter */
    char reason[32], cls[32];
    int64_t died_ms;
    struct sq_value tail;         /* base64 */

    char *text;                   /* into which the values point */
};

/* How much of it is written: less, where the message would become too large. */
enum sq_state_part { SQ_STATE_ALL, SQ_STATE_NO_TAIL, SQ_STATE_SHORT };

/* 0, or -1: no memory. */
int sq_state_read(struct sq_state *s, struct sq_value message);
void sq_state_write(const struct sq_state *s, struct bide__out *out,
                    enum sq_state_part part);
void sq_state_done(struct sq_state *s);

#endif
