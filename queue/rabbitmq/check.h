/* queue/rabbitmq/check.h: the broker's check(). */
#ifndef BIDE_QUEUE_RABBITMQ_CHECK_H
#define BIDE_QUEUE_RABBITMQ_CHECK_H

#include "queue/broker.h"

/* An argument of a queue that does harm. Threads: immutable. */
struct check_meaning {
    const char *name;  /* "x-max-length"; in a policy without "x-" */
    enum broker_severity severity;
    const char *means;
};

/* By the name in a policy. NULL: it does none. */
const struct check_meaning *check_meaning(const char *name);

int rmq_check(struct broker *b, const struct broker_plan *plan, broker_finding *fn,
              void *arg);

#endif
