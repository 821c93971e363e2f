/* Load balancing: which of several equivalent servers an attempt goes to, and
 * which of them are ejected. The sidecar and the simulator both go by it.
 *
 *     struct bide__servers s = { .n = 10, .self = me, .of = &my_verbs };
 *     struct bide__pick pick = { .by = BIDE__TWO_CHOICES, .first = true,
 *                                .random = word, .now_ns = now };
 *     unsigned i = bide__balance(&s, &pick, &permit);
 *     ...                                  // the attempt
 *     if (pick.held) {
 *         bide_call_report(&permit, 1, &outcome, now);
 *         bide_call_end(&permit, now);
 *     }
 *
 * A retry goes to a server that its call has not tried, and nothing goes to an
 * ejected server, as long as there is another.
 *
 * Each server has a breaker, which is a dependency of its own
 * (bide__ejection_policy). The host ejects a server when its breaker opens, if
 * another may be ejected (bide__most_ejected), and returns it when its breaker
 * closes. An ejected server is still considered now and then, by the first
 * attempt of a call: its breaker lets a probe through when it is time. A server
 * whose breaker opens when no more may be ejected stays in use.
 *
 * Threads: none of it holds state. */
#ifndef BIDE_BASE_BALANCE_H
#define BIDE_BASE_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/bide.h"

enum bide__balance_by {
    BIDE__TWO_CHOICES,    /* of two drawn at random, the less busy one: nearly as
                           * even as comparing all, and without the herd that a
                           * single "least loaded" attracts */
    BIDE__LEAST_REQUESTS, /* the least busy of all */
    BIDE__ROUND_ROBIN,    /* each in turn */
    BIDE__RANDOM          /* any */
};

/* When a server is ejected: `ejection`. Threads: immutable. */
struct bide__ejection {
    uint32_t consecutive; /* failures in a row that do it; 0: never; 0 .. 1e6;
                             5 */
    double failure_rate;  /* or this share of the last 10 s' attempts, of 20 at
                             least; over 0 .. 1; 0.5 */
    int64_t open_ns;      /* out for; 1 ms .. 1 h; 10 s. `open` */
    double max_ejected;   /* share that may be out at once, never the last one;
                             0 .. 1; 0.5 */
};

#define BIDE__EJECTION_INIT                                                    \
    {                                                                          \
        .consecutive = 5,                                                      \
        .failure_rate = 0.5,                                                   \
        .open_ns = 10 * BIDE_SECOND,                                           \
        .max_ejected = 0.5,                                                    \
    }

/* The servers, as their host knows them. Threads: owned. */
struct bide__servers {
    unsigned n;        /* over 0 */
    bool any_out;      /* one of them is ejected */
    const void *self;
    const struct bide__servers_verbs {
        bool (*is_out)(const void *self, unsigned i); /* gets no requests */
        bool (*is_tried)(const void *self, unsigned i); /* by this call */
        uint64_t (*in_flight)(const void *self, unsigned i);
        /* In percent of its share: bide__returned_weight(). */
        int64_t (*weight)(const void *self, unsigned i, int64_t now_ns);
        bide_dep *(*breaker)(const void *self, unsigned i); /* NULL: none */
        /* Whether its breaker, and nothing else, has ejected it. */
        bool (*is_on_trial)(const void *self, unsigned i);
    } *of;
};

/* One choice. Threads: owned. */
struct bide__pick {
    enum bide__balance_by by;
    bool first;      /* attempt of its call */
    bool sure;       /* must not be a probe */
    uint64_t random; /* a random word */
    unsigned turn;   /* round robin: in, where to look first; out, next time */
    int64_t now_ns;
    bool held;       /* out: the permit is held, and must be ended */
};

/* Chooses a server, and begins `permit` on its breaker. */
unsigned bide__balance(const struct bide__servers *s, struct bide__pick *pick,
                       bide_call *permit);

/* How much of its share a server gets, in percent: at least a tenth, growing
 * for `slow_ns` after its return. back_ns 0: it was never out. */
int64_t bide__returned_weight(int64_t back_ns, int64_t slow_ns, int64_t now_ns);

/* How many of n servers may be out at once; never all. */
unsigned bide__most_ejected(const struct bide__ejection *e, size_t n);

/* What an attempt's outcome says of its server, which is not to blame for the
 * request itself: an answer of a 4xx is an answer. `status` 0: none came. */
bide_outcome bide__server_outcome(const bide_outcome *out, int status);

/* The policy of a server's breaker: a breaker and nothing else, one lane, since
 * it is used once per attempt and not worth more memory. */
bide_policy_conf bide__ejection_policy(const struct bide__ejection *e);

#endif
