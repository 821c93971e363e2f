/* Settling: the copy or the dead letter first, confirmed; then the offset. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/record.h"
#include "queue/kafka/topics.h"

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
    if (s->window->topic != KF_MAIN && s->record)
        q->cached -= s->record->len < q->cached ? s->record->len : q->cached;
    kf_leave(&q->order, s);
    s->stage = KF_DONE;
    s->window->dirty = true;
    return 0;
}

/* ===== copies ===== */

/* A copy that goes to a tier, or to the dead letters. */
struct copy {
    struct kf_slot *slot;
    int64_t delay_ns;
    uint32_t attempt;
};

static struct kf_facts facts_of(const struct kf_slot *s)
{
    struct kf_facts f;

    kf_facts(&f, s->record);
    f.attempt = s->attempt;
    f.deliveries = s->deliveries;
    f.deaths = s->deaths;
    f.suspect = s->suspect;
    f.place = s->place == INT64_MAX ? -1 : s->place;
    f.delay_ms = 0;
    return f;
}

/* It stays where it is: nothing has to be remembered but the delivery. */
static bool stays(const struct broker_end *e)
{
    return e->how == BROKER_AGAIN && !e->counts && e->delay_ns <= 0 && !e->error;
}

static int describe(struct kafka_broker *q, struct kf_send *to,
                    const struct broker_end *e, const struct kf_slot *s)
{
    char errors[QUEUE_ERRORS_MAX + 1];
    struct kf_facts f = facts_of(s);
    int64_t delay = e->delay_ns > 0 ? e->delay_ns : 0;
    bool dead = e->how == BROKER_DEAD;

    f.attempt += e->counts;
    f.suspect = f.suspect && !e->ran;
    f.delay_ms = dead ? 0 : (delay + KF_MS - 1) / KF_MS;
    if (e->error)
        queue_errors_add(errors, e->message->errors, kf_now_ms(q),
                         e->message->attempt + 1, e->error);
    if (kf_copy(to, s->record, &f, e->error ? errors : e->message->errors) != 0)
        return -1;
    to->topic = dead ? KF_TOPICS : kf_tier(delay);
    to->partition = s->window->lane->partition;
    if (!dead)
        return 0;
    const char *reason = e->reason ? e->reason : "", *cls = e->cls ? e->cls : "";
    return kf_header_add(to, "bide-reason", reason, strlen(reason)) ||
           kf_header_add(to, "bide-class", cls, strlen(cls)) ||
           (e->tail_len && kf_header_add(to, "bide-output", e->tail, e->tail_len));
}

/* ===== one end ===== */

static void lose(struct broker_end *e)
{
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
        lose(e);
        return 0;
    }
    if (stays(e))
        return give_back(q, s, e->ran);
    if (sent && e->how == BROKER_AGAIN) /* before its followers come into line */
        kf_await(q, sent->topic, sent->partition, sent->offset,
                 s->place, e->delay_ns > 0 ? e->delay_ns : 0,
                 s->attempt + e->counts, s->record->key, s->record->key_len);
    s->copied = s->copied || sent;
    return kf_end_slot(q, s);
}

/* ===== all of them ===== */

static bool needs_copy(const struct kafka_broker *q, const struct broker_end *e)
{
    const struct kf_slot *s = kf_in_hand(q, e->message->token);

    return s && e->how != BROKER_DONE && !stays(e) && !s->copied;
}

/* Writes the copies, unless the group has gone on without us. */
static int send_copies(struct kafka_broker *q, struct broker_end *ends, size_t n,
                       struct kf_send *sends, struct kf_send **of)
{
    size_t k = 0;
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        of[i] = NULL;
        if (!needs_copy(q, &ends[i]))
            continue;
        of[i] = &sends[k++];
        if (describe(q, of[i], &ends[i],
                     kf_in_hand(q, ends[i].message->token)) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    if (k > 0 && status == 0)
        status = kf_send(q, sends, k);
    for (size_t i = 0; i < n && status != 0; i++) {
        struct kf_slot *s = kf_in_hand(q, ends[i].message->token);
        if (of[i] && of[i]->over && !of[i]->err && s)
            s->copied = true; /* not a second time, when we are asked again */
    }
    return status;
}

static int settle_all(struct kafka_broker *q, struct broker_end *ends, size_t n,
                      struct kf_send *sends, struct kf_send **of)
{
    int status = send_copies(q, ends, n, sends, of);

    for (size_t i = 0; i < n && status == 0; i++)
        if (finish(q, &ends[i], of[i]) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    int committed = kf_commit(q);
    return status ? status : committed;
}

int kf_settle(struct broker *b, struct broker_end *ends, size_t n)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    struct kf_send *sends = calloc(n + 1, sizeof *sends);
    struct kf_send **of = calloc(n + 1, sizeof(struct kf_send *));
    int status = sends && of ? kf_ready(q)
                             : broker_fail(b, BROKER_NO_MEMORY, "out of memory");

    q->fenced = false;
    if (status == 0)
        status = kf_prove(q); /* before a copy is written */
    if (status == 0)
        status = settle_all(q, ends, n, sends, of);
    if (status != 0 && q->fenced) { /* others have them */
        for (size_t i = 0; i < n; i++)
            lose(&ends[i]);
        status = 0;
    }
    if (sends)
        kf_send_done(sends, n);
    free(sends);
    free(of);
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
    for (size_t i = 0; i < n; i++)
        running[i]->lost = running[i]->lost || !kf_in_hand(q, running[i]->token);
    return 0;
}

/* ===== followers ===== */

/* The message before which it has to wait, if that waits in a retry topic. */
static const struct kf_slot *leader(const struct kf_slot *s, int64_t now_ns)
{
    const struct kf_slot *first = s->key ? s->key->first : NULL;

    return first && first != s && first->window->topic != KF_MAIN &&
                   first->place != INT64_MAX && first->due_ns > now_ns &&
                   (first->stage == KF_WAITING || first->stage == KF_AWAITED)
               ? first
               : NULL;
}

static int move_one(struct kf_send *to, const struct kf_slot *s,
                    const struct kf_slot *first, int64_t now_ns)
{
    struct kf_facts f = facts_of(s);
    char errors[1] = "";

    f.delay_ms = (first->due_ns - now_ns) / KF_MS + 1;
    if (kf_copy(to, s->record, &f, errors) != 0)
        return -1;
    to->topic = first->window->topic;
    to->partition = s->window->lane->partition;
    return 0;
}

enum { MOVES = 256 };

static size_t find_followers(struct kafka_broker *q, struct kf_slot **to,
                             int64_t now_ns)
{
    size_t n = 0;

    for (struct kf_lane *l = q->lanes; l; l = l->next) {
        struct kf_window *w = &l->windows[KF_MAIN];
        for (int64_t at = w->base; at < w->next && n < MOVES; at++) {
            struct kf_slot *s = *kf_window_at(w, at);
            if (s && s->stage == KF_WAITING && leader(s, now_ns))
                to[n++] = s;
        }
    }
    return n;
}

int kf_move_followers(struct kafka_broker *q)
{
    struct kf_slot *list[MOVES];
    struct kf_send sends[MOVES];
    int64_t now = bide_now_ns(), due[MOVES];
    size_t n = find_followers(q, list, now), described = 0;
    int status = n ? kf_prove(q) : 0;

    if (n == 0 || status != 0)
        return q->fenced ? 0 : status;
    for (size_t i = 0; i < n && status == 0; i++) {
        const struct kf_slot *first = leader(list[i], now);
        due[i] = first->due_ns;
        described = i + 1;
        if (move_one(&sends[i], list[i], first, now) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    if (status == 0)
        status = kf_send(q, sends, n);
    for (size_t i = 0; i < n && status == 0; i++) {
        kf_await(q, sends[i].topic, sends[i].partition, sends[i].offset,
                 list[i]->place, due[i] - bide_now_ns(), list[i]->attempt,
                 list[i]->record->key, list[i]->record->key_len);
        if (kf_end_slot(q, list[i]) != 0)
            status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    }
    kf_send_done(sends, described);
    return status;
}
