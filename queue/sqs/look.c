/* The dead letters. SQS can show a message only by handing it out, so that is what
 * this does, and gives back what it does not want. */
#include "queue/sqs/look.h"

#include <stdlib.h>
#include <string.h>

#include "queue/sqs/base64.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/letters.h"
#include "queue/sqs/row.h"
#include "queue/sqs/trial.h"
#include "queue/walk.h"

/* False: enough. */
static bool tell(struct sqs_broker *q, struct queue_walk *w, struct sq_value letter,
                 const struct sq_state *s)
{
    size_t len = 0;
    bool more = true;
    struct queue_message *m = sq_row(letter, s);
    char *text = sq_text(s->tail, &len);
    unsigned char *tail = text ? sq_base64_read(text, len, &len) : NULL;

    if (m)
        more = queue_walk_tell(
                w, &(struct broker_row){
                           .message = m,
                           .state = BROKER_IS_DEAD,
                           .now_ms = sq_server_ms(q),
                           .reason = *s->reason ? s->reason : "unknown",
                           .cls = s->cls,
                           .tail = tail ? (const char *)tail : "",
                           .tail_len = tail ? len : 0,
                           .died_ms = s->died_ms });
    queue_message_free(m);
    free(text);
    free(tail);
    return more;
}

static int walk(void *self, struct queue_walk *w)
{
    struct sqs_broker *q = self;
    const struct sq_hands *l = &q->letters;
    bool more = true;

    for (size_t i = 0; i < l->n && more; i++) {
        if (l->list[i].settled)
            continue;
        struct sq_value v = sq_hand_value(&l->list[i]);
        struct sq_state s;
        if (sq_state_read(&s, v) == 0) {
            if (!s.died_ms) /* moved by SQS, or by hand */
                s.died_ms = sq_hand_number(&l->list[i], "SentTimestamp");
            more = tell(q, w, v, &s);
        }
        sq_state_done(&s);
    }
    return 0;
}

int sq_each(struct broker *b, const struct broker_filter *filter,
            broker_each *fn, void *arg)
{
    struct sqs_broker *q = (struct sqs_broker *)b;

    if (!filter->dead) /* SQS shows nothing of what waits: traits.blind */
        return sq_trials_each(q, filter, fn, arg);
    if (filter->id && sq_trial_is_good(q, filter->id))
        return 0;
    int status = sq_letters_receive_all(q);
    if (status == 0)
        status = queue_walk(filter, fn, arg, walk, q);
    int shown = sq_letters_show(q);
    return status ? status : shown;
}
