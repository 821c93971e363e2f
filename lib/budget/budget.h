/* Retry budgets: how many retries all the calls of a dependency may make.
 *
 * A retry is paid for when it is decided, not when it is sent, so that a
 * thousand calls waiting in backoff cannot all find the same budget unspent.
 * Each kind is a separate file:
 *
 *   window      a share of what was deposited      budget_window.c
 *   quota       AWS's token bucket                 budget_quota.c
 *   throttle    gRPC's retry throttling            budget_throttle.c
 *   in_flight   Envoy's share of running calls     budget_in_flight.c
 *
 * A new one is such a file, its line in budget.c, and its name in policy.h. */
#ifndef BIDE_LIB_BUDGET_BUDGET_H
#define BIDE_LIB_BUDGET_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/outcome.h"
#include "lib/lane.h"
#include "lib/policy.h"
#include "lib/budget/spend.h"

struct bide__budget {
    struct bide__spend spend;   /* window */
    _Atomic int64_t level;      /* quota: tokens; throttle: millionths of a
                                   token; in_flight: retries outstanding */
    _Atomic int64_t calls;      /* in_flight: calls that have not ended */
};

/* The cost of a granted retry, until it is settled. */
struct bide__ticket {
    uint64_t tick;  /* window */
    uint32_t tokens; /* quota */
};

/* The failure before a retry. */
struct bide__failure {
    bide_class cls;
    bool timed_out;
    uint32_t spent; /* retries that its call has spent before */
};

/* How much of a budget is spent. */
struct bide__budget_use {
    int64_t spent, all;
};

/* The outcome of an attempt, as far as budgets care. */
struct bide__budget_end {
    bide_class cls;
    bool refused; /* the server said not to retry */
    bool first;   /* it was the first of its call */
};

/* A kind of budget: one file, one constant table. A function that is NULL does
 * nothing. */
struct bide__budget_kind {
    /* Sets the initial level. */
    void (*init)(struct bide__budget *b, const struct bide__policy *p);

    /* No call is in progress: nothing is outstanding. */
    void (*reclaim)(struct bide__budget *b, const struct bide__policy *p);

    /* The first attempt of a call begins. */
    void (*begin)(const struct bide__policy *p, struct bide__lane *lane,
                  int64_t now);

    /* Pays for a retry or hedge; false: there is no budget. */
    bool (*take)(struct bide__budget *b, const struct bide__policy *p,
                 const struct bide__lane *lanes,
                 const struct bide__failure *after, int64_t now,
                 struct bide__ticket *ret);

    /* What the budget grants over its window, or when it is full, in units of
     * what a retry costs; and what this one costs (NULL: 1). For the share that
     * one call may spend. */
    int64_t (*grants)(const struct bide__budget *b,
                      const struct bide__policy *p,
                      const struct bide__lane *lanes, int64_t now);
    uint32_t (*cost)(const bide_budget_conf *conf,
                     const struct bide__failure *after);

    /* A retry that was paid for will not be made: undoes the payment. */
    void (*give_back)(struct bide__budget *b, const struct bide__policy *p,
                      const struct bide__ticket *ticket);

    /* A retry that was paid for was made, with this outcome. */
    void (*settle)(struct bide__budget *b, const struct bide__policy *p,
                   const struct bide__ticket *ticket, bool success);

    /* An attempt ended, a retry or not. */
    void (*report)(struct bide__budget *b, const struct bide__policy *p,
                   struct bide__lane *lane, const struct bide__budget_end *end,
                   int64_t now);

    /* Retries that would be granted now; below 0 counts as none. */
    int64_t (*left)(const struct bide__budget *b, const struct bide__policy *p,
                    const struct bide__lane *lanes, int64_t now);

    /* How much there is in all, and how much of it is spent, in the same
     * unit. */
    struct bide__budget_use (*use)(const struct bide__budget *b,
                                   const struct bide__policy *p,
                                   const struct bide__lane *lanes, int64_t now);

    /* Begins with that much of it spent; nobody uses it yet. NULL: what is spent
     * is what runs, and stays with it. */
    void (*start)(struct bide__budget *b, const struct bide__policy *p,
                  int64_t spent, int64_t now);
};

extern const struct bide__budget_kind bide__budget_window;
extern const struct bide__budget_kind bide__budget_quota;
extern const struct bide__budget_kind bide__budget_throttle;
extern const struct bide__budget_kind bide__budget_in_flight;

/* ===== budget.c: the operations, by the kind of the policy ===== */

void bide__budget_init(struct bide__budget *b, const struct bide__policy *p);
void bide__budget_reclaim(struct bide__budget *b, const struct bide__policy *p);
void bide__budget_begin(const struct bide__policy *p, struct bide__lane *lane,
                        int64_t now);
/* Whether a call that has spent so much may spend another retry
 * (budget.per_call). */
bool bide__budget_within_share(const struct bide__budget *b,
                               const struct bide__policy *p,
                               const struct bide__lane *lanes,
                               const struct bide__failure *after, int64_t now);

bool bide__budget_take(struct bide__budget *b, const struct bide__policy *p,
                       const struct bide__lane *lanes,
                       const struct bide__failure *after, int64_t now,
                       struct bide__ticket *ret);
void bide__budget_give_back(struct bide__budget *b,
                            const struct bide__policy *p,
                            const struct bide__ticket *ticket);
void bide__budget_settle(struct bide__budget *b, const struct bide__policy *p,
                         const struct bide__ticket *ticket, bool success);
void bide__budget_report(struct bide__budget *b, const struct bide__policy *p,
                         struct bide__lane *lane,
                         const struct bide__budget_end *end, int64_t now);

/* Retries that would be granted now, or BIDE_FOREVER. */
int64_t bide__budget_left(const struct bide__budget *b,
                          const struct bide__policy *p,
                          const struct bide__lane *lanes, int64_t now);

/* How much is spent, of how much; both 0 if there is no such number. */
struct bide__budget_use bide__budget_use(const struct bide__budget *b,
                                         const struct bide__policy *p,
                                         const struct bide__lane *lanes,
                                         int64_t now);

/* The share that is spent; and beginning with such a share. */
double bide__budget_spent(const struct bide__budget *b,
                          const struct bide__policy *p,
                          const struct bide__lane *lanes, int64_t now);
void bide__budget_start(struct bide__budget *b, const struct bide__policy *p,
                        const struct bide__lane *lanes, double share,
                        int64_t now);

/* Changes the level by `change`, to at most `most`; false, and no change,
 * unless it is now in [at_least, most). For the kinds that have a level. */
bool bide__budget_move(struct bide__budget *b, int64_t change, int64_t at_least,
                       int64_t most);

/* Only the in_flight kind needs the number of calls. One counter for all
 * threads: copies could be summed only while they change. */
static inline void bide__budget_calls(struct bide__budget *b,
                                      const struct bide__policy *p, int change)
{
    if (p->conf.budget.kind == BIDE_BUDGET_IN_FLIGHT)
        atomic_fetch_add_explicit(&b->calls, change, memory_order_acq_rel);
}

#endif
