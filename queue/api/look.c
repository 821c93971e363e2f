/* What is in a queue, for the program that has it open. */
#include "lib/sized.h"
#include "queue/api/api.h"
#include "queue/api/deliver.h"

int bide_queue_counts_get_sized(bide_queue *q, bide_queue_counts *ret,
                                size_t size, char why[BIDE_QUEUE_WHY])
{
    struct broker_counts c;

    if (!q || !ret)
        return queue_fail(why, BIDE_EINVAL, "there is no %s",
                          q ? "place for the counts" : "queue");
    pthread_mutex_lock(&q->lock);
    int rc = queue_status(why, q->broker->kind->counts(q->broker, &c),
                          q->broker->error);
    pthread_mutex_unlock(&q->lock);
    if (rc < 0)
        return rc;
    bide_queue_counts counts = { .waiting = c.waiting,
                                 .held = c.held,
                                 .later = c.later,
                                 .running = c.running,
                                 .dead = c.dead,
                                 .oldest_ns = c.oldest_ns,
                                 .next_ns = c.next_ns };
    bide__sized_out(ret, size, &counts, sizeof counts);
    return 0;
}

/* ===== one by one ===== */

struct looking {
    const char *queue;
    bool (*fn)(void *ctx, const bide_queue_row *row);
    void *ctx;
};

static bool show(void *arg, const struct broker_row *row)
{
    static const bide_queue_state states[] = {
        [BROKER_IS_WAITING] = BIDE_QUEUE_WAITING,
        [BROKER_IS_HELD] = BIDE_QUEUE_HELD,
        [BROKER_IS_LATER] = BIDE_QUEUE_LATER,
        [BROKER_IS_RUNNING] = BIDE_QUEUE_RUNNING,
        [BROKER_IS_DEAD] = BIDE_QUEUE_DEAD,
    };
    const struct looking *l = arg;
    struct delivery d;

    delivery_of(&d, l->queue, row->message);
    bide_queue_row shown = { .message = &d.message,
                             .state = states[row->state],
                             .reason = row->reason ? row->reason : "",
                             .cls = row->cls ? row->cls : "",
                             .died_ms = row->died_ms,
                             .output = row->tail,
                             .output_len = row->tail_len };
    return l->fn(l->ctx, &shown);
}

int bide_queue_look_sized(bide_queue *q, const bide_queue_filter *filter,
                          size_t size,
                          bool (*fn)(void *ctx, const bide_queue_row *row),
                          void *ctx, char why[BIDE_QUEUE_WHY])
{
    static const bide_queue_filter all;
    bide_queue_filter room;

    if (!q || !fn)
        return queue_fail(why, BIDE_EINVAL, "there is no %s",
                          q ? "function" : "queue");
    if (!filter)
        filter = &all;
    else if (!(filter = bide__sized_in(filter, size, &room, sizeof room)))
        return queue_fail(why, BIDE_ESIZE, "%s", bide_strerror(BIDE_ESIZE));
    struct broker_filter f = { .id = filter->id,
                               .reason = filter->reason,
                               .since_ms = filter->since_ms,
                               .until_ms = filter->until_ms,
                               .dead = filter->dead,
                               .most = filter->most };
    struct looking l = { q->name, fn, ctx };
    pthread_mutex_lock(&q->lock);
    int rc = queue_status(why, q->broker->kind->each(q->broker, &f, show, &l),
                          q->broker->error);
    pthread_mutex_unlock(&q->lock);
    return rc;
}
