/* From the answer of SQS to what may run: early ones are hidden again, and those
 * whose delivery never ended are moved out of the way. */
#include "queue/sqs/receive.h"

#include <stdio.h>
#include <stdlib.h>

#include "queue/blame.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/lock.h"
#include "queue/sqs/trial.h"

enum {
    EARLY_MS = 500, /* nobody waits for so little */
    CLOCK_MS = 2000, /* how far its clock may be from what we take for it */
    FIRST_HIDDEN_S = 20 /* twice as long as between two beats */
};

int64_t sq_hidden_ns(const struct sqs_broker *q)
{
    return q->lease_ns < FIRST_HIDDEN_S * SQ_S ? q->lease_ns
                                               : FIRST_HIDDEN_S * SQ_S;
}

static int64_t seconds(int64_t ns)
{
    return (ns + SQ_S - 1) / SQ_S;
}

void sq_put_request(struct bide__json *j, size_t most, int64_t hidden_s,
                    int wait_s)
{
    bide__json_integer(j, "MaxNumberOfMessages", (int64_t)most);
    bide__json_integer(j, "VisibilityTimeout", hidden_s);
    bide__json_integer(j, "WaitTimeSeconds", wait_s);
    bide__json_list(j, "MessageSystemAttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
    bide__json_list(j, "MessageAttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
}

void sq_put_receive(struct sqs_broker *q, struct bide__json *j, size_t most,
                    int wait_s)
{
    /* Of a FIFO queue one at a time: a batch would bring several of a key, and
     * they must not run side by side. */
    size_t batch = q->fifo ? 1 : most < SQ_BATCH ? most : SQ_BATCH;

    sq_put_request(j, batch, seconds(sq_hidden_ns(q)), wait_s);
}

/* ===== not due yet ===== */

/* How often it is received before it is due. SQS tells when it was received first:
 * if that was too early, it has been hidden since then, in hops. */
static uint32_t hops(const struct sq_hand *h, int64_t due_ms)
{
    int64_t first = sq_hand_number(h, "ApproximateFirstReceiveTimestamp");
    const int64_t hop_ms = SQ_HOP_S * INT64_C(1000);

    if (first == 0 || due_ms - first <= EARLY_MS)
        return 0;
    return (uint32_t)((due_ms - first + hop_ms - 1) / hop_ms);
}

/* How long until it is due; if it is, takes from its count what came too early.
 * When the last hop is over, SQS has measured the time; before that, its clock as
 * we know it is near enough. */
static int64_t early_ms(struct sqs_broker *q, struct sq_hand *h,
                        int64_t wait_ms)
{
    int64_t due = sq_hand_number(h, "SentTimestamp") + wait_ms;
    uint32_t early = wait_ms ? hops(h, due) : 0;

    if (early == 0)
        return 0;
    if (h->count == 1)
        return due - sq_hand_number(h, "ApproximateFirstReceiveTimestamp");
    int64_t left = due - sq_server_ms(q);
    if (left > CLOCK_MS || h->count <= early)
        return left > 1000 ? left : 1000;
    h->count -= early;
    return 0;
}

/* Hides it; but if it was received more often than its hops explain, because a
 * worker died in between, a copy begins anew: else that would look like a death
 * with it. */
static int wait_on(struct sqs_broker *q, const struct sq_hand *h,
                   struct sq_state *s, int64_t ms)
{
    int64_t due = sq_hand_number(h, "SentTimestamp") + s->wait_ms;
    int64_t wait_s = (ms + 999) / 1000;
    struct sq_entry e = { .handle = sq_hand_handle(h),
                          .hide_s = wait_s < SQ_HOP_S ? wait_s : SQ_HOP_S };

    if (h->count <= hops(h, due) || h->in_place)
        return sq_hide(q, h->where, &e, 1, h->until_ns);
    s->wait_ms = wait_s * 1000;
    return sq_hand_replace(q, h, h->where, s);
}

/* ===== whose delivery never ended ===== */

static void add_error(struct sqs_broker *q, struct sq_state *s, uint32_t deaths)
{
    char *errors = malloc(QUEUE_ERRORS_MAX + 1), text[64];

    snprintf(text, sizeof text, "its worker died (death %u)", deaths);
    if (errors)
        queue_errors_add(errors, s->errors ? s->errors : "", sq_server_ms(q),
                         s->attempt + 1, text);
    free(s->errors);
    s->errors = errors;
}

static void bury(struct sqs_broker *q, struct sq_state *s)
{
    add_error(q, s, s->deaths);
    snprintf(s->reason, sizeof s->reason, "crashed");
    snprintf(s->cls, sizeof s->cls, "permanent");
    s->died_ms = sq_server_ms(q);
}

/* Nobody can tell what else ran in a worker that SQS has only heard nothing of:
 * a first death makes a suspect of it, and from then on it ran alone. */
static int rescue(struct sqs_broker *q, const struct sq_hand *h,
                  struct sq_state *s)
{
    struct queue_blame b = queue_blame_unsure(h->where == SQ_SUSPECTS, s->deaths,
                                              &s->unsure, q->max_deaths);
    enum sq_where to = b.dead ? SQ_DEAD : SQ_SUSPECTS;
    int status = 0;

    s->deaths = b.deaths;
    s->suspect = b.suspect;
    s->delivered += h->count - 1; /* this receive starts nothing */
    s->wait_ms = 0;
    if (b.dead)
        bury(q, s);
    if (!q->urls[to])
        status = sq_make_queue(q, to);
    if (status == 0 && b.dead)
        status = sq_trial_tell(q, s->trial, s->id, false);
    if (b.dead)
        s->trial[0] = '\0';
    if (status == 0)
        status = sq_hand_replace(q, h, to, s);
    if (status != 0)
        return status;
    if (!b.dead) {
        q->suspects = true;
        q->suspects_ns = sq_now() + q->lease_ns / 2;
    }
    q->rescued.workers = 1;
    q->rescued.messages++;
    q->rescued.dead += b.dead;
    return 0;
}

/* ===== what came ===== */

/* Whether it may run; otherwise it is no longer in hand. */
static int admit_one(struct sqs_broker *q, size_t i, bool *ret_stays)
{
    struct sq_hand *h = &q->hands[i];
    struct sq_entry e = { .handle = sq_hand_handle(h) };
    struct sq_state s;
    int status = sq_hand_state(q, h, &s);
    bool holds = true;

    *ret_stays = false;
    if (status != 0)
        return status;
    int64_t early = early_ms(q, h, s.wait_ms);
    if ((status = sq_hand_keep(q, h, &s)) == 0 && !early)
        status = sq_lock_check(q, h, &holds);
    if (status == 0 && early)
        status = wait_on(q, h, &s, early);
    else if (status == 0 && !holds)
        status = sq_delete(q, h->where, &e, 1, h->until_ns);
    else if (status == 0 && h->count > 1 && sq_now() >= q->doubt_until_ns)
        status = rescue(q, h, &s);
    else
        *ret_stays = status == 0;
    sq_state_done(&s);
    return status;
}

int sq_admit(struct sqs_broker *q, enum sq_where where, struct sq_value answer,
             int64_t sent_ns)
{
    struct sq_value list = sq_member(answer, "Messages"), m;
    size_t i = q->n_hands;
    int status = 0;

    /* All of them first: the next request overwrites the answer. */
    for (size_t at = 0; sq_next(list, &at, &m);)
        if (!sq_hand_add(q, where, m, sent_ns, sq_hidden_ns(q)))
            return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    while (i < q->n_hands) {
        bool stays;
        int failed = admit_one(q, i, &stays);
        status = status ? status : failed;
        if (stays)
            i++;
        else
            sq_hand_drop(q, &q->hands[i]);
    }
    return status;
}

int sq_receive(struct sqs_broker *q, enum sq_where where, size_t most,
               size_t *ret_n)
{
    int64_t sent = sq_now();
    struct bide__json *j = sq_begin(q, where);
    struct sq_value answer, m;

    *ret_n = 0;
    sq_put_receive(q, j, most, 0);
    int status = sq_ask(q, "ReceiveMessage", SQ_ONCE, 0, &answer);
    if (status == BROKER_DOWN && !*q->type) /* it may have come to nobody */
        q->doubt_until_ns = sq_now() + sq_hidden_ns(q) + 30 * SQ_S;
    if (status != 0)
        return status;
    for (size_t at = 0; sq_next(sq_member(answer, "Messages"), &at, &m);)
        (*ret_n)++;
    return sq_admit(q, where, answer, sent);
}
