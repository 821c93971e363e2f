/* Deliveries in hand, and copies of them. */
#include "queue/sqs/hands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/foreign.h"
#include "queue/sqs/lock.h"
#include "queue/sqs/row.h"

static bool is_keyed(const struct sqs_broker *q, struct sq_value message)
{
    char group[SQ_LABEL + 1];

    if (!q->fifo)
        return false;
    sq_copy(sq_member(sq_member(message, "Attributes"), "MessageGroupId"), group,
            sizeof group);
    return *group && strncmp(group, SQ_SINGLE, sizeof SQ_SINGLE - 1) != 0;
}

struct sq_hand *sq_hand_add(struct sqs_broker *q, enum sq_where where,
                            struct sq_value message, int64_t sent_ns,
                            int64_t hidden_ns)
{
    if (q->n_hands == q->hands_size) {
        size_t size = q->hands_size ? 2 * q->hands_size : 16;
        struct sq_hand *more = realloc(q->hands, size * sizeof *more);
        if (!more)
            return NULL;
        q->hands = more;
        q->hands_size = size;
    }
    char *text = malloc(message.len);
    if (!text)
        return NULL;
    memcpy(text, message.at, message.len);
    struct sq_hand *h = &q->hands[q->n_hands++];
    *h = (struct sq_hand){ .token = ++q->last_token,
                           .where = where,
                           .text = text,
                           .len = message.len,
                           .received_ns = sent_ns,
                           .until_ns = sent_ns + hidden_ns,
                           .most_ns = sent_ns + SQ_HIDE_MOST_S * SQ_S,
                           .stashed = true };
    h->in_place = where == SQ_MAIN && is_keyed(q, message);
    int64_t n = sq_hand_number(h, "ApproximateReceiveCount");
    h->count = n > 0 && n < UINT32_MAX ? (uint32_t)n : 1;
    return h;
}

struct sq_hand *sq_hand_find(struct sqs_broker *q, uint64_t token)
{
    for (size_t i = 0; i < q->n_hands; i++)
        if (q->hands[i].token == token)
            return &q->hands[i];
    return NULL;
}

void sq_hand_drop(struct sqs_broker *q, struct sq_hand *h)
{
    size_t i = (size_t)(h - q->hands);

    free(h->text);
    free(h->lock);
    memmove(h, h + 1, (--q->n_hands - i) * sizeof *h);
}

void sq_hands_done(struct sqs_broker *q)
{
    while (q->n_hands > 0)
        sq_hand_drop(q, &q->hands[q->n_hands - 1]);
    free(q->hands);
}

int64_t sq_hand_number(const struct sq_hand *h, const char *name)
{
    return sq_number(sq_member(sq_member(sq_hand_value(h), "Attributes"), name),
                     0);
}

/* ===== as a message ===== */

int sq_hand_state(struct sqs_broker *q, const struct sq_hand *h,
                  struct sq_state *s)
{
    if (sq_state_read(s, sq_hand_value(h)) != 0)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    return 0;
}

int sq_hand_keep(struct sqs_broker *q, struct sq_hand *h,
                 const struct sq_state *s)
{
    int64_t left = (s->lock_until_ms - sq_server_ms(q)) * SQ_MS;

    memcpy(h->trial, s->trial, sizeof h->trial);
    if (s->lock.len == 0)
        return 0;
    h->lock_until_ms = s->lock_until_ms;
    if (sq_now() + left < h->most_ns)
        h->most_ns = sq_now() + left;
    if (!(h->lock = sq_raw_copy(s->lock)))
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    return 0;
}

struct queue_message *sq_hand_message(struct sqs_broker *q,
                                      const struct sq_hand *h)
{
    struct sq_state s;
    struct queue_message *m = NULL;

    if (sq_hand_state(q, h, &s) == 0)
        m = sq_row(sq_hand_value(h), &s);
    if (m) {
        m->token = h->token;
        m->deliveries = s.delivered + h->count;
    }
    sq_state_done(&s);
    return m;
}

/* ===== as a copy ===== */

static void set_labels(struct sqs_broker *q, const struct sq_hand *h,
                       enum sq_where to, const struct sq_state *s,
                       struct sq_letter *l)
{
    char source[100], text[QUEUE_ID_MAX + 200];

    if (!q->fifo)
        return;
    /* The same copy of the same message sent twice is one, to SQS: within 5
     * minutes. Of another message it is another, or that one would be lost. */
    sq_copy(sq_member(sq_hand_value(h), "MessageId"), source, sizeof source);
    snprintf(text, sizeof text, "%s %u %u %u %d %s", s->id, s->generation,
             s->delivered, s->deaths, (int)to, source);
    sq_single(l->once, text);
    if (to == SQ_MAIN && *s->key && s->lock.len == 0)
        (void)sq_label(l->group, s->key);
    else
        sq_single(l->group, s->id);
}

void sq_hand_copy(struct sqs_broker *q, const struct sq_hand *h,
                  enum sq_where to, struct sq_state *s, struct sq_letter *ret)
{
    struct sq_value v = sq_hand_value(h);

    if (!s->queued_ms)
        s->queued_ms = sq_hand_number(h, "SentTimestamp");
    if (h->in_place && !*s->key) /* a dead letter's own group is another */
        sq_copy(sq_member(sq_member(v, "Attributes"), "MessageGroupId"), s->key,
                sizeof s->key);
    *ret = (struct sq_letter){
        .body = sq_member(v, "Body"),
        .trace = sq_member(sq_member(v, "Attributes"), "AWSTraceHeader"),
        .state = s
    };
    ret->delay_s = s->wait_ms / 1000;
    if (ret->delay_s > SQ_DELAY_MOST_S)
        ret->delay_s = SQ_DELAY_MOST_S; /* early then, and hidden: receive.c */
    set_labels(q, h, to, s, ret);
}

int sq_hand_replace(struct sqs_broker *q, const struct sq_hand *h,
                    enum sq_where to, struct sq_state *s)
{
    struct sq_entry e = { .handle = sq_hand_handle(h) };
    bool keeps = sq_lock(q, h, s), held;
    struct sq_letter l;

    if (to == SQ_DEAD)
        keeps = false, s->lock.len = 0;
    sq_hand_copy(q, h, to, s, &l);
    int status = sq_send(q, to, &l, 1, h->until_ns);
    if (status == 0 && keeps && h->in_place)
        return sq_lock_hide(q, h, &held);
    if (status == 0 && !keeps)
        status = sq_lock_release(q, h);
    return status == 0 ? sq_delete(q, h->where, &e, 1, h->until_ns) : status;
}

static int give_back_one(struct sqs_broker *q, const struct sq_hand *h)
{
    struct sq_state s;
    int status = sq_hand_state(q, h, &s);

    if (status != 0)
        return status;
    s.delivered += h->count;
    s.wait_ms = 0;
    status = sq_hand_replace(q, h, h->where, &s);
    sq_state_done(&s);
    return status;
}

int sq_give_back(struct sqs_broker *q, bool only_stashed)
{
    int status = 0;

    for (size_t i = q->n_hands; i-- > 0 && status == 0;) {
        struct sq_hand *h = &q->hands[i];
        if (h->settled || (only_stashed && !h->stashed))
            continue;
        if (sq_now() < h->until_ns)
            status = give_back_one(q, h);
        if (status == 0)
            sq_hand_drop(q, h);
    }
    return status;
}
