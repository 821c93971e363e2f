/* A policy, as a queue sees it. */
#include "queue/plan.h"

const char *queue_policy_wrong(const bide_policy_conf *policy)
{
    if (policy->hedge.max > 0)
        return "a worker does not hedge: a message is with one handler at a "
               "time; take `hedge` out of its policy";
    return NULL;
}

static int64_t longest_wait(const bide_policy_conf *policy)
{
    int64_t lo, hi, most = 0;

    for (uint32_t n = 0; n + 1 < policy->attempts && n < 64; n++) {
        bide_backoff_range(&policy->backoff, n, most, &lo, &hi);
        most = hi > most ? hi : most;
    }
    return most;
}

struct broker_plan queue_plan(const bide_policy_conf *policy, uint32_t at_once,
                              int64_t lease_ns)
{
    return (struct broker_plan){
        .attempts = policy->attempts,
        .attempt_timeout_ns = policy->attempt_timeout_ns,
        .longest_wait_ns = longest_wait(policy),
        .lease_ns = lease_ns,
        .at_once = at_once,
    };
}
