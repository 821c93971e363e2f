/* The part of a dependency that a fleet writes: what may be spent without asking.
 *
 * One thread, outside of the engine, reports and applies (bide/share.h). Calls
 * only look here when they want a retry, or a probe; the usual call never does.
 *
 *   lease   retries that may be spent: one word. A call takes one by
 *           compare-and-swap; only the reporting thread adds.
 *
 * Every retry is noted in the budget's own window (spend.h) first, and then taken
 * off the lease. So, whenever the reporting thread looks, lease first and window
 * second, the sum of the two is never under what may yet be or has been spent: it
 * only falls between two replies, and the ledger cannot lease anything twice. A
 * retry that is given back leaves the window and does not return to the lease;
 * the ledger leases it again.
 *
 * Each reply also leaves behind what holds if no other ever comes: the part of
 * the floor, and the debt, which is what the others have spent over our part of
 * all there was. It is over after a window.
 *
 * In the part of a dependency that processes do not share: each has a lease of its
 * own. What they count is in the part that they do share. So that the ledger does
 * not add that up once for each of them, and once more for one that has ended, they
 * report it as one instance, under a number that is beside the counts. */
#ifndef BIDE_LIB_FLEET_SHARE_H
#define BIDE_LIB_FLEET_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bide/dep.h"

struct bide__budget_use;
struct bide__ticket;

struct bide__share {
    _Atomic bool on;
    _Atomic int64_t unheard_until_ns; /* nothing yet: one retry may be spent;
                                         0: it was heard; -1: none was wanted */
    _Atomic bool gated;           /* probes need a permit */
    _Atomic int64_t joined_until_ns;
    _Atomic int64_t lease_until_ns; /* from then on: its own budget */
    _Atomic int64_t lease;
    _Atomic int64_t permits;
    _Atomic int64_t permits_until_ns;
    _Atomic int64_t floor;        /* alone: millionths of retries a window */
    _Atomic int64_t debt;
    _Atomic int64_t debt_until_ns;
    _Atomic uint64_t wanted;      /* retries that were asked for */
    _Atomic uint64_t opened, closed; /* by the fleet */
    _Atomic uint64_t allowed, used;  /* as last heard: only to be shown */
    _Atomic uint32_t instances, with_traffic, failing;
};

/* Whether a retry is paid for by the fleet, or by the part of it that is ours. */
static inline bool bide__share_pays(const struct bide__share *s)
{
    return atomic_load_explicit(&s->on, memory_order_acquire);
}

/* Pays for a retry; false: nothing is left. Of a budget of kind window. */
bool bide__share_take(bide_dep *dep, int64_t now, struct bide__ticket *ret);

/* What is spent, of how much, as far as this instance may know. */
struct bide__budget_use bide__share_use(const bide_dep *dep, int64_t now);

/* Whether a probe must not be made: it takes a permit, or there is none. */
bool bide__share_refuses_probe(bide_dep *dep, int64_t now);

#endif
