/* Clients, their errors, and what time it is. */
#include "queue/kafka/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "queue/kafka/rebalance.h"

/* After it was put out of the group, librdkafka joins again by itself: if it has not
 * after so long, we do. */
#define SILENT_NS (15 * KF_S)

/* ===== errors ===== */

static bool is_for_good(rd_kafka_resp_err_t err)
{
    switch ((int)err) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
        return true;
    default:
        return false;
    }
}

int kf_fail(struct kafka_broker *q, rd_kafka_resp_err_t err, const char *doing)
{
    if (q->denied)
        return broker_fail(&q->b, BROKER_REFUSED, "kafka: %s", q->why);
    if (is_for_good(err))
        return broker_fail(&q->b, BROKER_REFUSED, "kafka: %s: %s", doing,
                           rd_kafka_err2str(err));
    return broker_fail(&q->b, BROKER_DOWN, "kafka: %s: %s%s%s", doing,
                       rd_kafka_err2str(err), *q->why ? ": " : "", q->why);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *arg)
{
    struct kafka_broker *q = arg;

    (void)rk;
    if (err == RD_KAFKA_RESP_ERR__AUTHENTICATION || err == RD_KAFKA_RESP_ERR__SSL)
        q->denied = true;
    if (err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
        err == RD_KAFKA_RESP_ERR__TRANSPORT || q->denied)
        q->away = true;
    snprintf(q->why, sizeof q->why, "%s", reason);
}

static void on_log(const rd_kafka_t *rk, int level, const char *fac,
                   const char *text)
{
    (void)rk; /* what matters comes as an error */
    (void)level;
    (void)fac;
    (void)text;
}

/* ===== clients ===== */

static const char *const ours[][2] = {
    { "client.id", "bide" },
    { "socket.timeout.ms", "5000" },
    { "reconnect.backoff.max.ms", "2000" },
    { "topic.metadata.refresh.interval.ms", "30000" },
    { "topic.metadata.refresh.fast.interval.ms", "50" },
};

static const char *const producers[][2] = {
    { "acks", "all" },
    { "enable.idempotence", "true" },
    { "linger.ms", "0" },
    { "message.timeout.ms", "5000" },
    /* the topic's limit counts, for copies of what others wrote */
    { "message.max.bytes", "16777216" },
    { "partitioner", "murmur2_random" }, /* as Java's producers */
};

static const char *const consumers[][2] = {
    { "enable.auto.commit", "false" },
    { "enable.auto.offset.store", "false" },
    { "auto.offset.reset", "earliest" },
    { "enable.partition.eof", "true" },
    { "partition.assignment.strategy", "cooperative-sticky" },
    { "queued.min.messages", "10000" },
    { "queued.max.messages.kbytes", "16384" },
    { "fetch.error.backoff.ms", "100" },
};

static int set(rd_kafka_conf_t *conf, const char *name, const char *value,
               char why[KF_WHY])
{
    return rd_kafka_conf_set(conf, name, value, why, KF_WHY) == RD_KAFKA_CONF_OK
               ? 0
               : -1;
}

static int set_all(rd_kafka_conf_t *conf, const char *const list[][2], size_t n,
                   char why[KF_WHY])
{
    for (size_t i = 0; i < n; i++)
        if (set(conf, list[i][0], list[i][1], why) != 0)
            return -1;
    return 0;
}

/* The lease is the session: less than 6 s no broker takes, as it comes. */
static int set_session(const struct kafka_broker *q, rd_kafka_conf_t *conf,
                       char why[KF_WHY])
{
    char ms[32], beat[32];
    int64_t session = q->lease_ns / KF_MS < 6000 ? 6000 : q->lease_ns / KF_MS;

    snprintf(ms, sizeof ms, "%lld",
             (long long)(session > 3600000 ? 3600000 : session));
    snprintf(beat, sizeof beat, "%lld",
             (long long)(session > 30000 ? 3000 : session / 10));
    return set(conf, "session.timeout.ms", ms, why) ||
           set(conf, "max.poll.interval.ms",
               session > 300000 ? ms : "300000", why) ||
           set(conf, "heartbeat.interval.ms", beat, why);
}

/* How long a partition of which enough was prefetched is not looked at again: a second
 * as librdkafka comes. Before 2.2 it does not have the setting, and is woken. */
static int set_rest(struct kafka_broker *q, rd_kafka_conf_t *conf, char why[KF_WHY])
{
    rd_kafka_conf_res_t result =
        rd_kafka_conf_set(conf, "fetch.queue.backoff.ms", "10", why, KF_WHY);

    q->wakes = result == RD_KAFKA_CONF_UNKNOWN;
    return result == RD_KAFKA_CONF_INVALID ? -1 : 0;
}

void kf_on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *arg);

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* While of one partition enough is here, the next request is for those that may be
 * empty: how long it is held back. */
static int set_wait(rd_kafka_conf_t *conf, char why[KF_WHY])
{
    return set(conf, "fetch.wait.max.ms", "100", why);
}

static int set_up(struct kafka_broker *q, rd_kafka_conf_t *conf, enum kf_role role,
                  char why[KF_WHY])
{
    if (set_all(conf, ours, COUNT(ours), why) ||
        set(conf, "bootstrap.servers", q->url.servers, why))
        return -1;
    if (role == KF_WRITES) {
        if (set_all(conf, producers, COUNT(producers), why))
            return -1;
        rd_kafka_conf_set_dr_msg_cb(conf, kf_on_delivery);
    } else if (set_all(conf, consumers, COUNT(consumers), why) ||
               set(conf, "group.id", q->group, why) || set_session(q, conf, why) ||
               set_rest(q, conf, why) ||
               (role == KF_FETCHES && set_wait(conf, why))) {
        return -1;
    }
    if (role == KF_BELONGS) {
        rd_kafka_conf_set_rebalance_cb(conf, kf_on_rebalance);
        if (kf_watch_joins(q, conf) != 0)
            return -1;
    }
    rd_kafka_conf_set_opaque(conf, q);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    for (size_t i = 0; i < q->url.n; i++)
        if (set(conf, q->url.names[i], q->url.values[i], why) != 0)
            return -1;
    return 0;
}

rd_kafka_t *kf_client(struct kafka_broker *q, enum kf_role role)
{
    const rd_kafka_type_t type = role == KF_WRITES ? RD_KAFKA_PRODUCER
                                                   : RD_KAFKA_CONSUMER;
    char why[KF_WHY] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_t *rk = NULL;

    if (set_up(q, conf, role, why) == 0)
        rk = rd_kafka_new(type, conf, why, sizeof why);
    if (!rk) {
        rd_kafka_conf_destroy(conf);
        broker_fail(&q->b, BROKER_REFUSED, "kafka: %s", why);
    }
    return rk;
}

int kf_reader(struct kafka_broker *q)
{
    if (!q->reader) {
        q->reader = kf_client(q, KF_READS);
        if (!q->reader)
            return BROKER_REFUSED;
        rd_kafka_poll_set_consumer(q->reader);
    }
    return 0;
}

/* ===== serving ===== */

/* Somebody said that no broker is there: is it still so? */
static int look_around(struct kafka_broker *q)
{
    rd_kafka_t *rk = q->consumer ? q->consumer : q->producer;
    const struct rd_kafka_metadata *m;
    rd_kafka_resp_err_t err = rd_kafka_metadata(rk, 0, NULL, &m, 1000);

    if (err)
        return kf_fail(q, err, "no broker answers");
    rd_kafka_metadata_destroy(m);
    q->away = false;
    q->why[0] = '\0';
    return 0;
}

/* Leaves the group and joins it, unless there is no need to. */
static int join_again(struct kafka_broker *q)
{
    if (!q->fenced_ns || bide_now_ns() - q->fenced_ns < SILENT_NS || q->leaving ||
        q->coming)
        return 0;
    q->fenced_ns = 0;
    rd_kafka_unsubscribe(q->consumer);
    return kf_join(q);
}

static void serve(rd_kafka_t *rk)
{
    rd_kafka_message_t *m;

    while ((m = rd_kafka_consumer_poll(rk, 0)) != NULL)
        rd_kafka_message_destroy(m); /* an error, which on_error() has seen */
}

int kf_ready(struct kafka_broker *q)
{
    bool serves = q->consumer && !q->grouped;
    int status = 0;

    rd_kafka_poll(q->producer, 0);
    if (serves) {
        serve(q->consumer);
        serve(q->fetcher);
        serve(q->retries);
    }
    if (q->away)
        status = look_around(q);
    if (serves && status == 0)
        status = join_again(q);
    return serves && status == 0 ? kf_serve_group(q) : status;
}

/* ===== time ===== */

int64_t kf_ms(const struct kafka_broker *q, int64_t steady_ns)
{
    return steady_ns / KF_MS + q->ahead_ms;
}

int64_t kf_now_ms(const struct kafka_broker *q)
{
    return kf_ms(q, bide_now_ns());
}

int64_t kf_steady_ns(const struct kafka_broker *q, int64_t ms)
{
    return (ms - q->ahead_ms) * KF_MS;
}
