/* From the answer of SQS to what may run: early ones are hidden again, and those
 * whose delivery never ended are moved out of the way. */
#include "queue/sqs/receive.h"

#include <stdio.h>
#include <stdlib.h>

#include "queue/blame.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/notes.h"

enum {
    HOP_S = 43000,  /* hidden at once, of a longer wait: under 12 h */
    EARLY_MS = 500, /* nobody waits for so little */
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

void sq_put_receive(struct sqs_broker *q, struct bide__json *j, size_t most,
                    int wait_s)
{
    /* Of a FIFO queue one at a time: a batch would bring several of a key, and
     * giving them back would cost each of them an attempt. */
    size_t batch = q->fifo ? 1 : most < SQ_BATCH ? most : SQ_BATCH;

    bide__json_integer(j, "MaxNumberOfMessages", (int64_t)batch);
    bide__json_integer(j, "VisibilityTimeout", seconds(sq_hidden_ns(q)));
    bide__json_integer(j, "WaitTimeSeconds", wait_s);
    bide__json_list(j, "MessageSystemAttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
    bide__json_list(j, "MessageAttributeNames");
    bide__json_text(j, NULL, "All");
    bide__json_end(j);
}

/* ===== not due yet ===== */

/* How long until it is due; and takes from its count what came too early. SQS
 * tells when a message was received first: if that was before it was due, it has
 * been hidden since then, in hops. */
static int64_t early_ms(struct sqs_broker *q, struct sq_hand *h,
                        int64_t wait_ms)
{
    int64_t first = sq_hand_number(h, "ApproximateFirstReceiveTimestamp");
    int64_t due = sq_hand_number(h, "SentTimestamp") + wait_ms;
    int64_t now = first, server = sq_server_ms(q);

    if (wait_ms == 0 || first == 0)
        return 0;
    if (h->count > 1 && server > now)
        now = server;
    if (due - now > EARLY_MS)
        return due - now;
    if (due - first > EARLY_MS) {
        int64_t hops = (due - first + HOP_S * 1000 - 1) / (HOP_S * 1000);
        h->count -= hops < h->count ? (uint32_t)hops : h->count - 1;
    }
    return 0;
}

/* The same for one that keeps its place, as far as we remember. */
static int64_t early_in_place_ms(struct sqs_broker *q, const struct sq_hand *h)
{
    struct sq_note *note = sq_note_find(q, h);
    int64_t left = note && note->due_ns ? note->due_ns - sq_now() : 0;

    if (left <= SQ_S)
        return 0;
    note->uncounted++;
    return left / SQ_MS;
}

static int hide_for(struct sqs_broker *q, const struct sq_hand *h, int64_t ms)
{
    int64_t s = (ms + 999) / 1000;
    struct sq_entry e = { .handle = sq_hand_handle(h),
                          .hide_s = s < HOP_S ? s : HOP_S };

    return sq_hide(q, h->where, &e, 1, h->until_ns);
}

/* ===== whose delivery never ended ===== */

static void add_error(struct sqs_broker *q, struct sq_state *s, uint32_t deaths)
{
    char *errors = malloc(QUEUE_ERRORS_MAX + 1), text[64];

    snprintf(text, sizeof text, "its worker died, for the %u. time", deaths);
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
    struct queue_blame b = queue_blame(h->where == SQ_SUSPECTS ? 1 : 2,
                                       s->deaths, q->max_deaths);
    struct sq_entry e = { .handle = sq_hand_handle(h) };
    enum sq_where to = b.dead ? SQ_DEAD : SQ_SUSPECTS;
    struct sq_letter l;
    int status = 0;

    s->deaths = b.deaths;
    s->suspect = b.suspect;
    s->delivered += h->count - 1; /* this receive starts nothing */
    s->wait_ms = 0;
    if (b.dead)
        bury(q, s);
    if (!q->urls[to])
        status = sq_make_queue(q, to);
    if (status != 0)
        return status;
    sq_hand_copy(q, h, to, s, &l);
    status = sq_send(q, to, &l, 1, h->until_ns);
    if (status == 0)
        status = sq_delete(q, h->where, &e, 1, h->until_ns);
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
    struct sq_state s;
    int status = sq_hand_state(q, h, &s);

    if (status != 0)
        return status;
    int64_t early = early_ms(q, h, s.wait_ms);
    if (!early && h->in_place)
        early = early_in_place_ms(q, h);
    *ret_stays = !early;
    if (early) {
        status = hide_for(q, h, early);
    } else if (h->count > 1 && !h->in_place && sq_now() >= q->doubt_until_ns) {
        status = rescue(q, h, &s);
        *ret_stays = false;
    }
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
    while (i < q->n_hands && status == 0) {
        bool stays = true;
        status = admit_one(q, i, &stays);
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
