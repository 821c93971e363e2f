/* What is observed: the dependencies of a program, the endpoints of their
 * requests, and whatever else it counts. One list, from which metrics, states
 * and the dashboard are made.
 *
 *     struct bide__observed_dep pay = { .name = "pay", .policy = "payments",
 *                                       .upstream = "", .dep = dep };
 *     struct bide__observed w = { .deps = &pay, .n_deps = 1 };
 *     bide__prometheus_write(&out, &w, bide_now_ns());
 *
 * Strings and arrays belong to the program, and must not change while they are
 * read; a program that reloads ensures this with the `hold` and `release` of
 * its source (admin.h). */
#ifndef BIDE_OBSERVE_EVENT_OBSERVED_H
#define BIDE_OBSERVE_EVENT_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/dep.h"
#include "bide/stats.h"

/* A dependency that was recreated with another policy continues the counts of
 * the one before: totals never decrease. Threads: immutable, except for what is
 * inside dep and prior. */
struct bide__observed_dep {
    const char *name;   /* as users know it: the label */
    const char *policy; /* its policy's name in the file; "" if it has none */
    const char
        *upstream; /* whose endpoints are its own; "" if there are none */
    bide_dep *dep;
    const bide_dep *prior;    /* which it replaced, and whose last calls may
                                 still run; or NULL */
    const bide_stats *before; /* totals of those before that; or NULL */
    bool faults;              /* fault injection is turned on */
    const char *trouble;      /* what calls do not show: "paused"; or NULL */
};

/* Takes a snapshot, including the totals of its predecessors. */
void bide__observed_stats(const struct bide__observed_dep *d, int64_t now_ns,
                          bide_stats *ret);

/* Adds totals to others; whatever is not a total stays unchanged. */
void bide__stats_add(bide_stats *to, const bide_stats *from);

/* X(name, key, in plain words) */
#define BIDE__ENDPOINT_STATES(X)                                               \
    X(BIDE__ENDPOINT_UP, "up", "takes requests")                               \
    X(BIDE__ENDPOINT_WARMING, "warming", "back, with less than its share")     \
    X(BIDE__ENDPOINT_PROBED, "probed", "was taken out; tried with a few")      \
    X(BIDE__ENDPOINT_EJECTED, "ejected", "taken out after failures")           \
    X(BIDE__ENDPOINT_DOWN, "down", "fails its checks, or accepts no connections")\
    X(BIDE__ENDPOINT_DRAINING, "draining", "takes no new requests")

enum bide__endpoint_state {
#define X(name, key, text) name,
    BIDE__ENDPOINT_STATES(X)
#undef X
        BIDE__N_ENDPOINT_STATES
};

/* The state of one address behind dependencies; each is listed once. Threads:
 * owned. */
struct bide__observed_endpoint {
    const char *upstream; /* several dependencies may share it */
    const char *address;  /* "10.0.0.1:8443" */
    enum bide__endpoint_state state;
    uint64_t in_flight;
    uint64_t connections; /* open, of which ... */
    uint64_t idle;        /* ... this many are idle in the pool */
    uint64_t http2;       /* ... and this many speak HTTP/2 */
    uint64_t requests;    /* attempts ever sent to it */
    uint64_t failures;    /* of those */
    uint64_t retries;     /* of those, retries */
};

/* One way in which requests come to a dependency: a rule of the configuration,
 * so that there are only so many. Threads: owned. */
struct bide__observed_route {
    const char *dep;
    const char *name; /* what it matches: "POST /pay/" */
    uint64_t requests, retries;
};

enum bide__value_kind { BIDE__VALUE_GAUGE, BIDE__VALUE_COUNTER };

/* Any other metric. Those of one name must be adjacent, as Prometheus requires.
 * Threads: owned. */
struct bide__observed_value {
    const char *name; /* "bide_connections"; a counter ends in _total */
    const char *help;
    enum bide__value_kind kind;
    const char *label; /* "side"; NULL: no label */
    const char *label_value;
    double value;
};

/* The whole list. Threads: owned. */
struct bide__observed {
    const struct bide__observed_dep *deps;
    size_t n_deps;
    const struct bide__observed_endpoint *endpoints;
    size_t n_endpoints;
    const struct bide__observed_value *values;
    size_t n_values;
    const struct bide__observed_route *routes; /* each dep and name once */
    size_t n_routes;
};

/* Whether it takes requests. */
static inline bool bide__endpoint_is_up(const struct bide__observed_endpoint *e)
{
    return e->state == BIDE__ENDPOINT_UP || e->state == BIDE__ENDPOINT_WARMING;
}

/* Return the name of a state ("ejected"), and its text in plain words. */
const char *bide__endpoint_state_name(enum bide__endpoint_state state);
const char *bide__endpoint_state_text(enum bide__endpoint_state state);

#endif
