/* Retry budgets: how many retries all the calls of a dependency may make.
 *
 * Four kinds behind four verbs. A retry is paid for when it is decided upon, not
 * when it is sent, so that a thousand calls that wait in backoff cannot all find
 * the same budget unspent. */
#ifndef BIDE_LIB_BUDGET_H
#define BIDE_LIB_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/outcome.h"
#include "lane.h"
#include "policy.h"
#include "spend.h"

struct bide__budget {
    struct bide__spend spend;   /* window */
    _Atomic int64_t level;      /* quota: tokens; throttle: millionths of a
                                   token; in_flight: retries outstanding */
    _Atomic int64_t calls;      /* in_flight: calls that are not ended */
};

/* What a granted retry has cost, until it is settled. */
struct bide__ticket {
    uint64_t tick;  /* window */
    uint32_t tokens; /* quota */
};

void bide__budget_init(struct bide__budget *b, const struct bide__policy *p);

/* No call is under way: nothing is outstanding but what the window counts. */
void bide__budget_reclaim(struct bide__budget *b, const struct bide__policy *p);

/* Pays for a retry or hedge after `failed`; false if there is no budget. */
bool bide__budget_take(struct bide__budget *b, const struct bide__policy *p,
                       const struct bide__lane *lanes, bide_class failed,
                       bool timed_out, int64_t now, struct bide__ticket *ret);

/* A retry that was paid for is never made: as if it had not been asked for. */
void bide__budget_give_back(struct bide__budget *b,
                            const struct bide__policy *p,
                            const struct bide__ticket *ticket);

/* A retry that was paid for was made, and came to this. */
void bide__budget_settle(struct bide__budget *b, const struct bide__policy *p,
                         const struct bide__ticket *ticket, bool success);

/* An attempt ended: gRPC's throttle counts all of them, AWS's quota the
 * successes of first ones. */
void bide__budget_report(struct bide__budget *b, const struct bide__policy *p,
                         bide_class cls, bool refused, bool first);

/* Retries that would be granted now, or BIDE_FOREVER. */
int64_t bide__budget_left(const struct bide__budget *b,
                          const struct bide__policy *p,
                          const struct bide__lane *lanes, int64_t now);

/* Only the in_flight kind needs to know how many calls there are. One counter
 * for all threads: copies could be added up only while they change. */
static inline void bide__budget_calls(struct bide__budget *b,
                                      const struct bide__policy *p, int change)
{
    if (p->conf.budget.kind == BIDE_BUDGET_IN_FLIGHT)
        atomic_fetch_add_explicit(&b->calls, change, memory_order_acq_rel);
}

#endif
