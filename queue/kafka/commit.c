/* What has changed becomes durable in one request, which the group refuses if it no
 * longer knows us. */
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/lanes.h"
#include "queue/kafka/rebalance.h"
#include "queue/kafka/session.h"
#include "queue/kafka/topics.h"

/* ===== undoing ===== */

int kf_note(struct kafka_broker *q, struct kf_slot *s)
{
    if (q->n_undo == q->size_undo) {
        size_t size = q->size_undo ? 2 * q->size_undo : 64;
        struct kf_undo *more = realloc(q->undo, size * sizeof *more);
        if (!more)
            return -1;
        q->undo = more;
        q->size_undo = size;
    }
    q->undo[q->n_undo++] = (struct kf_undo){ .slot = s, .before = *s };
    return 0;
}

static void back_in_hand(struct kafka_broker *q, struct kf_slot *s, bool runs)
{
    for (size_t i = 0; i < q->n_running; i++)
        if (q->running[i] == s) {
            if (!runs)
                q->running[i] = q->running[--q->n_running];
            return;
        }
    if (runs)
        q->running[q->n_running++] = s; /* it was there, so there is room */
}

/* In the order opposite to what was done. */
static void undo_all(struct kafka_broker *q)
{
    while (q->n_undo > 0) {
        struct kf_undo *u = &q->undo[--q->n_undo];
        struct kf_slot *s = u->slot;
        bool ran = s->stage == KF_RUNNING, runs = u->before.stage == KF_RUNNING;
        s->window->n_running += (size_t)runs - (size_t)ran;
        s->stage = u->before.stage;
        s->attempt = u->before.attempt;
        s->deliveries = u->before.deliveries;
        s->deaths = u->before.deaths;
        s->suspect = u->before.suspect;
        s->token = u->before.token;
        s->window->dirty = true;
        back_in_hand(q, s, runs);
        if (u->before.key && !s->key && s->record)
            (void)kf_enter(&q->order, s, s->record->key, s->record->key_len);
        else
            (void)kf_line_up(&q->order, s);
    }
}

/* ===== committing ===== */

static void add_window(struct kafka_broker *q, rd_kafka_topic_partition_list_t *list,
                       struct kf_window *w)
{
    struct kf_state state;
    char name[KF_TOPIC_NAME], text[KF_STATE_TEXT];

    kf_topic(q, w->topic, name);
    rd_kafka_topic_partition_t *at =
        rd_kafka_topic_partition_list_add(list, name, w->lane->partition);
    kf_window_state(w, &state);
    memcpy(state.worker, q->worker, sizeof state.worker);
    state.n_running = (uint32_t)q->n_running;
    kf_state_write(text, &state);
    w->dirty = false;
    at->offset = state.base;
    at->metadata = strdup(text);
    at->metadata_size = at->metadata ? strlen(text) : 0;
}

/* Whether somebody who reads it would blame wrongly: it matters whether one
 * message runs in a process, or several. */
static bool is_stale(const struct kafka_broker *q, const struct kf_window *w)
{
    return w->n_running > 0 && (w->told_running == 1) != (q->n_running == 1);
}

static rd_kafka_topic_partition_list_t *gather(struct kafka_broker *q, bool prove)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);

    for (struct kf_lane *l = q->lanes; l; l = l->next)
        for (int t = 0; t < KF_TOPICS; t++)
            if (l->windows[t].dirty || is_stale(q, &l->windows[t]) ||
                (prove && t == KF_MAIN && list->cnt == 0))
                add_window(q, list, &l->windows[t]);
    return list;
}

/* The window that an offset is of. */
static struct kf_window *window_of(const struct kafka_broker *q,
                                   const rd_kafka_topic_partition_t *at)
{
    struct kf_lane *l = kf_lane_of(q, at->partition);

    for (int t = 0; l && t < KF_TOPICS; t++) {
        char name[KF_TOPIC_NAME];
        kf_topic(q, t, name);
        if (strcmp(name, at->topic) == 0)
            return &l->windows[t];
    }
    return NULL;
}

static void committed(struct kafka_broker *q,
                      const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        struct kf_window *w = window_of(q, &list->elems[i]);
        if (!w)
            continue;
        w->told_running = (uint32_t)q->n_running;
        kf_window_committed(w);
    }
}

static void not_committed(struct kafka_broker *q,
                          const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        struct kf_window *w = window_of(q, &list->elems[i]);
        if (w)
            w->dirty = true;
    }
    undo_all(q);
}

/* The answer to our last request: earlier ones may come in late. */
static rd_kafka_resp_err_t answer(struct kafka_broker *q)
{
    int64_t end = bide_now_ns() + KF_PATIENCE_MS * KF_MS;

    for (;;) {
        int64_t left = (end - bide_now_ns()) / KF_MS;
        rd_kafka_event_t *e = left > 0 ? rd_kafka_queue_poll(q->commits, (int)left)
                                       : NULL;
        if (!e)
            return RD_KAFKA_RESP_ERR__TIMED_OUT;
        bool is_it = (uintptr_t)rd_kafka_event_opaque(e) == q->n_commits;
        rd_kafka_resp_err_t err = rd_kafka_event_error(e);
        const rd_kafka_topic_partition_list_t *list =
            rd_kafka_event_topic_partition_list(e);
        for (int i = 0; list && i < list->cnt && !err; i++)
            err = list->elems[i].err;
        rd_kafka_event_destroy(e);
        if (is_it)
            return err;
    }
}

static bool is_fenced(rd_kafka_resp_err_t err)
{
    return err == RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID ||
           err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID ||
           err == RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST;
}

static rd_kafka_resp_err_t request(struct kafka_broker *q,
                                   const rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_resp_err_t err;
    int64_t end = bide_now_ns() + KF_PATIENCE_MS * KF_MS;

    /* While others join, the group asks to wait, or has gone on to a generation that
     * librdkafka is about to learn of. What is ours stays ours until we are told in
     * kf_ready(): a member that was put out gets another error. */
    do {
        err = kf_commit_between_joins(q, list, end);
        if (!err)
            err = answer(q);
        if (err != RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS &&
            err != RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION)
            return err;
        rd_kafka_poll(q->producer, 50);
    } while (bide_now_ns() < end);
    return err;
}

static int commit(struct kafka_broker *q, bool prove)
{
    rd_kafka_topic_partition_list_t *list = gather(q, prove);
    int64_t now = bide_now_ns();
    rd_kafka_resp_err_t err = list->cnt ? request(q, list) : 0;

    q->fenced = false;
    if (!err) {
        committed(q, list);
        q->n_undo = 0;
        if (list->cnt)
            q->known_ns = now;
    } else {
        not_committed(q, list);
        q->fenced = is_fenced(err);
        if (q->fenced) {
            q->fenced_ns = now;
            kf_drop_lanes(q, false);
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    return err ? kf_fail(q, err, "committing offsets") : 0;
}

int kf_commit(struct kafka_broker *q)
{
    return q->grouped ? 0 : commit(q, false);
}

int kf_prove(struct kafka_broker *q)
{
    if (!q->lanes || bide_now_ns() - q->known_ns < q->lease_ns / 4)
        return 0;
    return commit(q, true);
}

/* ===== several verbs in one commit ===== */

int kf_begin_group(struct broker *b)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = kf_ready(q);

    q->grouped = status == 0;
    q->ahead = 0;
    return status;
}

int kf_commit_group(struct broker *b)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status;

    if (!q->grouped)
        return 0;
    q->grouped = false;
    status = commit(q, false);
    q->ahead = 0; /* other commits are made at any time */
    return status;
}
