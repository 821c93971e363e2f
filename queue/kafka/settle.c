/* Settling: the copy or the dead letter first, confirmed; then the offset. */
#include <stdlib.h>

#include "queue/kafka/commit.h"
#include "queue/kafka/copies.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/ghosts.h"
#include "queue/kafka/rebalance.h"

struct kf_slot *kf_in_hand(const struct kafka_broker *q, uint64_t token)
{
    for (size_t i = 0; i < q->n_running; i++)
        if (q->running[i]->token == token)
            return q->running[i];
    return NULL;
}

static void out_of_hand(struct kafka_broker *q, const struct kf_slot *s)
{
    for (size_t i = 0; i < q->n_running; i++)
        if (q->running[i] == s) {
            q->running[i] = q->running[--q->n_running];
            return;
        }
}

int kf_end_slot(struct kafka_broker *q, struct kf_slot *s)
{
    if (kf_note(q, s) != 0)
        return -1;
    if (s->stage == KF_RUNNING) {
        s->window->n_running--;
        out_of_hand(q, s);
    }
    kf_leave(&q->order, s);
    s->stage = KF_DONE;
    s->window->dirty = true;
    return 0;
}

/* It stays where it is: nothing has to be remembered but the delivery. */
static bool stays(const struct broker_end *e)
{
    return e->how == BROKER_AGAIN && !e->counts && e->delay_ns <= 0 && !e->error;
}

/* ===== one end ===== */

static void lose(struct kafka_broker *q, struct broker_end *e)
{
    struct kf_slot *s = kf_ghost_end(q, e->message->token, e->how == BROKER_DONE);

    if (s) /* it has come back meanwhile; without memory it waits for ever, unstarted */
        (void)kf_end_slot(q, s);
    e->message->lost = true;
    e->result = BROKER_LOST;
}

static int give_back(struct kafka_broker *q, struct kf_slot *s, bool ran)
{
    if (kf_note(q, s) != 0)
        return -1;
    out_of_hand(q, s);
    s->window->n_running--;
    s->stage = KF_WAITING;
    s->suspect = s->suspect && !ran;
    s->token = 0;
    s->window->dirty = true;
    return kf_line_up(&q->order, s);
}

static int finish(struct kafka_broker *q, struct broker_end *e,
                  const struct kf_send *sent)
{
    struct kf_slot *s = kf_in_hand(q, e->message->token);

    e->result = BROKER_SETTLED;
    if (!s) {
        lose(q, e);
        return 0;
    }
    if (stays(e))
        return give_back(q, s, e->ran);
    if (sent && sent->topic != KF_TOPICS) /* before its followers come into line */
        kf_await(q, sent->topic, sent->partition, sent->offset,
                 s->place, e->delay_ns > 0 ? e->delay_ns : 0,
                 s->attempt + e->counts, s->record->key, s->record->key_len);
    s->copied = s->copied || sent;
    return kf_end_slot(q, s);
}

/* ===== all of them ===== */

static bool needs_copy(const struct kafka_broker *q, const struct broker_end *e)
{
    if (e->how == BROKER_DONE || stays(e))
        return false;
    const struct kf_slot *s = kf_in_hand(q, e->message->token);

    return s && !s->copied;
}

/* What settling some ends takes. */
struct ending {
    struct broker_end *ends;
    size_t n;
    struct kf_send *sends;
    struct kf_slot **slots;  /* of each that is sent */
    struct kf_send **of;     /* what is sent for each end; NULL: nothing */
};

/* Writes the copies, unless the group has gone on without us. */
static int send_copies(struct kafka_broker *q, struct ending *e)
{
    size_t k = 0;
    int status = 0;

    for (size_t i = 0; i < e->n && status == 0; i++) {
        if (!needs_copy(q, &e->ends[i]))
            continue;
        e->slots[k] = kf_in_hand(q, e->ends[i].message->token);
        e->of[i] = &e->sends[k];
        if (kf_copy_for_end(q, &e->sends[k], &e->ends[i], e->slots[k]) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
        k++;
    }
    if (k > 0 && status == 0)
        status = kf_send_copies(q, e->sends, e->slots, k);
    for (size_t i = 0; i < k && status != 0; i++)
        if (e->sends[i].over && !e->sends[i].err)
            e->slots[i]->copied = true; /* not a second time, when we are asked again */
    return status;
}

static int settle_all(struct kafka_broker *q, struct ending *e)
{
    int status = send_copies(q, e);

    for (size_t i = 0; i < e->n && status == 0; i++)
        if (finish(q, &e->ends[i], e->of[i]) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    int committed = kf_commit(q);
    return status ? status : committed;
}

int kf_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    struct ending e = { .ends = ends,
                        .n = n,
                        .sends = calloc(n + 1, sizeof *e.sends),
                        .slots = calloc(n + 1, sizeof(struct kf_slot *)),
                        .of = calloc(n + 1, sizeof(struct kf_send *)) };
    int status = e.sends && e.slots && e.of
                     ? kf_ready(q)
                     : broker_fail(b, BROKER_NO_MEMORY, "out of memory");

    q->fenced = false;
    if (status == 0)
        status = kf_prove(q); /* before a copy is written */
    if (status == 0)
        status = settle_all(q, &e);
    if (status != 0 && q->fenced) { /* others have them */
        for (size_t i = 0; i < n; i++)
            lose(q, &ends[i]);
        status = 0;
    }
    if (e.sends)
        kf_send_done(e.sends, n);
    free(e.sends);
    free(e.slots);
    free(e.of);
    return status;
}

int kf_beat(struct broker *b, struct queue_message **running, size_t n)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = kf_ready(q);

    if (status == 0 && !q->grouped)
        status = kf_prove(q);
    if (status != 0 && !q->fenced)
        return status;
    for (size_t i = 0; i < n; i++) {
        const struct kf_slot *s = kf_in_hand(q, running[i]->token);
        running[i]->lost = running[i]->lost || !s || kf_must_stop(q, s);
    }
    return 0;
}
