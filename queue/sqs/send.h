/* queue/sqs/send.h: requests about several messages at once.
 *
 *     struct sq_letter letters[3];
 *     ...
 *     int status = sq_send(q, SQ_DEAD, letters, 3, 0);
 *     // letters[i].accepted: SQS has it
 *
 * SQS takes ten entries in a request, and answers for each. */
#ifndef BIDE_QUEUE_SQS_SEND_H
#define BIDE_QUEUE_SQS_SEND_H

#include "queue/sqs/session.h"
#include "queue/sqs/state.h"

enum { SQ_LABEL = 128 }; /* of a group, or against repetition */

/* A message on its way out. Threads: owned. */
struct sq_letter {
    struct sq_value body;  /* a JSON string */
    struct sq_value trace; /* AWSTraceHeader, a JSON string; or none */
    struct sq_state *state;
    bool plain;            /* there is nothing in `state` to be noted */
    int64_t delay_s;
    char group[SQ_LABEL + 1], once[SQ_LABEL + 1]; /* on a FIFO queue */
    bool accepted;         /* out */
    char message_id[100];  /* out */
};

/* Sends those that are not accepted yet. 0: all are; or a status. */
int sq_send(struct sqs_broker *q, enum sq_where where, struct sq_letter *list,
            size_t n, int64_t deadline_ns);

/* A delivery that ends, or whose hiding is changed. Threads: owned. */
struct sq_entry {
    struct sq_value handle; /* a JSON string */
    int64_t hide_s;         /* of sq_hide() */
    bool done;              /* out */
    bool gone;              /* out: SQS no longer knows the handle */
};

/* Deletes; changes how long they are hidden. 0: each is done or gone. */
int sq_delete(struct sqs_broker *q, enum sq_where where, struct sq_entry *list,
              size_t n, int64_t deadline_ns);
int sq_hide(struct sqs_broker *q, enum sq_where where, struct sq_entry *list,
            size_t n, int64_t deadline_ns);

/* A label for SQS, which takes no blanks: the text itself where that is possible.
 * True: it is not, and a hash stands for it. */
bool sq_label(char to[SQ_LABEL + 1], const char *text);

/* The group of a message without a key: its own. */
#define SQ_SINGLE "bide.one."
void sq_single(char to[SQ_LABEL + 1], const char *id);

#endif
