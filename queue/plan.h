/* queue/plan.h: whether a policy suits a worker, and what a broker has to know of it.
 *
 *     const char *wrong = queue_policy_wrong(&policy);
 *     if (wrong)
 *         die(wrong);
 *     struct broker_plan plan = queue_plan(&policy, at_once, lease_ns);
 *     broker->kind->check(broker, &plan, found, arg);
 */
#ifndef BIDE_QUEUE_PLAN_H
#define BIDE_QUEUE_PLAN_H

#include "bide/policy.h"
#include "queue/broker.h"

/* NULL, or what a worker cannot do, in a sentence. */
const char *queue_policy_wrong(const bide_policy_conf *policy);

struct broker_plan queue_plan(const bide_policy_conf *policy, uint32_t at_once,
                              int64_t lease_ns);

#endif
