/* Settling. What is done is deleted; all else is a copy first, and a deletion when
 * SQS has accepted that. A message that keeps its place is hidden instead (lock.h).
 *
 * When a request fails in between, what was reached is remembered in the hand, and
 * the worker settles the same again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/sqs/base64.h"
#include "queue/sqs/deliver.h"
#include "queue/sqs/hands.h"
#include "queue/sqs/lock.h"
#include "queue/sqs/trial.h"

/* Before its hiding ends there must be time for a request. */
static int64_t margin(const struct sqs_broker *q)
{
    return q->lease_ns / 10 < SQ_S ? q->lease_ns / 10 : SQ_S;
}

/* A delivery that is still ours; NULL: it is lost. */
static struct sq_hand *ours(struct sqs_broker *q, const struct queue_message *m)
{
    struct sq_hand *h = sq_hand_find(q, m->token);

    return h && (h->settled || sq_now() < h->until_ns - margin(q)) ? h : NULL;
}

static int64_t seconds(int64_t ns)
{
    return ns <= 0 ? 0 : (ns + SQ_S - 1) / SQ_S;
}

void sq_will_be_due(struct sqs_broker *q, int64_t delay_ns)
{
    int64_t due = sq_now() + seconds(delay_ns) * SQ_S;

    if (delay_ns > 0 && (!q->due_ns || due < q->due_ns))
        q->due_ns = due;
}

/* ===== copies ===== */

static void add_error(struct sqs_broker *q, struct sq_state *s,
                      const struct broker_end *e)
{
    char *errors = e->error ? malloc(QUEUE_ERRORS_MAX + 1) : NULL;

    if (!errors)
        return;
    queue_errors_add(errors, s->errors ? s->errors : "", sq_server_ms(q),
                     e->message->attempt + 1, e->error);
    free(s->errors);
    s->errors = errors;
}

/* The output of the handler as a JSON string; base64 needs no escape. */
static char *encode_tail(const struct broker_end *e, struct sq_value *ret)
{
    struct bide__out out = { 0 };

    *ret = (struct sq_value){ NULL, 0 };
    if (e->how != BROKER_DEAD || !e->tail || e->tail_len == 0)
        return NULL;
    bide__out_char(&out, '"');
    sq_base64_write(&out, e->tail, e->tail_len);
    bide__out_char(&out, '"');
    if (!out.failed)
        *ret = (struct sq_value){ out.data, out.len };
    return out.data;
}

static void change_state(struct sqs_broker *q, struct sq_state *s,
                         const struct sq_hand *h, const struct broker_end *e)
{
    s->attempt += e->counts;
    s->delivered += h->count;
    s->suspect = s->suspect && !e->ran;
    s->unsure = s->unsure && !e->ran;
    if (h->told)
        s->trial[0] = '\0';
    s->wait_ms = e->how == BROKER_AGAIN ? seconds(e->delay_ns) * 1000 : 0;
    add_error(q, s, e);
    if (e->how != BROKER_DEAD)
        return;
    snprintf(s->reason, sizeof s->reason, "%s", e->reason ? e->reason : "dead");
    snprintf(s->cls, sizeof s->cls, "%s", e->cls ? e->cls : "");
    s->died_ms = sq_server_ms(q);
}

/* One of a batch, from its hand to its copy. */
struct outgoing {
    struct sq_state state;
    char *tail;
    uint64_t token;
};

static int prepare(struct sqs_broker *q, const struct broker_end *e,
                   struct sq_hand *h, enum sq_where to, struct outgoing *o,
                   struct sq_letter *l)
{
    int status = sq_hand_state(q, h, &o->state);

    if (status != 0)
        return status;
    o->token = h->token;
    change_state(q, &o->state, h, e);
    o->tail = encode_tail(e, &o->state.tail);
    h->keeps = sq_lock(q, h, &o->state) && to != SQ_DEAD;
    if (!h->keeps)
        o->state.lock.len = 0;
    sq_hand_copy(q, h, to, &o->state, l);
    return 0;
}

/* Where a copy goes; SQ_PLACES: there is none. */
static enum sq_where target(const struct sq_hand *h, const struct broker_end *e)
{
    if (e->how == BROKER_DONE)
        return SQ_PLACES;
    if (e->how == BROKER_DEAD)
        return SQ_DEAD;
    return h->where == SQ_SUSPECTS && !e->ran ? SQ_SUSPECTS : SQ_MAIN;
}

static int copy_some(struct sqs_broker *q, enum sq_where to,
                     struct broker_end *ends, size_t n)
{
    struct outgoing out[SQ_BATCH];
    struct sq_letter letters[SQ_BATCH];
    int64_t until = INT64_MAX;
    size_t m = 0;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        struct sq_hand *h = ours(q, ends[i].message);
        if (!h || h->settled || h->copied || target(h, &ends[i]) != to)
            continue;
        until = h->until_ns < until ? h->until_ns : until;
        status = prepare(q, &ends[i], h, to, &out[m], &letters[m]);
        m += status == 0;
    }
    if (status == 0 && m > 0)
        status = sq_send(q, to, letters, m, until);
    for (size_t i = 0; i < m; i++) {
        if (letters[i].accepted)
            sq_hand_find(q, out[i].token)->copied = true;
        sq_state_done(&out[i].state);
        free(out[i].tail);
    }
    return status;
}

/* ===== places ===== */

/* The message itself stays, as the lock of its copy; a copy that ends, or has given
 * up its place, releases its lock. Before it is deleted itself: who dies in between
 * leaves a copy that is delivered again, not a group that nobody gets. */
static int settle_place(struct sqs_broker *q, struct sq_hand *h)
{
    int status;

    if (!h->keeps)
        return sq_lock_release(q, h);
    if (!h->in_place)
        return 0;
    status = sq_lock_hide(q, h, &h->settled);
    if (status == 0 && !h->settled)
        h->until_ns = 0; /* somebody else has it, and the copy is void */
    return status;
}

static int settle_places(struct sqs_broker *q, struct broker_end *ends, size_t n)
{
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        struct sq_hand *h = ours(q, ends[i].message);
        if (h && !h->settled && (h->copied || ends[i].how == BROKER_DONE))
            status = settle_place(q, h);
    }
    return status;
}

/* ===== who wants to know ===== */

static int tell_trials(struct sqs_broker *q, struct broker_end *ends, size_t n)
{
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        struct sq_hand *h = ours(q, ends[i].message);
        if (!h || !*h->trial || h->told || h->settled ||
            (ends[i].how == BROKER_AGAIN && !ends[i].counts))
            continue;
        status = sq_trial_tell(q, h->trial, ends[i].message->id,
                               ends[i].how == BROKER_DONE);
        h->told = status == 0;
    }
    return status;
}

/* ===== deletions ===== */

static int delete_some(struct sqs_broker *q, enum sq_where where,
                       struct broker_end *ends, size_t n)
{
    struct sq_entry entries[SQ_BATCH];
    uint64_t tokens[SQ_BATCH];
    int64_t until = INT64_MAX;
    size_t m = 0;

    for (size_t i = 0; i < n; i++) {
        struct sq_hand *h = ours(q, ends[i].message);
        if (!h || h->settled || h->where != where ||
            (ends[i].how != BROKER_DONE && !h->copied))
            continue;
        until = h->until_ns < until ? h->until_ns : until;
        tokens[m] = h->token;
        entries[m++] = (struct sq_entry){ .handle = sq_hand_handle(h) };
    }
    int status = m ? sq_delete(q, where, entries, m, until) : 0;
    for (size_t i = 0; i < m; i++)
        if (entries[i].done || entries[i].gone)
            sq_hand_find(q, tokens[i])->settled = true;
    return status;
}

static int settle_some(struct sqs_broker *q, struct broker_end *ends, size_t n)
{
    int status = tell_trials(q, ends, n);

    if (status == 0)
        status = copy_some(q, SQ_DEAD, ends, n);
    if (status == 0)
        status = copy_some(q, SQ_MAIN, ends, n);
    if (status == 0)
        status = copy_some(q, SQ_SUSPECTS, ends, n);
    if (status == 0)
        status = settle_places(q, ends, n);
    if (status == 0)
        status = delete_some(q, SQ_MAIN, ends, n);
    return status == 0 ? delete_some(q, SQ_SUSPECTS, ends, n) : status;
}

int sq_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i += SQ_BATCH)
        status = settle_some(q, ends + i, n - i < SQ_BATCH ? n - i : SQ_BATCH);
    if (status != 0)
        return status;
    q->counts_ns = 0;
    for (size_t i = 0; i < n; i++) {
        struct queue_message *m = ends[i].message;
        struct sq_hand *h = sq_hand_find(q, m->token);
        m->lost = !h || !h->settled;
        ends[i].result = m->lost ? BROKER_LOST : BROKER_SETTLED;
        if (!m->lost && ends[i].how == BROKER_AGAIN)
            sq_will_be_due(q, ends[i].delay_ns);
        if (h)
            sq_hand_drop(q, h);
    }
    return 0;
}
