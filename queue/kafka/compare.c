/* The settings of topics and of the client against the plan. */
#include <stdio.h>

#include "bide/policy.h"
#include "queue/kafka/check.h"
#include "queue/kafka/state.h"

#define MS INT64_C(1000000)

enum { TEXT = 400, RETRY_ADDS = 16 << 10 };

/* A message waits so long at most before somebody writes it again. */
static int64_t longest_ms(const struct broker_plan *plan)
{
    return plan->longest_wait_ns >= BIDE_FOREVER / 2 ? INT64_MAX
                                                     : plan->longest_wait_ns / MS;
}

static void check_retention(const struct kf_settings *s,
                            const struct broker_plan *plan, broker_finding *fn,
                            void *arg)
{
    char found[TEXT], change[TEXT];
    int64_t longest = longest_ms(plan);

    if (s->compacts) {
        snprintf(found, sizeof found,
                 "cleanup.policy of %s is compact: of messages with one key all but "
                 "the last are deleted",
                 s->name);
        snprintf(change, sizeof change,
                 "kafka-configs --alter --topic %s --add-config "
                 "cleanup.policy=delete",
                 s->name);
        fn(arg, BROKER_LOSS, found, change);
    }
    if (s->retention_ms >= 0 && !s->dead && s->retention_ms / 2 < longest) {
        snprintf(found, sizeof found,
                 "retention.ms of %s is %lld, and a message waits up to %lld: it "
                 "may be deleted before its time",
                 s->name, (long long)s->retention_ms, (long long)longest);
        snprintf(change, sizeof change,
                 "kafka-configs --alter --topic %s --add-config "
                 "retention.ms=1209600000",
                 s->name);
        fn(arg, BROKER_LOSS, found, change);
    }
    if (s->retention_ms >= 0 && s->dead) {
        snprintf(found, sizeof found,
                 "retention.ms of %s is %lld: dead letters are deleted then",
                 s->name, (long long)s->retention_ms);
        snprintf(change, sizeof change,
                 "kafka-configs --alter --topic %s --add-config retention.ms=-1",
                 s->name);
        fn(arg, BROKER_WASTE, found, change);
    }
    if (s->retention_bytes >= 0) {
        snprintf(found, sizeof found,
                 "retention.bytes of %s is %lld: what goes beyond is deleted, done "
                 "or not",
                 s->name, (long long)s->retention_bytes);
        snprintf(change, sizeof change,
                 "kafka-configs --alter --topic %s --add-config retention.bytes=-1",
                 s->name);
        fn(arg, BROKER_LOSS, found, change);
    }
}

static void check_copies(const struct kf_settings *s, broker_finding *fn, void *arg)
{
    char found[TEXT], change[TEXT];

    if (s->replicas > 0 && s->replicas < 2 && s->brokers > 1) {
        snprintf(found, sizeof found,
                 "%s has one replica among %d brokers: when its broker's disk dies, "
                 "its messages are lost",
                 s->name, s->brokers);
        snprintf(change, sizeof change,
                 "kafka-reassign-partitions to a replication factor of 3 for %s",
                 s->name);
        fn(arg, BROKER_LOSS, found, change);
    } else if (s->known && s->replicas > 1 && s->min_insync < 2) {
        snprintf(found, sizeof found,
                 "min.insync.replicas of %s is %lld: a message that was confirmed "
                 "may be on one broker only",
                 s->name, (long long)s->min_insync);
        snprintf(change, sizeof change,
                 "kafka-configs --alter --topic %s --add-config "
                 "min.insync.replicas=2",
                 s->name);
        fn(arg, BROKER_LOSS, found, change);
    } else if (s->known && s->replicas > 1 && s->min_insync >= s->replicas) {
        snprintf(found, sizeof found,
                 "min.insync.replicas of %s is %lld of %d: without one broker "
                 "nothing can be written",
                 s->name, (long long)s->min_insync, s->replicas);
        snprintf(change, sizeof change,
                 "kafka-configs --alter --topic %s --add-config "
                 "min.insync.replicas=%d",
                 s->name, s->replicas - 1);
        fn(arg, BROKER_WASTE, found, change);
    }
}

static void check_size(const struct kf_settings *s, broker_finding *fn, void *arg)
{
    char found[TEXT], change[TEXT];

    if (s->main || s->max_bytes >= s->queue_max_bytes + RETRY_ADDS)
        return;
    snprintf(found, sizeof found,
             "max.message.bytes of %s is %lld, of the queue's topic %lld: a message of "
             "another producer may have no room for what a retry adds, and is dead "
             "after one attempt then",
             s->name, (long long)s->max_bytes, (long long)s->queue_max_bytes);
    snprintf(change, sizeof change,
             "kafka-configs --alter --topic %s --add-config max.message.bytes=%lld",
             s->name, (long long)s->queue_max_bytes + 4 * RETRY_ADDS);
    fn(arg, BROKER_WASTE, found, change);
}

void kf_compare(const struct kf_settings *s, const struct broker_plan *plan,
                broker_finding *fn, void *arg)
{
    char found[TEXT], change[TEXT];

    check_copies(s, fn, arg);
    if (!s->known) {
        if (s->main)
            fn(arg, BROKER_WASTE,
               "the broker does not show its topics' settings: whether it keeps "
               "messages long enough is not known",
               "cleanup.policy delete, retention.ms above the longest wait, "
               "min.insync.replicas 2");
        return;
    }
    check_retention(s, plan, fn, arg);
    check_size(s, fn, arg);
    if (s->main || s->dead || s->log_append_time)
        return;
    snprintf(found, sizeof found,
             "message.timestamp.type of %s is CreateTime: after a rebalance, waits "
             "go by the clocks of workers",
             s->name);
    snprintf(change, sizeof change,
             "kafka-configs --alter --topic %s --add-config "
             "message.timestamp.type=LogAppendTime",
             s->name);
    fn(arg, BROKER_WASTE, found, change);
}

void kf_compare_broker(const struct kf_broker_settings *s, int64_t kept_ms,
                       broker_finding *fn, void *arg)
{
    char found[TEXT];

    if (!s->known)
        return;
    if (s->makes_topics)
        fn(arg, BROKER_WASTE,
           "auto.create.topics.enable is true: a mistyped queue is made by whoever "
           "asks for it, and kept as the broker's defaults say",
           "auto.create.topics.enable=false for all brokers");
    if (s->metadata_max < KF_STATE_TEXT) {
        snprintf(found, sizeof found,
                 "offset.metadata.max.bytes is %lld: what is done behind the offset "
                 "has no room, and no offset is committed",
                 (long long)s->metadata_max);
        fn(arg, BROKER_LOSS, found, "offset.metadata.max.bytes=4096 for all brokers");
    }
    if (kept_ms < 0 || s->offsets_kept_ms < kept_ms) {
        snprintf(found, sizeof found,
                 "offsets.retention.minutes is %lld: when no worker runs for so long, "
                 "what is done is forgotten, and all that the topic keeps runs again",
                 (long long)(s->offsets_kept_ms / 60000));
        fn(arg, BROKER_WASTE, found,
           "offsets.retention.minutes for all brokers, as long as retention.ms");
    }
}

void kf_compare_client(const struct kf_client_settings *s,
                       const struct broker_plan *plan, broker_finding *fn,
                       void *arg)
{
    char found[TEXT];

    if (!s->acks_all)
        fn(arg, BROKER_LOSS,
           "acks is not all: a message that was confirmed may be lost",
           "no acks in the URL");
    if (!s->idempotent)
        fn(arg, BROKER_WASTE,
           "enable.idempotence is false: what is sent twice is there twice",
           "no enable.idempotence in the URL");
    if (s->max_poll_ms < 60000) {
        snprintf(found, sizeof found,
                 "max.poll.interval.ms is %lld: bide asks every second, and while a "
                 "broker is slow at most every 30 s; then its messages go to others "
                 "while they run",
                 (long long)s->max_poll_ms);
        fn(arg, BROKER_LOSS, found, "max.poll.interval.ms=300000 in the URL");
    }
    if (s->session_ms * MS < plan->lease_ns) {
        snprintf(found, sizeof found,
                 "session.timeout.ms is %lld, the lease is %lld: a worker loses its "
                 "messages before",
                 (long long)s->session_ms, (long long)(plan->lease_ns / MS));
        fn(arg, BROKER_WASTE, found, "no session.timeout.ms in the URL");
    }
    if (s->session_ms > 45000) {
        snprintf(found, sizeof found,
                 "session.timeout.ms is %lld: messages of a worker that died wait so "
                 "long",
                 (long long)s->session_ms);
        fn(arg, BROKER_WASTE, found, "session.timeout.ms=30000");
    }
    if (plan->at_once > (uint32_t)s->partitions * KF_AT_ONCE) {
        snprintf(found, sizeof found,
                 "%u handlers at once, and %d partitions: of one partition %d run at "
                 "once at most",
                 plan->at_once, (int)s->partitions, KF_AT_ONCE);
        fn(arg, BROKER_WASTE, found,
           "fewer at once, or kafka-topics --alter --partitions, of its .retry and .dead "
           "topics and then of the topic, when no messages with keys are in it");
    }
    if (s->partitions == 1)
        fn(arg, BROKER_WASTE,
           "the topic has one partition: a second worker would have nothing to do",
           "kafka-topics --alter --partitions, of its .retry and .dead topics and then "
           "of the topic, when no messages with keys are in it");
}
