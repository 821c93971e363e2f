/* Joining the group, and what it gives and asks for. The group hands out partitions of
 * the queue's topic; the same partitions of the retry topics go with them. */
#include "queue/kafka/rebalance.h"

#include <poll.h>
#include <string.h>

#include "bide/run.h"
#include "queue/kafka/commit.h"
#include "queue/kafka/fetch.h"
#include "queue/kafka/lanes.h"
#include "queue/kafka/topics.h"

#define DRAIN_NS (10 * KF_S)
#define ASK_NS (3 * KF_S)
#define HURRY_NS (5 * KF_S)

enum { STEP_MS = 100 };

int kf_join(struct kafka_broker *q)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);

    rd_kafka_topic_partition_list_add(list, q->b.queue, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t err = rd_kafka_subscribe(q->consumer, list);
    rd_kafka_topic_partition_list_destroy(list);
    return err ? kf_fail(q, err, "joining the group") : 0;
}

/* ===== watching the member ===== */

/* Of Kafka's protocol: the request to join, and what may lead to one when it is
 * answered. So may our own answer(). */
enum { METADATA = 3, JOIN_GROUP = 11, HEARTBEAT = 12, SYNC_GROUP = 14 };

static rd_kafka_resp_err_t on_request(rd_kafka_t *rk, int sockfd, const char *broker,
                                      int32_t broker_id, int16_t api, int16_t version,
                                      int32_t id, size_t size, void *arg)
{
    struct kafka_broker *q = arg;

    (void)rk, (void)sockfd, (void)broker, (void)broker_id, (void)version, (void)id;
    (void)size;
    if (api == JOIN_GROUP)
        atomic_store(&q->joining, true);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_response(rd_kafka_t *rk, int sockfd, const char *broker,
                                       int32_t broker_id, int16_t api,
                                       int16_t version, int32_t id, size_t size,
                                       int64_t rtt, rd_kafka_resp_err_t err, void *arg)
{
    struct kafka_broker *q = arg;

    (void)rk, (void)sockfd, (void)broker, (void)broker_id, (void)version, (void)id;
    (void)size, (void)rtt, (void)err;
    if (api != METADATA && api != HEARTBEAT && api != SYNC_GROUP)
        return RD_KAFKA_RESP_ERR_NO_ERROR;
    atomic_store(&q->stirred, true);
    if (api == SYNC_GROUP) /* its answer is what ends joining, whatever it is */
        atomic_store(&q->joining, false);
    /* not for ever: it may be the thread that takes the commit */
    for (int i = 0; i < STEP_MS && atomic_load(&q->handing); i++)
        poll(NULL, 0, 1);
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *rk, const rd_kafka_conf_t *conf,
                                  void *arg, char *why, size_t size)
{
    (void)conf, (void)why, (void)size;
    rd_kafka_resp_err_t err =
        rd_kafka_interceptor_add_on_request_sent(rk, "bide", on_request, arg);
    return err ? err
               : rd_kafka_interceptor_add_on_response_received(rk, "bide",
                                                               on_response, arg);
}

int kf_watch_joins(struct kafka_broker *q, rd_kafka_conf_t *conf)
{
    return rd_kafka_conf_interceptor_add_on_new(conf, "bide", on_new, q) ? -1 : 0;
}

/* ===== committing between joins ===== */

/* Asks for an offset, which takes the way that a request to join takes: the answer
 * comes behind all that went that way before. */
static rd_kafka_resp_err_t ask_coordinator(struct kafka_broker *q, int64_t end_ns)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_resp_err_t err;

    rd_kafka_topic_partition_list_add(list, q->b.queue, 0);
    while ((err = rd_kafka_committed(q->consumer, list, STEP_MS)) != 0 &&
           !atomic_load(&q->joining) && bide_now_ns() < end_ns)
        rd_kafka_poll(q->producer, 5);
    rd_kafka_topic_partition_list_destroy(list);
    return err;
}

/* Until no request to join is under way, or may come of what was heard. The first
 * question is answered when librdkafka has dealt with that, the second is behind the
 * request that it has made of it. */
static rd_kafka_resp_err_t wait_for_calm(struct kafka_broker *q, int64_t end_ns)
{
    for (;;) {
        while (atomic_load(&q->joining) && bide_now_ns() < end_ns)
            rd_kafka_poll(q->producer, 5);
        if (atomic_load(&q->joining))
            return RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS;
        if (!atomic_exchange(&q->stirred, false))
            return 0;
        rd_kafka_resp_err_t err = ask_coordinator(q, end_ns);
        if (!err)
            err = ask_coordinator(q, end_ns);
        if (err)
            atomic_store(&q->stirred, true);
        if (err && bide_now_ns() >= end_ns)
            return err;
    }
}

/* Until librdkafka has dealt with what it was given before. */
static void wait_for_turn(struct kafka_broker *q)
{
    char *name = rd_kafka_memberid(q->consumer);

    if (name)
        rd_kafka_mem_free(q->consumer, name);
}

rd_kafka_resp_err_t kf_commit_between_joins(struct kafka_broker *q,
                                            const rd_kafka_topic_partition_list_t *list,
                                            int64_t end_ns)
{
    for (;;) {
        rd_kafka_resp_err_t err = wait_for_calm(q, end_ns);
        if (err)
            return err;
        if (rd_kafka_assignment_lost(q->consumer))
            return RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST;
        atomic_store(&q->handing, true); /* from here on, what comes in is held */
        bool calm = !atomic_load(&q->stirred) && !atomic_load(&q->joining);
        if (calm) {
            q->n_commits++;
            err = rd_kafka_commit_queue(q->consumer, list, q->commits, NULL,
                                        (void *)q->n_commits);
            if (!err && q->ahead > 0)
                kf_fetch_ahead(q); /* instead of waiting */
            wait_for_turn(q);
        }
        atomic_store(&q->handing, false);
        if (calm)
            return err;
    }
}

/* For each partition those of all topics, in the order of lanes' windows. */
static rd_kafka_topic_partition_list_t *
with_retries(struct kafka_broker *q, const rd_kafka_topic_partition_list_t *list)
{
    rd_kafka_topic_partition_list_t *all =
        rd_kafka_topic_partition_list_new(KF_TOPICS * list->cnt + 1);

    for (int i = 0; i < list->cnt; i++)
        for (int t = 0; t < KF_TOPICS; t++) {
            char name[KF_TOPIC_NAME];
            kf_topic(q, t, name);
            rd_kafka_topic_partition_list_add(all, name, list->elems[i].partition);
        }
    return all;
}

/* Tells the member that it may go on. It is given none of the partitions that it
 * stands for: the fetcher has them. */
static void answer(struct kafka_broker *q,
                   rd_kafka_error_t *(*how)(rd_kafka_t *rk,
                                            const rd_kafka_topic_partition_list_t *))
{
    rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(0);
    rd_kafka_error_t *failed = how(q->consumer, none);

    atomic_store(&q->stirred, true);
    if (failed)
        rd_kafka_error_destroy(failed);
    rd_kafka_topic_partition_list_destroy(none);
}

/* ===== giving away ===== */

static bool leaves(const struct kf_slot *s)
{
    return s->window->lane->leaves;
}

/* How many run there, of deliveries up to this one. */
static size_t running_there(const struct kafka_broker *q, uint64_t token)
{
    size_t n = 0;

    for (size_t i = 0; i < q->n_running; i++)
        n += leaves(q->running[i]) && q->running[i]->token <= token;
    return n;
}

static void drain(struct kafka_broker *q)
{
    q->draining = true;
    q->drain_ns = bide_now_ns() + DRAIN_NS;
}

/* Lets go of what the group has asked for, whatever runs there. */
static void leave_now(struct kafka_broker *q)
{
    rd_kafka_topic_partition_list_t *list = q->leaving;

    (void)kf_commit(q); /* if it fails, the next owner takes us for dead */
    for (int i = 0; i < list->cnt; i++) {
        struct kf_lane *l = kf_lane_of(q, list->elems[i].partition);
        if (l)
            kf_drop_lane(q, l);
    }
    answer(q, rd_kafka_incremental_unassign);
    rd_kafka_topic_partition_list_destroy(list);
    q->leaving = NULL;
    q->draining = false;
    q->hurry_ns = 0;
}

/* Whether it waits for us to join again. Who does not tell does not wait. */
static bool group_waits(struct kafka_broker *q)
{
    const struct rd_kafka_group_list *list;
    bool waits = false;

    if (rd_kafka_list_groups(q->producer, q->group, &list, 1000) != 0)
        return false;
    for (int i = 0; i < list->group_cnt; i++)
        waits = waits || strcmp(list->groups[i].state, "PreparingRebalance") == 0;
    rd_kafka_group_list_destroy(list);
    return waits;
}

static void serve_leaving(struct kafka_broker *q)
{
    int64_t now = bide_now_ns();

    if (running_there(q, UINT64_MAX) == 0) {
        leave_now(q);
        return;
    }
    if (!q->hurry_ns && now - q->asked_ns > ASK_NS) {
        if (group_waits(q)) {
            q->hurry_ns = now + HURRY_NS;
            q->draining = true;
        }
        q->asked_ns = bide_now_ns();
    }
    if (q->hurry_ns)
        return;
    if (q->draining && now >= q->drain_ns) {
        q->draining = false;
        q->hold_token = q->tokens;
    } else if (!q->draining && running_there(q, q->hold_token) == 0) {
        drain(q);
    }
}

bool kf_must_stop(const struct kafka_broker *q, const struct kf_slot *s)
{
    return q->hurry_ns && bide_now_ns() >= q->hurry_ns && leaves(s);
}

static void asked_for(struct kafka_broker *q,
                      const rd_kafka_topic_partition_list_t *list, bool lost)
{
    if (q->leaving)
        rd_kafka_topic_partition_list_destroy(q->leaving);
    q->leaving = rd_kafka_topic_partition_list_copy(list);
    for (int i = 0; i < list->cnt; i++) {
        struct kf_lane *l = kf_lane_of(q, list->elems[i].partition);
        if (l && lost)
            kf_drop_lane(q, l); /* others have it already */
        else if (l)
            l->leaves = true;
    }
    q->hurry_ns = 0;
    q->asked_ns = bide_now_ns();
    drain(q);
}

/* ===== getting ===== */

static void drop_all(struct kafka_broker *q,
                     const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++) {
        struct kf_lane *l = kf_lane_of(q, list->elems[i].partition);
        if (l)
            kf_drop_lane(q, l);
    }
}

/* Until what is there could be read, the group waits for us to accept it. */
static int serve_coming(struct kafka_broker *q)
{
    rd_kafka_topic_partition_list_t *all = with_retries(q, q->coming);
    int status = q->coming->cnt > 0 && !q->closing ? kf_add_lanes(q, all) : 0;

    rd_kafka_topic_partition_list_destroy(all);
    if (status != 0) {
        drop_all(q, q->coming);
        return status;
    }
    answer(q, rd_kafka_incremental_assign);
    rd_kafka_topic_partition_list_destroy(q->coming);
    q->coming = NULL;
    q->known_ns = bide_now_ns();
    q->joined = true;
    return 0;
}

static void given(struct kafka_broker *q, const rd_kafka_topic_partition_list_t *list)
{
    drop_all(q, list); /* what we had is no longer ours */
    if (q->coming)
        rd_kafka_topic_partition_list_destroy(q->coming);
    q->coming = rd_kafka_topic_partition_list_copy(list);
}

/* Only noted here: reading what is there takes requests, and may have to wait. */
void kf_on_rebalance(rd_kafka_t *rk, rd_kafka_resp_err_t err,
                     rd_kafka_topic_partition_list_t *list, void *arg)
{
    struct kafka_broker *q = arg;

    q->fenced_ns = 0;
    if (err == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        given(q, list);
    else
        asked_for(q, list, rd_kafka_assignment_lost(rk));
    if (q->closing) /* librdkafka waits for our answer */
        (void)kf_serve_group(q);
}

int kf_serve_group(struct kafka_broker *q)
{
    if (q->leaving)
        serve_leaving(q);
    return q->coming ? serve_coming(q) : 0;
}

void kf_give_up_group(struct kafka_broker *q)
{
    kf_drop_lanes(q, false);
    q->closing = true;
    (void)kf_serve_group(q);
}
