/* The lanes that are ours: what their last owners left is read, and what runs there
 * goes back when they are given away. */
#include "queue/kafka/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/ghosts.h"
#include "queue/kafka/scan.h"
#include "queue/kafka/send.h"
#include "queue/kafka/topics.h"

/* ===== fetching ===== */

/* Adds its partitions in the topics that a fetcher reads, from where each window has
 * come to. */
static void add_partitions(rd_kafka_topic_partition_list_t *list,
                           const struct kafka_broker *q, const struct kf_lane *l,
                           const rd_kafka_t *fetcher)
{
    for (int t = 0; t < KF_TOPICS; t++) {
        char name[KF_TOPIC_NAME];
        if (kf_fetcher(q, t) != fetcher)
            continue;
        kf_topic(q, t, name);
        rd_kafka_topic_partition_list_add(list, name, l->partition)->offset =
            l->windows[t].next;
    }
}

typedef rd_kafka_error_t *change_fn(rd_kafka_t *rk,
                                    const rd_kafka_topic_partition_list_t *list);

/* Of a lane and of those before `end` behind it, together: what is begun later waits
 * for the answer to the request that is under way, which has it not. */
static int change(struct kafka_broker *q, const struct kf_lane *l,
                  const struct kf_lane *end, rd_kafka_t *fetcher, change_fn *fn)
{
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new(KF_TOPICS);

    for (; l != end; l = l->next)
        add_partitions(list, q, l, fetcher);
    rd_kafka_error_t *failed = fn(fetcher, list);
    int status = failed ? kf_fail(q, rd_kafka_error_code(failed), "fetching") : 0;

    if (failed)
        rd_kafka_error_destroy(failed);
    rd_kafka_topic_partition_list_destroy(list);
    return status;
}

static void stop_fetching(struct kafka_broker *q, const struct kf_lane *l)
{
    char why[BROKER_ERROR];

    memcpy(why, q->b.error, sizeof why); /* it may never have begun */
    (void)change(q, l, l->next, q->fetcher, rd_kafka_incremental_unassign);
    (void)change(q, l, l->next, q->retries, rd_kafka_incremental_unassign);
    memcpy(q->b.error, why, sizeof why);
}

static int start_fetching(struct kafka_broker *q, const struct kf_lane *l,
                          const struct kf_lane *end)
{
    int status = change(q, l, end, q->fetcher, rd_kafka_incremental_assign);

    return status ? status
                  : change(q, l, end, q->retries, rd_kafka_incremental_assign);
}

int kf_fetch_anew(struct kafka_broker *q, struct kf_lane *l)
{
    stop_fetching(q, l);
    return start_fetching(q, l, l->next);
}

/* ===== losing ===== */

static void free_lane(struct kf_lane *l)
{
    for (int t = 0; t < KF_TOPICS; t++)
        kf_window_done(&l->windows[t]);
    free(l);
}

static void forget_running(struct kafka_broker *q, const struct kf_lane *l)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n_running; i++)
        if (q->running[i]->window->lane != l)
            q->running[n++] = q->running[i];
        else if (q->running[i]->stage == KF_RUNNING)
            kf_ghost_add(q, q->running[i]);
    q->n_running = n;
}

static void forget_awaited(struct kafka_broker *q, const struct kf_lane *l)
{
    for (int t = 0; t < KF_TOPICS; t++)
        for (int i = 0; i < KF_WINDOW; i++) {
            const struct kf_slot *s = l->windows[t].slots[i];
            q->n_awaited -= s && s->stage == KF_AWAITED;
        }
}

void kf_drop_lane(struct kafka_broker *q, struct kf_lane *l)
{
    struct kf_lane **at = &q->lanes;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    stop_fetching(q, l);
    forget_running(q, l);
    forget_awaited(q, l);
    kf_forget(&q->order, l);
    free_lane(l);
}

/* What runs there goes back to the queue, and nobody is blamed. */
static void give_back_lane(struct kafka_broker *q, struct kf_lane *l)
{
    for (size_t i = 0; i < q->n_running; i++) {
        struct kf_slot *s = q->running[i];
        if (s->window->lane != l)
            continue;
        s->stage = KF_WAITING;
        s->window->dirty = true;
    }
    forget_running(q, l);
}

void kf_drop_lanes(struct kafka_broker *q, bool give_back)
{
    for (struct kf_lane *l = q->lanes; l && give_back; l = l->next)
        give_back_lane(q, l);
    if (give_back)
        (void)kf_commit(q);
    while (q->lanes)
        kf_drop_lane(q, q->lanes);
}

/* ===== getting ===== */

static int fill_lane(struct kf_lane *l, rd_kafka_topic_partition_t *at,
                     const rd_kafka_topic_partition_t *begins,
                     const rd_kafka_topic_partition_t *ends)
{
    for (int t = 0; t < KF_TOPICS; t++) {
        char state[KF_STATE_TEXT] = "";
        size_t len = at[t].metadata_size < KF_STATE_TEXT - 1
                         ? at[t].metadata_size
                         : KF_STATE_TEXT - 1;
        if (at[t].metadata && at[t].offset >= 0)
            memcpy(state, at[t].metadata, len);
        /* nothing committed, deleted by retention, or made again */
        if (at[t].offset < begins[t].offset || at[t].offset > ends[t].offset) {
            at[t].offset = begins[t].offset;
            state[0] = '\0';
        }
        if (kf_window_init(&l->windows[t], l, t, at[t].offset, state) != 0)
            return -1;
        l->windows[t].known_end = ends[t].offset;
    }
    return 0;
}

/* Whether due times are to be told that others have left in retry topics. */
static bool some_wait(const rd_kafka_topic_partition_list_t *all,
                      const rd_kafka_topic_partition_list_t *ends)
{
    for (int i = 0; i < all->cnt; i++)
        if (i % KF_TOPICS != KF_MAIN && ends->elems[i].offset > 0 &&
            all->elems[i].offset < ends->elems[i].offset)
            return true;
    return false;
}

/* Records come in at the window's own queue, and ring our bell. */
static void connect_lane(struct kafka_broker *q, struct kf_lane *l,
                         const rd_kafka_topic_partition_t *at)
{
    const uint64_t one = 1;

    for (int t = 0; t < KF_TOPICS; t++) {
        struct kf_window *w = &l->windows[t];
        w->queue = rd_kafka_queue_get_partition(kf_fetcher(q, t), at[t].topic,
                                                l->partition);
        rd_kafka_queue_forward(w->queue, NULL);
        rd_kafka_queue_io_event_enable(w->queue, q->bell, &one, sizeof one);
    }
}

/* Who leads all of them: librdkafka would ask for one after the other. */
static void find_leaders(struct kafka_broker *q)
{
    const struct rd_kafka_metadata *m;

    if (rd_kafka_metadata(q->fetcher, 1, NULL, &m, KF_PATIENCE_MS) == 0)
        rd_kafka_metadata_destroy(m);
    if (rd_kafka_metadata(q->retries, 1, NULL, &m, KF_PATIENCE_MS) == 0)
        rd_kafka_metadata_destroy(m);
}

int kf_add_lanes(struct kafka_broker *q, rd_kafka_topic_partition_list_t *all)
{
    rd_kafka_topic_partition_list_t *begins = NULL, *ends = NULL;
    struct kf_lane *const before = q->lanes;

    find_leaders(q);
    rd_kafka_resp_err_t err = rd_kafka_committed(q->consumer, all, KF_PATIENCE_MS);
    int status = err ? kf_fail(q, err, "reading the group's offsets") : 0;

    if (status == 0)
        status = kf_edges(q, q->fetcher, all, RD_KAFKA_OFFSET_BEGINNING, &begins);
    if (status == 0) /* by the other, so that both are connected when they fetch */
        status = kf_edges(q, q->retries, all, RD_KAFKA_OFFSET_END, &ends);
    if (status == 0 && !q->knows_time && some_wait(all, ends))
        status = kf_ask_time(q, all->elems[0].partition);
    for (int i = 0; i < all->cnt && status == 0; i += KF_TOPICS) {
        struct kf_lane *l = calloc(1, sizeof *l);
        if (!l || (l->partition = all->elems[i].partition,
                   fill_lane(l, &all->elems[i], &begins->elems[i],
                             &ends->elems[i])) != 0) {
            if (l)
                free_lane(l);
            status = BROKER_NO_MEMORY;
            break;
        }
        for (int t = 0; t < KF_TOPICS; t++)
            kf_ghosts_told(q, &l->windows[t]);
        l->next = q->lanes;
        q->lanes = l;
        connect_lane(q, l, &all->elems[i]);
    }
    if (status == 0)
        status = start_fetching(q, q->lanes, before);
    if (begins)
        rd_kafka_topic_partition_list_destroy(begins);
    if (ends)
        rd_kafka_topic_partition_list_destroy(ends);
    return status;
}
