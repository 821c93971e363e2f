/* Beats, and what was found of workers that are gone. */
#include <string.h>

#include "queue/sqs/hands.h"
#include "queue/sqs/poll.h"
#include "queue/sqs/receive.h"
#include "queue/sqs/workers.h"

/* What one beat hides further. Beyond 12 h SQS shows it to others: lost. */
static int hide_some(struct sqs_broker *q, enum sq_where where, size_t *from)
{
    struct sq_entry entries[SQ_BATCH];
    size_t which[SQ_BATCH], m = 0;
    int64_t now = sq_now();

    for (; *from < q->n_hands && m < SQ_BATCH; ++*from) {
        struct sq_hand *h = &q->hands[*from];
        int64_t left = h->most_ns - now;
        if (h->where != where || h->settled || now >= h->until_ns || left < SQ_S)
            continue;
        which[m] = *from;
        entries[m++] = (struct sq_entry){
            .handle = sq_hand_handle(h),
            .hide_s = (q->lease_ns < left ? q->lease_ns : left) / SQ_S
        };
    }
    int status = m ? sq_hide(q, where, entries, m, 0) : 0;
    for (size_t i = 0; i < m; i++) {
        struct sq_hand *h = &q->hands[which[i]];
        if (entries[i].done)
            h->until_ns = now + entries[i].hide_s * SQ_S;
        else if (entries[i].gone)
            h->until_ns = 0;
    }
    return status;
}

/* What the long poll brought and nobody takes: consumption has paused. */
static bool stash_is_old(const struct sqs_broker *q, int64_t now)
{
    for (size_t i = 0; i < q->n_hands; i++)
        if (q->hands[i].stashed && now - q->hands[i].received_ns > q->lease_ns)
            return true;
    return false;
}

int sq_beat(struct broker *b, struct queue_message **running, size_t n)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    int status = sq_poll_drive(q);

    if (status == 0 && stash_is_old(q, sq_now())) {
        q->hungry = 0;
        status = sq_give_back(q, true);
    }
    for (int w = SQ_MAIN; w <= SQ_SUSPECTS && status == 0; w++)
        for (size_t from = 0; from < q->n_hands && status == 0;)
            status = hide_some(q, (enum sq_where)w, &from);
    if (status != 0)
        return status;
    for (size_t i = 0; i < n; i++) {
        struct sq_hand *h = sq_hand_find(q, running[i]->token);
        if (h && sq_now() < h->until_ns)
            continue;
        running[i]->lost = true;
        if (h)
            sq_hand_drop(q, h);
    }
    return 0;
}

/* Whom to look for: SQS shows again what a dead worker had, and who receives it
 * knows from its count. So this is the long poll, and for those that kill a
 * worker also when they run alone, a look at them when we are. */
int sq_rescue(struct broker *b, struct broker_rescued *ret)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    int status = sq_poll_drive(q);
    size_t came;

    if (status == 0 && q->n_hands == 0 && q->urls[SQ_SUSPECTS] &&
        sq_now() >= q->suspects_ns) {
        q->suspects_ns = sq_now() + q->lease_ns / 2;
        status = sq_receive(q, SQ_SUSPECTS, 1, &came);
        q->suspects = q->suspects || came > 0;
    }
    if (status != 0)
        return status;
    if (q->rescued.messages == 0)
        sq_poll_start(q);
    *ret = q->rescued;
    q->rescued = (struct broker_rescued){ 0, 0, 0 };
    return 0;
}
