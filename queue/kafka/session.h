/* queue/kafka/session.h: the broker's own state, and how it talks to Kafka.
 *
 * Five clients: a producer; a member of the group, whose generation is what fences
 * off workers that were frozen; two fetchers, which read the partitions that the
 * member was given, and a reader for looking. The last three are in no group: a member
 * that is asked for a partition fetches nothing from any, until it has let go of it.
 * Each is made when it is needed.
 *
 * One fetcher is for the queue's topic, the other for the retry topics. A client has
 * one request under way to a broker, and one that asks for retry topics only, because
 * of the queue's topic enough is here, is held back by the broker until something comes
 * (fetch.wait.max.ms): meanwhile, what is here of the queue's topic would run out.
 *
 * Invariant: lanes come and go only in kf_ready(), never between kf_note() and
 * kf_commit(). */
#ifndef BIDE_QUEUE_KAFKA_SESSION_H
#define BIDE_QUEUE_KAFKA_SESSION_H

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>

#include "queue/broker.h"
#include "queue/kafka/order.h"
#include "queue/kafka/url.h"

#define KF_MS INT64_C(1000000)
#define KF_S INT64_C(1000000000)
#define KF_PATIENCE_MS 5000 /* shorter than the 10 s in which we must be back */

enum { KF_TOPIC_NAME = QUEUE_NAME_MAX + 16 };

/* How a slot was, should the commit fail. */
struct kf_undo {
    struct kf_slot *slot;
    struct kf_slot before;
};

struct kf_ghost; /* ghosts.c */
struct kf_grave; /* dead.c */

/* Threads: owned; librdkafka's callbacks run in our own thread, except for what
 * watches joins (rebalance.h). */
struct kafka_broker {
    struct broker b;
    struct kf_url url;
    rd_kafka_t *producer, *consumer, *fetcher, *retries, *reader;
    rd_kafka_queue_t *commits;
    char group[QUEUE_NAME_MAX + 256];
    char worker[KF_WORKER + 1];
    bool create, consume;
    uint32_t max_deaths;
    int64_t lease_ns;
    int32_t partitions;      /* of the queue's topic */
    int64_t keeps_ms[KF_TOPICS]; /* its topics' retention; 0: not asked yet */

    bool joined;             /* the group has told us what is ours */
    rd_kafka_topic_partition_list_t *coming, *leaving; /* rebalance.h; NULL: none */
    bool draining;           /* nothing new is started in what is leaving */
    int64_t drain_ns;        /* until then */
    uint64_t hold_token;     /* then, until what ran by then has ended */
    int64_t hurry_ns;        /* what still runs there then is stopped; 0: nothing */
    int64_t asked_ns;        /* the group, whether it waits for us */
    bool closing;
    atomic_bool joining;     /* a request to join is under way: rebalance.h */
    atomic_bool stirred;     /* the member may be about to send one */
    atomic_bool handing;     /* a commit over to librdkafka: what stirs it waits */
    bool away;               /* no broker answers, as far as we know */
    bool fenced;             /* the group went on without us, */
    int64_t fenced_ns;       /* then; 0: and told us what is ours now */
    bool wakes;              /* librdkafka has to be told to fetch on: fetch.c */
    int64_t behind_ns;  /* since when records that are there do not come; 0: none */
    bool denied;             /* wrong password, no certificate */
    char why[200];           /* of away or denied */
    int64_t known_ns;        /* when the group last knew us */
    int64_t ahead_ms;        /* the broker's clock before our steady one */
    bool knows_time;         /* it was told, or asked for: else it is from our clock */
    int bell;                /* eventfd */

    struct kf_lane *lanes;
    struct kf_order order;
    size_t n_awaited;
    struct kf_slot **running; /* what is out */
    size_t n_running, size_running;
    struct kf_ghost *ghosts; /* what was, and has not ended */
    size_t n_ghosts;
    uint64_t tokens;
    bool suspects;           /* some may be in line */
    char last_dead[KF_WORKER + 1]; /* worker whose death was reported */

    struct kf_undo *undo;
    size_t n_undo, size_undo;
    uintptr_t n_commits;
    bool grouped;            /* between begin() and commit() */
    size_t ahead;            /* how many to bring in meanwhile: fetch.h */
    struct kf_grave *grave;  /* the dead letters, as far as read */
};

/* ===== session.c ===== */

/* What a client is for; KF_READS: retry topics, or looking. */
enum kf_role { KF_WRITES, KF_BELONGS, KF_FETCHES, KF_READS };

/* A client with the URL's settings; NULL: q->b.error says why. */
rd_kafka_t *kf_client(struct kafka_broker *q, enum kf_role role);
int kf_reader(struct kafka_broker *q);

/* What reads a topic. */
static inline rd_kafka_t *kf_fetcher(const struct kafka_broker *q, int topic)
{
    return topic == KF_MAIN ? q->fetcher : q->retries;
}

/* Serves what has come in: rebalances, errors. 0 or a status. */
int kf_ready(struct kafka_broker *q);

/* Writes b->error for an error of librdkafka, and returns its status. */
int kf_fail(struct kafka_broker *q, rd_kafka_resp_err_t err, const char *doing);

/* Whether this is one: producers may write none (-1, or 0), librdkafka's mock cluster
 * tells 1234 ms after the beginning of 1970, and no clock that counts is so far
 * behind. */
static inline bool kf_is_time(int64_t ms)
{
    return ms > INT64_C(1262304000000); /* 2010 */
}

/* The broker's clock, as well as it is known: at a time of our own, and now. And our
 * own for a time of it. */
int64_t kf_ms(const struct kafka_broker *q, int64_t steady_ns);
int64_t kf_now_ms(const struct kafka_broker *q);
int64_t kf_steady_ns(const struct kafka_broker *q, int64_t ms);

/* The lane of a partition; NULL: it is not ours. */
static inline struct kf_lane *kf_lane_of(const struct kafka_broker *q,
                                         int32_t partition)
{
    struct kf_lane *l = q->lanes;

    while (l && l->partition != partition)
        l = l->next;
    return l;
}

#endif
