/* How many there are: what partitions hold, less what their states say is done. */
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "bide/run.h"
#include "queue/kafka/dead.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/look.h"
#include "queue/kafka/record.h"

int kf_states(struct kafka_broker *q, rd_kafka_topic_partition_list_t **ret_all,
              struct kf_state **ret_states)
{
    rd_kafka_topic_partition_list_t *all, *begins;
    int status = kf_reader(q);

    if (status != 0)
        return status;
    all = kf_all(q, KF_MAIN, KF_TIERS);
    status = kf_edges(q, q->reader, all, RD_KAFKA_OFFSET_BEGINNING, &begins);
    rd_kafka_resp_err_t err =
        status ? 0 : rd_kafka_committed(q->reader, all, KF_PATIENCE_MS);
    if (err)
        status = kf_fail(q, err, "reading the group's offsets");
    struct kf_state *states = calloc((size_t)all->cnt + 1, sizeof *states);
    if (!states && status == 0)
        status = broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    for (int i = 0; i < all->cnt && status == 0; i++) {
        rd_kafka_topic_partition_t *at = &all->elems[i];
        char text[KF_STATE_TEXT] = "";
        if (at->metadata && at->offset >= 0)
            memcpy(text, at->metadata,
                   at->metadata_size < KF_STATE_TEXT - 1 ? at->metadata_size
                                                         : KF_STATE_TEXT - 1);
        if (at->offset < begins->elems[i].offset)
            at->offset = begins->elems[i].offset, text[0] = '\0';
        (void)kf_state_read(&states[i], at->offset, text);
    }
    if (begins)
        rd_kafka_topic_partition_list_destroy(begins);
    if (status == 0) {
        *ret_all = all;
        *ret_states = states;
        return 0;
    }
    rd_kafka_topic_partition_list_destroy(all);
    free(states);
    return status;
}

static uint64_t done_in(const struct kf_state *s, int64_t end)
{
    uint64_t n = 0;

    for (int64_t at = s->base; at < end && at - s->base < KF_WINDOW; at++)
        n += kf_state_done(s, at);
    return n;
}

static void count_partition(struct broker_counts *c, const struct kf_state *s,
                            int64_t end, bool later)
{
    uint64_t running = 0;

    for (size_t i = 0; i < s->n_marks; i++)
        running += s->marks[i].running;
    if (end <= s->base)
        return;
    uint64_t left = (uint64_t)(end - s->base) - done_in(s, end);
    c->running += running;
    left = left > running ? left - running : 0;
    if (later)
        c->later += left;
    else
        c->waiting += left;
}

/* The heads of partitions: since when the oldest waits, and when the next is due. */
struct heads {
    struct kafka_broker *q;
    const struct kf_state *states;
    struct broker_counts *counts;
    int64_t now_ms;
    int main;  /* so many of the partitions are of the queue's topic */
};

static void see(struct heads *h, bool later, int64_t due_ms)
{
    int64_t age = (h->now_ms - due_ms) * KF_MS;

    if (later && age < 0) {
        if (-age < h->counts->next_ns)
            h->counts->next_ns = -age;
    } else if (age + KF_MS > h->counts->oldest_ns) {
        h->counts->oldest_ns = age + KF_MS;
    }
}

static bool see_record(void *arg, int partition, const rd_kafka_message_t *r)
{
    struct heads *h = arg;
    const struct kf_state *s = &h->states[partition];
    const struct kf_mark *m = kf_state_mark(s, r->offset);
    struct kf_facts f;

    if (kf_state_done(s, r->offset) || (m && m->running))
        return true;
    kf_facts(&f, r, h->now_ms);
    if (partition >= h->main && f.written_ms + f.delay_ms <= h->now_ms &&
        h->counts->later > 0) {
        h->counts->later--;
        h->counts->waiting++;
    }
    see(h, partition >= h->main, f.written_ms + f.delay_ms);
    return true;
}

/* What a worker has in its windows it need not read, nor what it has written. */
static void see_windows(struct heads *h)
{
    for (struct kf_lane *l = h->q->lanes; l; l = l->next)
        for (int t = 0; t < KF_TOPICS; t++) {
            const struct kf_window *w = &l->windows[t];
            bool head = false;
            for (int64_t at = w->base; at < w->top && kf_window_has_room(w, at) &&
                                       !(head && t == KF_MAIN);
                 at++) {
                const struct kf_slot *s = *kf_window_at(w, at);
                if (!s || (s->stage != KF_WAITING && s->stage != KF_AWAITED))
                    continue;
                int64_t due = s->due_ns / KF_MS + h->q->ahead_ms;
                if (t != KF_MAIN && due <= h->now_ms && h->counts->later > 0) {
                    h->counts->later--;
                    h->counts->waiting++;
                }
                see(h, t != KF_MAIN, due);
                head = true;
            }
        }
}

int kf_counts(struct broker *b, struct broker_counts *ret)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    rd_kafka_topic_partition_list_t *all, *ends = NULL;
    struct kf_state *states;
    struct broker_counts c = { .next_ns = BIDE_FOREVER, .workers = UINT64_MAX };
    int status = kf_ready(q);

    if (status == 0)
        status = kf_states(q, &all, &states);
    if (status != 0)
        return status;
    status = kf_edges(q, q->reader, all, RD_KAFKA_OFFSET_END, &ends);
    for (int i = 0; i < all->cnt && status == 0; i++)
        count_partition(&c, &states[i], ends->elems[i].offset, i >= q->partitions);
    struct heads h = { q, states, &c, kf_now_ms(q), q->partitions };
    if (status == 0 && q->consume)
        (void)kf_fetch(q, 1), see_windows(&h);
    else if (status == 0)
        status = kf_scan(q, all, see_record, &h);
    if (status == 0)
        status = kf_grave_update(q);
    if (status == 0) {
        kf_grave_count(q, &c);
        *ret = c;
    }
    if (ends)
        rd_kafka_topic_partition_list_destroy(ends);
    rd_kafka_topic_partition_list_destroy(all);
    free(states);
    return status;
}
