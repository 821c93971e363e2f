/* proxy/telemetry.h: the sidecar as observers see it: its dependencies,
 * endpoints, counters; and the few actions that it allows.
 *
 *     struct bide__source source = proxy_source(&telemetry);
 *     bide__collector_new(&(struct bide__collector_conf){ .source = &source });
 *
 * A dependency is an upstream under a policy, and is named "upstream/policy".
 * Its endpoints are the upstream's, which several dependencies may share.
 */
#ifndef BIDE_PROXY_TELEMETRY_H
#define BIDE_PROXY_TELEMETRY_H

#include <pthread.h>

#include "observe/event/collector.h"
#include "observe/event/source.h"
#include "proxy/proxy.h"

/* Reloads, which the program's main thread does. Threads: shared. */
struct proxy_reloads {
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t over;
    uint64_t begun, ended;
    bool refused; /* the last one was */
};

/* What is observed, and the counts of the telemetry itself. Must not be moved.
 * Threads: shared. */
struct proxy_telemetry {
    struct proxy *proxy;
    struct proxy_reloads reloads;
    struct bide__collector *collector; /* NULL: none (yet) */
    struct bide__exporter *exporter;   /* NULL: none */
    struct bide__log *log;             /* decisions; NULL: none */
    struct bide__sink *decisions;      /* its sink; NULL: none */
};

struct bide__source proxy_source(struct proxy_telemetry *t);

/* Call it around each reload, which others may be waiting for. */
void proxy_telemetry_reloading(struct proxy_telemetry *t);
void proxy_telemetry_reloaded(struct proxy_telemetry *t, bool refused);

#endif
