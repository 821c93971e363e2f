/* Listing a queue: what its partitions hold, and what their state says of it. */
#include <stdlib.h>
#include <string.h>

#include "queue/kafka/dead.h"
#include "queue/kafka/look.h"
#include "queue/kafka/record.h"
#include "queue/kafka/topics.h"
#include "queue/walk.h"

/* A walk, and what it needs. */
struct looking {
    struct kafka_broker *q;
    struct queue_walk *walk;
    struct kf_state *states; /* of live ones: by partition of the list */
    int status;
};

static char *header_text(const rd_kafka_message_t *r, const char *name)
{
    size_t len;
    const char *text = kf_header(r, name, &len);

    return strndup(text ? text : "", text ? len : 0);
}

static bool tell_dead(void *arg, int partition, const rd_kafka_message_t *r)
{
    struct looking *w = arg;
    struct kf_facts f;
    size_t tail_len;
    bool more = true;

    (void)partition;
    if (!kf_grave_has(w->q, r->partition, r->offset))
        return true;
    kf_facts(&f, r, kf_now_ms(w->q));
    struct queue_message *m = kf_message(r, &f);
    char *reason = header_text(r, "bide-reason"), *cls = header_text(r, "bide-class");
    const char *tail = kf_header(r, "bide-output", &tail_len);
    if (m && reason && cls)
        more = queue_walk_tell(
                w->walk, &(struct broker_row){ .message = m,
                                               .state = BROKER_IS_DEAD,
                                               .now_ms = kf_now_ms(w->q),
                                               .reason = reason,
                                               .cls = cls,
                                               .tail = tail ? tail : "",
                                               .tail_len = tail ? tail_len : 0,
                                               .died_ms = f.written_ms });
    else
        w->status = broker_fail(&w->q->b, BROKER_NO_MEMORY, "out of memory");
    queue_message_free(m);
    free(reason);
    free(cls);
    return more && w->status == 0;
}

static bool tell_live(void *arg, int partition, const rd_kafka_message_t *r)
{
    struct looking *w = arg;
    const struct kf_state *state = &w->states[partition];
    const struct kf_mark *mark = kf_state_mark(state, r->offset);
    int64_t now_ms = kf_now_ms(w->q);
    struct kf_facts f;

    if (kf_state_done(state, r->offset))
        return true;
    kf_facts(&f, r, now_ms);
    if (mark) {
        f.deliveries = mark->deliveries;
        f.deaths = mark->deaths;
        f.suspect = mark->suspect;
    }
    struct queue_message *m = kf_message(r, &f);
    if (!m) {
        w->status = broker_fail(&w->q->b, BROKER_NO_MEMORY, "out of memory");
        return false;
    }
    bool more = queue_walk_tell(
            w->walk, &(struct broker_row){
                             .message = m,
                             .state = mark && mark->running ? BROKER_IS_RUNNING
                                      : m->due_ms > now_ms  ? BROKER_IS_LATER
                                                            : BROKER_IS_WAITING,
                             .now_ms = now_ms,
                             .reason = "",
                             .cls = "",
                             .tail = "" });
    queue_message_free(m);
    return more;
}

/* ===== walking ===== */

static int walk_dead(struct looking *w)
{
    rd_kafka_topic_partition_list_t *all, *from;
    int status = kf_grave_update(w->q);

    if (status != 0)
        return status;
    all = kf_all(w->q, KF_TOPICS, KF_TOPICS);
    status = kf_edges(w->q, w->q->reader, all, RD_KAFKA_OFFSET_BEGINNING, &from);
    rd_kafka_topic_partition_list_destroy(all);
    if (status != 0)
        return status;
    status = kf_scan(w->q, from, tell_dead, w);
    rd_kafka_topic_partition_list_destroy(from);
    return status ? status : w->status;
}

static int walk_live(struct looking *w)
{
    rd_kafka_topic_partition_list_t *all;
    int status = kf_states(w->q, &all, &w->states);

    if (status != 0)
        return status;
    status = kf_scan(w->q, all, tell_live, w);
    rd_kafka_topic_partition_list_destroy(all);
    free(w->states);
    return status ? status : w->status;
}

static int walk(void *self, struct queue_walk *w)
{
    struct looking l = { .q = self, .walk = w };

    return w->filter->dead ? walk_dead(&l) : walk_live(&l);
}

int kf_each(struct broker *b, const struct broker_filter *filter, broker_each *fn,
            void *arg)
{
    struct kafka_broker *q = (struct kafka_broker *)b;
    int status = kf_ready(q);

    return status == 0 ? queue_walk(filter, fn, arg, walk, q) : status;
}
