/* Records come into windows, and into line. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/ghosts.h"
#include "queue/kafka/lanes.h"
#include "queue/kafka/record.h"
#include "queue/kafka/session.h"
#include "queue/kafka/topics.h"

enum {
    BATCH = 64,
    WAKES_FROM = 8 /* librdkafka does not stop for fewer records than these */
};

#define AWAIT_NS (2 * KF_S)
#define STALL_NS (15 * KF_S)

/* Whether it runs here, and the group says so, too. It killed nobody: the group has
 * put us out and taken us back. */
static bool is_back(struct kafka_broker *q, struct kf_slot *s)
{
    if (kf_make_room(q) != 0 || !kf_ghost_back(q, s))
        return false;
    s->stage = KF_RUNNING;
    s->window->n_running++;
    q->running[q->n_running++] = s;
    return true;
}

static void fill(struct kafka_broker *q, struct kf_slot *s, rd_kafka_message_t *r)
{
    struct kf_facts f;
    bool known = s->stage == KF_AWAITED; /* we know when it is due, and its key */
    const struct kf_mark *m = kf_state_mark(&s->window->found, s->offset);
    int64_t now = bide_now_ns();

    kf_facts(&f, r, kf_ms(q, now));
    kf_window_hold(s, r);
    s->attempt = f.attempt;
    s->deliveries = m ? m->deliveries : f.deliveries;
    s->deaths = m ? m->deaths : f.deaths;
    s->suspect = m ? m->suspect : f.suspect;
    bool ran = m && m->running;
    bool here = strcmp(s->window->found.worker, q->worker) == 0;
    if (!known && kf_ghost_is_over(q, s)) {
        s->stage = KF_DONE; /* and freed when the group knows */
        s->window->dirty = true;
        return;
    }
    if (!(ran && here && is_back(q, s)))
        s->stage = ran && !here ? KF_ORPHAN : KF_WAITING;
    q->suspects = q->suspects || s->suspect;
    if (known) {
        q->n_awaited--;
        (void)kf_line_up(&q->order, s);
        return;
    }
    s->place = s->window->topic == KF_MAIN ? s->offset
               : f.place >= 0              ? f.place
                                           : INT64_MAX;
    s->due_ns = kf_steady_ns(q, f.written_ms + f.delay_ms);
    if (s->due_ns > now + f.delay_ms * KF_MS) /* a clock that went ahead of ours */
        s->due_ns = now + f.delay_ms * KF_MS;
    (void)kf_enter(&q->order, s, r->key, r->key ? r->key_len : 0);
}

/* Fetching is at `offset`: what we awaited before it does not come any more. */
static void pass_over(struct kafka_broker *q, struct kf_window *w, int64_t offset)
{
    for (int64_t at = w->next; at < offset && kf_window_has_room(w, at); at++) {
        struct kf_slot *s = *kf_window_at(w, at);
        if (!s || s->stage != KF_AWAITED)
            continue;
        kf_leave(&q->order, s);
        s->stage = KF_DONE;
        q->n_awaited--;
    }
    kf_window_skip(w, offset);
}

/* False: no room for it yet. */
static bool arrive(struct kafka_broker *q, struct kf_window *w,
                   rd_kafka_message_t *r)
{
    bool end = r->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;

    if (r->err && !end) {
        rd_kafka_message_destroy(r); /* it is fetched again */
        return true;
    }
    if (r->offset >= w->next)
        pass_over(q, w, r->offset);
    if (end || r->offset < w->next) {
        rd_kafka_message_destroy(r);
        return true;
    }
    if (!kf_window_has_room(w, r->offset)) {
        w->parked = r;
        return false;
    }
    struct kf_slot *s = *kf_window_at(w, r->offset);
    if (!s)
        s = kf_window_add(w, r->offset);
    if (!s) {
        w->parked = r;
        return false;
    }
    w->next = r->offset + 1;
    if (w->top < w->next)
        w->top = w->next;
    if (s == &kf_gone)
        rd_kafka_message_destroy(r);
    else
        fill(q, s, r);
    return true;
}

/* How many came. */
static size_t fetch_window(struct kafka_broker *q, struct kf_window *w)
{
    rd_kafka_message_t *batch[BATCH];
    size_t room = (size_t)(KF_WINDOW - (w->next - w->base));

    if (w->parked) {
        rd_kafka_message_t *r = w->parked;
        w->parked = NULL;
        if (!arrive(q, w, r))
            return 0;
    }
    if (kf_window_is_full(w) || rd_kafka_queue_length(w->queue) == 0)
        return 0;
    ssize_t n = rd_kafka_consume_batch_queue(w->queue, 0, batch,
                                             room < BATCH ? room : BATCH);
    for (ssize_t i = 0; i < n; i++)
        if (!arrive(q, w, batch[i]))
            while (++i < n) /* cannot be: we asked for what has room */
                rd_kafka_message_destroy(batch[i]);
    return n > 0 ? (size_t)n : 0;
}

/* Before 2.2 librdkafka fetches no more of a partition once enough of it was
 * prefetched, until something happens on that connection, or a second is over: any
 * request wakes it, and nobody waits for its answer. */
static void wake_fetcher(struct kafka_broker *q, const struct kf_window *w)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    char name[KF_TOPIC_NAME];

    kf_topic(q, w->topic, name);
    rd_kafka_topic_partition_list_add(list, name, w->lane->partition)->offset =
        RD_KAFKA_OFFSET_END;
    (void)rd_kafka_offsets_for_times(kf_fetcher(q, w->topic), list, 0);
    rd_kafka_topic_partition_list_destroy(list);
}

/* What was enough, whether by its number or by its size, is half gone. */
static void heed_level(struct kafka_broker *q, struct kf_window *w)
{
    size_t n = rd_kafka_queue_length(w->queue);
    bool sinks = n < w->peak / 2;

    if (sinks && w->peak >= WAKES_FROM)
        wake_fetcher(q, w);
    if (sinks || n > w->peak)
        w->peak = n;
}

/* Of the queue's topic, until `most` and a batch are in line. */
static size_t fetch_fresh(struct kafka_broker *q, struct kf_lane *l, size_t most)
{
    size_t sum = 0, got;

    while (q->order.fresh.n < most + BATCH &&
           (got = fetch_window(q, &l->windows[KF_MAIN])) > 0)
        sum += got;
    return sum;
}

static size_t fetch_all(struct kafka_broker *q, size_t most)
{
    size_t sum = 0, got;

    for (struct kf_lane *l = q->lanes; l; l = l->next) {
        for (int t = 0; t < KF_TOPICS && q->wakes; t++)
            heed_level(q, &l->windows[t]);
        for (int t = 1; t < KF_TOPICS; t++)
            while ((got = fetch_window(q, &l->windows[t])) > 0)
                sum += got;
        sum += fetch_fresh(q, l, most);
    }
    return sum;
}

/* A ghost would be done, or run again, as soon as its record is here: that is for the
 * next turn, which commits it. */
void kf_fetch_ahead(struct kafka_broker *q)
{
    for (struct kf_lane *l = q->lanes; l && q->n_ghosts == 0; l = l->next)
        (void)fetch_fresh(q, l, q->ahead);
}

static bool is_behind(const struct kafka_broker *q, const struct kf_lane *l)
{
    for (int t = 1; t < KF_TOPICS; t++)
        if (kf_window_is_behind(&l->windows[t]))
            return true;
    return q->n_awaited > 0;
}

/* Records that we have awaited for too long come as if we did not know of them. */
static void await_no_more(struct kafka_broker *q, struct kf_lane *l)
{
    for (int t = 0; t < KF_TOPICS; t++) {
        struct kf_window *w = &l->windows[t];
        for (int64_t at = w->next; at < w->top && kf_window_has_room(w, at); at++) {
            struct kf_slot *s = *kf_window_at(w, at);
            if (!s || s->stage != KF_AWAITED)
                continue;
            kf_leave(&q->order, s);
            kf_window_remove(w, at);
            q->n_awaited--;
        }
    }
}

/* What is known to be in a retry topic does not come in: a precaution, against faults
 * that we do not know of. */
static int heed_stall(struct kafka_broker *q, bool came)
{
    int64_t now = bide_now_ns();
    bool behind = false;
    int status = 0;

    for (const struct kf_lane *l = q->lanes; l && !behind; l = l->next)
        behind = is_behind(q, l);
    if (came || q->away || !behind)
        q->behind_ns = 0;
    else if (!q->behind_ns)
        q->behind_ns = now;
    if (!q->behind_ns || now - q->behind_ns < STALL_NS)
        return 0;
    q->behind_ns = 0;
    for (struct kf_lane *l = q->lanes; l && status == 0; l = l->next) {
        await_no_more(q, l);
        status = kf_fetch_anew(q, l);
    }
    return status;
}

/* Whether so many could run now; those that are for later do not count. */
static bool has_enough(const struct kafka_broker *q, size_t most)
{
    int64_t now = bide_now_ns();
    size_t n = 0;

    for (size_t i = 0; i < q->order.fresh.n && n < most; i++)
        n += q->order.fresh.at[i]->due_ns <= now;
    return n >= most;
}

int kf_fetch(struct kafka_broker *q, size_t most)
{
    int64_t end = bide_now_ns() + AWAIT_NS;

    int status = heed_stall(q, fetch_all(q, most) > 0);
    while (q->n_awaited > 0 && !has_enough(q, most) && bide_now_ns() < end &&
           !q->away) {
        if (fetch_all(q, most) == 0)
            poll(NULL, 0, 1);
        rd_kafka_poll(q->producer, 0);
    }
    if (q->n_awaited > 0 && !has_enough(q, most))
        q->away = true; /* it should have come: kf_ready() asks whether a broker is there */
    return status;
}

void kf_await(struct kafka_broker *q, int topic, int32_t partition, int64_t offset,
              int64_t place, int64_t delay_ns, uint32_t attempt, const void *key,
              size_t key_len)
{
    struct kf_lane *l = kf_lane_of(q, partition);
    struct kf_window *w = l ? &l->windows[topic] : NULL;

    if (!w || !kf_window_has_room(w, offset) || offset < w->next ||
        *kf_window_at(w, offset))
        return;
    struct kf_slot *s = kf_window_add(w, offset);
    if (!s)
        return;
    s->stage = KF_AWAITED;
    s->place = topic == KF_MAIN ? offset : place;
    s->due_ns = bide_now_ns() + delay_ns;
    s->attempt = attempt;
    q->n_awaited++;
    (void)kf_enter(&q->order, s, key, key_len);
}
