/* Exports spans and metrics to a collector: batched, bounded, sent from its own
 * thread, and retried under a bide policy.
 *
 *     struct bide__exporter_conf conf = BIDE__EXPORTER_CONF_INIT;
 *     conf.url = "http://127.0.0.1:4318";
 *     const char *mistake = bide__exporter_new(&exporter, &conf);
 *     bide__exporter_events(exporter, events, n);  // keeps or drops them
 *     ...
 *     bide__exporter_free(exporter);               // sends what is left first
 *
 * It never blocks its callers. While the collector is down, spans accumulate up
 * to `max_spans`; further ones are dropped and counted, and so is a batch that
 * the policy gives up. */
#ifndef BIDE_OBSERVE_EXPORT_EXPORTER_H
#define BIDE_OBSERVE_EXPORT_EXPORTER_H

#include "bide/policy.h"
#include "observe/event/event.h"
#include "observe/event/source.h"

/* Threads: shared. */
struct bide__exporter;

struct bide__exporter_conf {
    const char *url;      /* the collector; /v1/traces is added */
    void *tls;            /* for https://: settings (net/tls.h); or NULL. Must
                             outlive it */
    const char *service;  /* service.name */
    const char *instance; /* service.instance.id; NULL: not sent */
    bool json;            /* instead of protobuf */
    size_t max_spans;     /* that may wait; over 0 */
    size_t batch;         /* how many are sent at once; over 0 */
    int64_t interval_ns;  /* how long an incomplete batch waits */
    int64_t metrics_ns;   /* how often metrics are sent; 0: never */
    int64_t drain_ns;     /* the longest that freeing it may take */
    bide_policy_conf policy;

    /* Where metrics come from; NULL: none are sent. Must outlive it. */
    const struct bide__source *source;
};

#define BIDE__EXPORTER_CONF_INIT                                               \
    {                                                                          \
        .service = "bide", .max_spans = 8192, .batch = 512,                    \
        .interval_ns = BIDE_SECOND, .metrics_ns = 10 * BIDE_SECOND,            \
        .drain_ns = 2 * BIDE_SECOND, .policy = BIDE_POLICY_CONF_INIT           \
    }

/* Its statistics. Threads: owned. */
struct bide__exporter_stats {
    uint64_t spans_sent;
    uint64_t spans_dropped;  /* no room, or given up */
    uint64_t batches_failed; /* given up, of spans or of metrics */
    uint64_t metrics_sent;   /* requests */
};

/* Starts one. NULL, or what is wrong with the configuration. */
const char *bide__exporter_new(struct bide__exporter **ret,
                               const struct bide__exporter_conf *conf);

/* Stops it. NULL is fine. */
void bide__exporter_free(struct bide__exporter *exporter);

/* Queues those of n events that are spans, and sampled. */
void bide__exporter_events(struct bide__exporter *exporter,
                           const struct bide__event *events, size_t n);

void bide__exporter_stats(struct bide__exporter *exporter,
                          struct bide__exporter_stats *ret);

/* The dependency that the collector is: to be observed like any other. */
bide_dep *bide__exporter_dep(struct bide__exporter *exporter);

#endif
