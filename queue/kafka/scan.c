/* Reading partitions from one offset to their end. */
#include <stdlib.h>

#include "bide/run.h"
#include "queue/kafka/look.h"
#include "queue/kafka/topics.h"

static bool is_unknown(rd_kafka_resp_err_t err)
{
    return err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
           err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

int kf_edges(struct kafka_broker *q, rd_kafka_t *rk,
             const rd_kafka_topic_partition_list_t *all, int64_t which,
             rd_kafka_topic_partition_list_t **ret)
{
    *ret = rd_kafka_topic_partition_list_copy(all);
    for (int i = 0; i < all->cnt; i++)
        (*ret)->elems[i].offset = which;
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(rk, *ret, KF_PATIENCE_MS);
    for (int i = 0; i < all->cnt && !err; i++)
        err = (*ret)->elems[i].err;
    if (!err)
        return 0;
    rd_kafka_topic_partition_list_destroy(*ret);
    *ret = NULL;
    if (is_unknown(err) && kf_topics_agree(q) == BROKER_REFUSED)
        return BROKER_DOWN; /* until somebody adds partitions there as well */
    return kf_fail(q, err, "asking where its partitions end");
}

rd_kafka_topic_partition_list_t *kf_all(const struct kafka_broker *q, int from,
                                        int to)
{
    rd_kafka_topic_partition_list_t *all =
        rd_kafka_topic_partition_list_new((to - from + 1) * q->partitions);

    for (int t = from; t <= to; t++)
        for (int32_t p = 0; p < q->partitions; p++) {
            char name[KF_TOPIC_NAME];
            kf_topic(q, t, name);
            rd_kafka_topic_partition_list_add(all, name, p);
        }
    return all;
}

/* Which partition of the list a record is of. */
static int index_of(rd_kafka_topic_partition_list_t *list,
                    const rd_kafka_message_t *r)
{
    rd_kafka_topic_partition_t *at =
        r->rkt ? rd_kafka_topic_partition_list_find(
                     list, rd_kafka_topic_name(r->rkt), r->partition)
               : NULL;

    return at ? (int)(at - list->elems) : -1;
}

/* Polls until each partition is at its end, or fn has enough. */
static int read_on(struct kafka_broker *q, rd_kafka_topic_partition_list_t *at,
                   const rd_kafka_topic_partition_list_t *ends, int left,
                   kf_scan_fn *fn, void *arg)
{
    int64_t heard = bide_now_ns();
    bool enough = false;

    while (left > 0 && !enough) {
        rd_kafka_message_t *r = rd_kafka_consumer_poll(q->reader, 100);
        if (!r && bide_now_ns() - heard > 2 * KF_PATIENCE_MS * KF_MS)
            return kf_fail(q, RD_KAFKA_RESP_ERR__TIMED_OUT, "reading");
        if (!r)
            continue;
        int i = index_of(at, r);
        if (i >= 0 && (!r->err || r->err == RD_KAFKA_RESP_ERR__PARTITION_EOF)) {
            bool was = at->elems[i].offset < ends->elems[i].offset;
            heard = bide_now_ns();
            if (!r->err && was)
                enough = !fn(arg, i, r);
            at->elems[i].offset = r->err ? ends->elems[i].offset : r->offset + 1;
            left -= was && at->elems[i].offset >= ends->elems[i].offset;
        }
        rd_kafka_message_destroy(r);
    }
    return 0;
}

int kf_scan(struct kafka_broker *q, rd_kafka_topic_partition_list_t *from,
            kf_scan_fn *fn, void *arg)
{
    rd_kafka_topic_partition_list_t *ends;
    int left = 0, status = kf_edges(q, q->reader, from, RD_KAFKA_OFFSET_END, &ends);

    if (status != 0)
        return status;
    rd_kafka_topic_partition_list_t *some = rd_kafka_topic_partition_list_new(8);
    for (int i = 0; i < from->cnt; i++)
        if (from->elems[i].offset < ends->elems[i].offset) {
            rd_kafka_topic_partition_list_add(some, from->elems[i].topic,
                                              from->elems[i].partition)
                ->offset = from->elems[i].offset;
            left++;
        }
    if (left > 0) {
        rd_kafka_assign(q->reader, some);
        status = read_on(q, from, ends, left, fn, arg);
        rd_kafka_assign(q->reader, NULL);
    }
    rd_kafka_topic_partition_list_destroy(some);
    rd_kafka_topic_partition_list_destroy(ends);
    return status;
}
