/* What is observed: the dependencies of a program, where their requests go, and
 * whatever else it counts. One list, from which metrics, states and the
 * dashboard are made.
 *
 *     struct bide__observed_dep pay = { .name = "pay", .policy = "payments",
 *                                       .upstream = "", .dep = dep };
 *     struct bide__observed w = { .deps = &pay, .n_deps = 1 };
 *     bide__prometheus_write(&out, &w, bide_now_ns());
 *
 * Strings and arrays are the program's own, and must stay as they are while
 * they are looked at; a program that reloads sees to that with the `hold` and
 * `release` of its source (admin.h). */
#ifndef BIDE_OBSERVE_EVENT_OBSERVED_H
#define BIDE_OBSERVE_EVENT_OBSERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/dep.h"
#include "bide/stats.h"

/* A dependency that was made anew, under another policy, goes on to count where
 * the one before it was: totals never fall. Threads: immutable, but for what is
 * inside dep and prior. */
struct bide__observed_dep {
    const char *name;   /* as users know it: what labels say */
    const char *policy; /* its policy's name in the file; "" if it has none */
    const char
        *upstream; /* whose endpoints are its own; "" if there are none */
    bide_dep *dep;
    const bide_dep *prior;    /* that it took the place of, and whose last calls
                                 may still run; or NULL */
    const bide_stats *before; /* totals of those before that; or NULL */
    bool faults;              /* made on purpose, and switched on */
};

/* Takes a snapshot, with the totals of those before it. */
void bide__observed_stats(const struct bide__observed_dep *d, int64_t now_ns,
                          bide_stats *ret);

/* Adds totals to others; what is no total stays as it is. */
void bide__stats_add(bide_stats *to, const bide_stats *from);

/* X(name, key, in plain words) */
#define BIDE__ENDPOINT_STATES(X)                                               \
    X(BIDE__ENDPOINT_UP, "up", "takes requests")                               \
    X(BIDE__ENDPOINT_WARMING, "warming", "back, with less than its share")     \
    X(BIDE__ENDPOINT_PROBED, "probed", "was taken out; tried with a few")      \
    X(BIDE__ENDPOINT_EJECTED, "ejected", "taken out after failures")           \
    X(BIDE__ENDPOINT_DOWN, "down", "fails its health checks")                  \
    X(BIDE__ENDPOINT_DRAINING, "draining", "takes no new requests")

enum bide__endpoint_state {
#define X(name, key, text) name,
    BIDE__ENDPOINT_STATES(X)
#undef X
        BIDE__N_ENDPOINT_STATES
};

/* One address behind dependencies, as it stands now; each only once. Threads:
 * owned. */
struct bide__observed_endpoint {
    const char *upstream; /* several dependencies may share it */
    const char *address;  /* "10.0.0.1:8443" */
    enum bide__endpoint_state state;
    uint64_t in_flight;
    uint64_t connections; /* open, of which ... */
    uint64_t idle;        /* ... so many wait in the pool */
    uint64_t requests;    /* attempts ever sent to it */
    uint64_t failures;    /* of those */
};

enum bide__value_kind { BIDE__VALUE_GAUGE, BIDE__VALUE_COUNTER };

/* Any other number. Those of one name must stand together, as Prometheus asks
 * for. Threads: owned. */
struct bide__observed_value {
    const char *name; /* "bide_connections"; a counter ends in _total */
    const char *help;
    enum bide__value_kind kind;
    const char *label; /* "side"; NULL: no label */
    const char *label_value;
    double value;
};

/* All of it. Threads: owned. */
struct bide__observed {
    const struct bide__observed_dep *deps;
    size_t n_deps;
    const struct bide__observed_endpoint *endpoints;
    size_t n_endpoints;
    const struct bide__observed_value *values;
    size_t n_values;
};

/* Names a state ("ejected") and says it in plain words. */
const char *bide__endpoint_state_name(enum bide__endpoint_state state);
const char *bide__endpoint_state_text(enum bide__endpoint_state state);

#endif
