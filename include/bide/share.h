/* bide/share.h: a dependency's share of a budget and a breaker that a whole
 * fleet has together.
 *
 *     bide_share share;
 *     bide_share_init(&share, dep, 8);          // instances, until it is known
 *     ...
 *     bide_share_row row;
 *     bide_share_reply reply;
 *     bide_share_report(&share, now_ns, &row);  // a few times a second
 *     if (ask_the_ledger(&row, &reply))         // Redis, or a simulated one
 *         bide_share_apply(&share, &reply, now_ns);
 *     ...
 *     bide_share_done(&share);                  // on its own again
 *
 * Programs use bide/fleet.h, which does this with Redis. This header is for
 * those who bring a ledger of their own.
 *
 * What is shared are counts, and each instance decides by itself:
 *
 * Budget (kind window). The ledger knows for each instance what was deposited
 * and spent over the window, and what it holds: retries that it may spend
 * without asking. It leases no more than the ratio of all deposits and one floor
 * allow. An instance that hears nothing for a second goes on alone: with its own
 * deposits, and its part of the floor. One that has never heard anything may spend
 * a single retry until it does, or is told that there is nobody, or a second has
 * passed since: a thousand programs that begin at once have not a floor each.
 *
 * Breaker. An instance opens when most of those with traffic, and at least two,
 * fail as its policy says, and all counts together do. Then probes are for all:
 * the ledger gives them to one instance at a time, and when they succeed there,
 * all close. What an instance finds out alone concerns only itself.
 *
 * No call ever waits for any of this. */
#ifndef BIDE_SHARE_H
#define BIDE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dep.h"

BIDE_BEGIN_DECLS

/* How long a reply holds: without another one, an instance is alone. */
#define BIDE_SHARE_HOLDS_NS INT64_C(1000000000)

/* What an instance tells the ledger. Threads: owned. */
typedef struct bide_share_row {
    uint64_t deposits;     /* into the budget, over its window */
    uint64_t spent;        /* retries, over the same window */
    uint64_t held;         /* leased, and not spent yet */
    uint64_t attempts;     /* that the breaker has counted, ... */
    uint64_t failed;       /* ... those of them that failed, ... */
    uint64_t slow;         /* ... and those that were slow */
    bool busy;             /* retries were asked for, or attempts failed: report
                              again soon */
    bool wants_probes;     /* it is half-open, and may not probe */
    uint32_t probing;      /* probes that run */
    bool probe_failed;     /* it is open again ... */
    int64_t hold_ns;       /* ... for so long */
    bool recovered;        /* its probes have succeeded */
    uint64_t instance;     /* not 0: processes share the dependency's memory, and
                              have these counts together. They are one instance:
                              the row of this number, on whatever machine */
    uint64_t _room[3];
} bide_share_row;

/* The numbers of a policy that the ledger needs. Threads: immutable. */
typedef struct bide_share_rule {
    int64_t window_ns;     /* of the budget */
    int64_t floor;         /* retries a window, in millionths */
    int64_t ratio;         /* retries per deposit, in millionths */
    int64_t failure_rate;  /* of the breaker, in millionths; 2000000: off */
    int64_t slow_rate;     /* the same */
    uint32_t probes;
    uint64_t _room[4];
} bide_share_rule;

/* What the ledger says. Threads: owned. */
typedef struct bide_share_reply {
    uint32_t instances;    /* that are alive, this one included */
    bool fresh;            /* the ledger has not known them for a window yet: it
                              leases nothing, everybody uses its own budget */
    uint64_t held;         /* hold so many */
    uint64_t allowed;      /* retries over the window, for all */
    uint64_t used;         /* of those, spent or leased */
    uint32_t with_traffic; /* instances that count attempts, ... */
    uint32_t failing;      /* ... and those where they fail */
    uint64_t attempts;     /* of all instances */
    uint64_t failed;
    uint64_t slow;
    uint32_t probes;       /* that may be made now */
    int64_t recovered_ns;  /* ago: somewhere all probes succeeded; -1: never */
    uint64_t _room[4];
} bide_share_reply;

/* A view of it. Threads: owned. */
typedef struct bide_share_view {
    bool joined;           /* the ledger's last word still holds */
    bool leased;           /* retries are leased; else its own budget counts */
    uint32_t instances;    /* as last known */
    uint64_t held;         /* leased, not spent */
    uint64_t allowed, used; /* as last heard, for all */
    uint32_t with_traffic, failing; /* the same */
    bool gated;            /* the fleet has opened it: probes are the fleet's */
    uint64_t opened, closed; /* transitions that the fleet has made */
    uint64_t _room[4];
} bide_share_view;

/* The state of whoever reports for a dependency: one at a time.
 * Threads: owned. */
typedef struct bide_share {
    uint64_t _private[32];
} bide_share;

/* From now on the dependency is in a fleet: at first with one retry, then alone,
 * with the floor of one among `instances` (0 counts as 1). `dep` must outlive
 * `share`. BIDE_EINVAL; BIDE_ESTATE: it is in a fleet already. */
BIDE_API int bide_share_init(bide_share *share, bide_dep *dep,
                             uint32_t instances);

/* It is on its own again, with all of its own budget. */
BIDE_API void bide_share_done(bide_share *share);

/* The rule for the ledger, from the dependency's policy. */
BIDE_API void bide_share_rule_of(const bide_dep *dep, bide_share_rule *ret);

/* Reads what is to be told. */
BIDE_API void bide_share_report(bide_share *share, int64_t now_ns,
                                bide_share_row *ret);

/* Takes the reply to the last report; `now_ns` is when that was read, so that
 * a slow ledger's word holds for less. Any reply is survived: impossible numbers
 * are cut to possible ones. NULL: there was none. */
BIDE_API void bide_share_apply(bide_share *share, const bide_share_reply *reply,
                               int64_t now_ns);

/* Looks at it, from any thread. BIDE_EINVAL; BIDE_ESTATE: it is in no fleet. */
BIDE_API int bide_dep_share_view(const bide_dep *dep, int64_t now_ns,
                                 bide_share_view *ret);

BIDE_END_DECLS
#endif
