/* The queue's settings against what the worker is about to do. */
#include "queue/sqs/check.h"

#include <stdio.h>
#include <string.h>

#include "bide/policy.h"
#include "queue/sqs/session.h"

#define HOUR_S INT64_C(3600)
#define DAY_S (24 * HOUR_S)

enum { RETENTION_MOST_S = 1209600 };

static int64_t number(struct sq_value a, const char *name)
{
    return sq_number(sq_member(a, name), 0);
}

static int64_t wait_s(const struct broker_plan *plan)
{
    return plan->longest_wait_ns / SQ_S;
}

/* How often SQS may hand a message out before all our attempts are used. A copy
 * is received once, again if its worker dies, and once more for each 12 h of a
 * wait over 15 min; on a FIFO queue, which delays nothing, of any wait. */
static int64_t receives(const struct sqs_broker *q,
                        const struct broker_plan *plan)
{
    int64_t n = 2;

    if (wait_s(plan) > SQ_DELAY_MOST_S || q->fifo)
        n += 1 + wait_s(plan) / SQ_HOP_S;
    return n;
}

static void check_redrive(struct sqs_broker *q, struct sq_value a,
                          const struct broker_plan *plan, broker_finding *fn,
                          void *arg)
{
    char text[1024], target[300], found[400], change[120];
    struct sq_value policy;
    int64_t need = receives(q, plan);

    sq_copy(sq_member(a, "RedrivePolicy"), text, sizeof text);
    policy = (struct sq_value){ text, strlen(text) };
    int64_t most = sq_number(sq_member(policy, "maxReceiveCount"), 0);
    if (most == 0)
        return;
    sq_copy(sq_member(policy, "deadLetterTargetArn"), target, sizeof target);
    snprintf(found, sizeof found,
             "RedrivePolicy has maxReceiveCount %lld: SQS moves a message to "
             "%.150s, without a reason, %s %lld receives are needed",
             (long long)most, target, most < need ? "although" : "where",
             (long long)need);
    snprintf(change, sizeof change,
             "remove the queue's RedrivePolicy, or set maxReceiveCount to %lld",
             (long long)(need < 100 ? 100 : need));
    if (most < need)
        fn(arg, BROKER_LOSS, found, change);
    else if (most < 2 * need)
        fn(arg, BROKER_WASTE, found, change);
}

static void check_retention(struct sqs_broker *q, struct sq_value a,
                            const struct broker_plan *plan, broker_finding *fn,
                            void *arg)
{
    int64_t has = number(a, "MessageRetentionPeriod");
    int64_t need = wait_s(plan) + HOUR_S;
    char found[300];

    if (q->fifo) /* one with a key stays, while copies of it wait: lock.h */
        need = wait_s(plan) + SQ_HIDE_MOST_S + HOUR_S;
    if (has == 0 || has >= RETENTION_MOST_S)
        return;
    snprintf(found, sizeof found,
             "MessageRetentionPeriod is %lld s: SQS deletes what is not done by "
             "then; the longest wait is %lld s, and %lld s are needed",
             (long long)has, (long long)wait_s(plan), (long long)need);
    if (has < need)
        fn(arg, BROKER_LOSS, found, "MessageRetentionPeriod=1209600 (14 days)");
    else if (has < 4 * DAY_S)
        fn(arg, BROKER_WASTE, found, "MessageRetentionPeriod=1209600 (14 days)");
    else
        fn(arg, BROKER_FINE, found, "MessageRetentionPeriod=1209600 is the most");
}

static void check_time(struct sq_value a, const struct broker_plan *plan,
                       broker_finding *fn, void *arg)
{
    char found[300];

    snprintf(found, sizeof found,
             "VisibilityTimeout is %lld s, and not used: a message is hidden "
             "for %lld s at a time, for as long as its worker beats",
             (long long)number(a, "VisibilityTimeout"),
             (long long)(plan->lease_ns / SQ_S));
    fn(arg, BROKER_FINE, found, "");
    if (plan->attempt_timeout_ns > SQ_RUN_MOST_S * SQ_S)
        fn(arg,
           plan->attempt_timeout_ns == BIDE_FOREVER ? BROKER_FINE
                                                    : BROKER_WASTE,
           "SQS hides a message for 12 h at most: a handler that works for 11 h "
           "50 min is stopped, as by a timeout",
           "--attempt-timeout under 11h 50m");
    if (number(a, "DelaySeconds") > 0) {
        snprintf(found, sizeof found,
                 "DelaySeconds of the queue is %lld: what others put waits that "
                 "long%s",
                 (long long)number(a, "DelaySeconds"),
                 number(a, "FifoQueue") ? ", and so does all that bide puts"
                                        : "");
        fn(arg, BROKER_WASTE, found, "DelaySeconds=0");
    }
}

static void check_kind(struct sqs_broker *q, struct sq_value a,
                       broker_finding *fn, void *arg)
{
    if (!q->fifo) {
        fn(arg, BROKER_FINE,
           "a standard queue delivers in no certain order, and an id twice is "
           "two messages with one idempotency key",
           "a FIFO queue keeps order by key, and one id for 5 minutes");
        return;
    }
    fn(arg, BROKER_FINE,
       "a message with a key keeps its place for 12 h, and may run for 4 h when "
       "it is retried; then it goes behind the others with its key",
       "");
    if (!sq_is(sq_member(a, "FifoThroughputLimit"), "perMessageGroupId"))
        fn(arg, BROKER_FINE, "SQS takes 300 requests a second on this queue",
           "FifoThroughputLimit=perMessageGroupId, "
           "DeduplicationScope=messageGroup");
}

static int check_dead(struct sqs_broker *q, int64_t size, int64_t retention,
                      broker_finding *fn, void *arg)
{
    struct sq_value a;
    char found[200], change[80];
    int status = q->urls[SQ_DEAD] ? 0 : sq_find_queue(q, SQ_DEAD);

    if (status != 0) /* a worker makes it */
        return status == BROKER_REFUSED ? 0 : status;
    if ((status = sq_attributes(q, SQ_DEAD, &a)) != 0)
        return status;
    if (number(a, "MaximumMessageSize") < size) {
        snprintf(found, sizeof found,
                 "%.90s takes %lld bytes: a dead letter may have %lld, and "
                 "could not be written",
                 q->names[SQ_DEAD], (long long)number(a, "MaximumMessageSize"),
                 (long long)size);
        snprintf(change, sizeof change, "MaximumMessageSize=%lld there",
                 (long long)size);
        fn(arg, BROKER_LOSS, found, change);
    }
    if (number(a, "MessageRetentionPeriod") < retention) {
        snprintf(found, sizeof found,
                 "%.90s keeps dead letters for %lld s only",
                 q->names[SQ_DEAD],
                 (long long)number(a, "MessageRetentionPeriod"));
        fn(arg, BROKER_WASTE, found,
           "MessageRetentionPeriod=1209600 (14 days) there");
    }
    return 0;
}

int sq_check(struct broker *b, const struct broker_plan *plan,
             broker_finding *fn, void *arg)
{
    struct sqs_broker *q = (struct sqs_broker *)b;
    struct sq_value a;
    int status = sq_attributes(q, SQ_MAIN, &a);

    if (status != 0)
        return status;
    int64_t size = number(a, "MaximumMessageSize");
    int64_t retention = number(a, "MessageRetentionPeriod");
    check_redrive(q, a, plan, fn, arg);
    check_retention(q, a, plan, fn, arg);
    check_time(a, plan, fn, arg);
    check_kind(q, a, fn, arg);
    return check_dead(q, size, retention, fn, arg);
}
