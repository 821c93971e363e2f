/* The broker's table, from open to close. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "bide/run.h"
#include "queue/kafka/check.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/dead.h"
#include "queue/kafka/deliver.h"
#include "queue/kafka/lanes.h"
#include "queue/kafka/look.h"
#include "queue/kafka/put.h"
#include "queue/kafka/rebalance.h"
#include "queue/kafka/rescue.h"
#include "queue/kafka/topics.h"
#include "queue/make_id.h"

#define LEAVE_NS (8 * KF_S)

/* A retry adds headers: errors, and for a dead letter the last output. */
enum { MESSAGE_MAX = 1000000, RESERVE = 32 << 10 };

/* librdkafka before 2.2 aborts when a member leaves that was never told what is its
 * own. So we wait until it was; if that takes too long, the client stays until the
 * process ends, and so does what it reports to. False: it stays. */
static bool leave_group(struct kafka_broker *q)
{
    int64_t end = bide_now_ns() + LEAVE_NS;

    while (!q->joined && !q->away && bide_now_ns() < end) {
        (void)kf_ready(q);
        poll(NULL, 0, 10);
    }
    if (!q->joined)
        return false;
    kf_give_up_group(q);
    rd_kafka_consumer_close(q->consumer);
    rd_kafka_queue_destroy(q->commits);
    rd_kafka_destroy(q->consumer);
    return true;
}

static void free_broker(struct kafka_broker *q)
{
    bool left = !q->consumer || leave_group(q);

    kf_drop_lanes(q, false);
    if (q->coming)
        rd_kafka_topic_partition_list_destroy(q->coming);
    if (q->leaving)
        rd_kafka_topic_partition_list_destroy(q->leaving);
    rd_kafka_t *const readers[] = { q->reader, q->fetcher, q->retries };
    for (int i = 0; i < 3; i++)
        if (readers[i]) {
            rd_kafka_consumer_close(readers[i]);
            rd_kafka_destroy(readers[i]);
        }
    if (q->producer)
        rd_kafka_destroy(q->producer);
    if (q->bell >= 0)
        close(q->bell);
    kf_grave_free(q);
    kf_order_done(&q->order);
    kf_url_done(&q->url);
    free(q->running);
    free(q->ghosts);
    free(q->undo);
    if (left)
        free(q);
}

static int open_clients(struct kafka_broker *q)
{
    q->producer = kf_client(q, KF_WRITES);
    if (!q->producer)
        return BROKER_REFUSED;
    int status = kf_topics_ready(q);
    if (status != 0 || !q->consume)
        return status;
    q->fetcher = kf_client(q, KF_FETCHES);
    q->retries = q->fetcher ? kf_client(q, KF_READS) : NULL;
    q->consumer = q->retries ? kf_client(q, KF_BELONGS) : NULL;
    if (!q->consumer)
        return BROKER_REFUSED;
    rd_kafka_poll_set_consumer(q->fetcher);
    rd_kafka_poll_set_consumer(q->retries);
    rd_kafka_poll_set_consumer(q->consumer);
    q->commits = rd_kafka_queue_new(q->consumer);
    q->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!q->commits || q->bell < 0)
        return broker_fail(&q->b, BROKER_NO_MEMORY, "out of memory");
    return kf_join(q);
}

static void describe(struct kafka_broker *q, const struct broker_conf *conf)
{
    const char *limit = kf_url_setting(&q->url, "message.max.bytes");
    const char *group = kf_url_setting(&q->url, "group.id");
    long max = limit ? atol(limit) : MESSAGE_MAX;
    char id[QUEUE_ID_MAX + 1];
    struct timespec t;

    q->b.traits = (struct broker_traits){
        .max_body = max > 2 * RESERVE ? (size_t)max - RESERVE : (size_t)max / 2,
        .max_delay_ns = INT64_MAX / 4,
        .has_keys = true,
        .forgets_ids = true,
        .keys_stay = true,
        .partitioned = true
    };
    snprintf(q->b.queue, sizeof q->b.queue, "%s", conf->queue);
    snprintf(q->group, sizeof q->group, "%s%s", group ? "" : "bide.",
             group ? group : conf->queue);
    queue_make_id(id);
    snprintf(q->worker, sizeof q->worker, "%.*s", KF_WORKER, id);
    q->lease_ns = conf->lease_ns;
    q->max_deaths = conf->max_deaths;
    q->create = conf->create;
    q->consume = conf->consume;
    q->bell = -1;
    /* until a broker tells its own time, ours: read once, then counted on by a
     * clock that nobody sets */
    clock_gettime(CLOCK_REALTIME, &t);
    q->ahead_ms = t.tv_sec * 1000 + t.tv_nsec / KF_MS - bide_now_ns() / KF_MS;
}

static int open_queue(struct broker **ret, const struct broker_conf *conf,
                      char *error)
{
    struct kafka_broker *q = calloc(1, sizeof *q);
    char why[KF_WHY];

    if (!q || kf_order_init(&q->order) != 0) {
        free(q);
        snprintf(error, BROKER_ERROR, "out of memory");
        return BROKER_NO_MEMORY;
    }
    if (kf_url_read(&q->url, conf->url, why) != 0) {
        snprintf(error, BROKER_ERROR, "kafka: %s", why);
        q->bell = -1;
        free_broker(q);
        return BROKER_REFUSED;
    }
    describe(q, conf);
    int status = open_clients(q);
    if (status != 0) {
        memcpy(error, q->b.error, BROKER_ERROR);
        free_broker(q);
        return status;
    }
    *ret = &q->b;
    return 0;
}

static void close_queue(struct broker *b)
{
    struct kafka_broker *q = (struct kafka_broker *)b;

    if (q->consumer && !q->away)
        kf_drop_lanes(q, true);
    free_broker(q);
}

__attribute__((visibility("default")))
const struct broker_kind broker_kafka = {
    .name = "kafka",
    .open = open_queue,
    .close = close_queue,
    .put = kf_put,
    .take = kf_take,
    .beat = kf_beat,
    .settle = kf_settle,
    .rescue = kf_rescue,
    .begin = kf_begin_group,
    .commit = kf_commit_group,
    .wait_fd = kf_wait_fd,
    .woken = kf_woken,
    .counts = kf_counts,
    .each = kf_each,
    .redrive = kf_redrive,
    .check = kf_check,
    .queues = kf_queues,
};
