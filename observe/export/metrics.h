/* The metrics, independent of their format: which families there are, and the
 * values of each.
 *
 *     static void number(void *ctx, const struct bide__metric *m,
 *                        const struct bide__label *labels, size_t n,
 *                        struct bide__number value)
 *     {
 *         ...
 *     }
 *     ...
 *     struct bide__metric_sink sink = { .ctx = &out, .number = number, ... };
 *     bide__metrics_walk(&observed, now_ns, &sink);
 *
 * prometheus.c and otlp_metrics.c are the two users. Names and units are an
 * interface (docs/metrics.md is the list), and are only ever added to. Series
 * whose events have not happened yet are present with 0: a rate over them is
 * then 0 instead of missing, and an alert on a missing series never fires. */
#ifndef BIDE_OBSERVE_EXPORT_METRICS_H
#define BIDE_OBSERVE_EXPORT_METRICS_H

#include "bide/stats.h"
#include "observe/event/observed.h"

enum bide__metric_kind {
    BIDE__METRIC_COUNTER,
    BIDE__METRIC_GAUGE,
    BIDE__METRIC_HISTOGRAM /* of durations */
};

/* A family. Threads: immutable. */
struct bide__metric {
    const char *name; /* in Prometheus: "bide_calls_total" */
    enum bide__metric_kind kind;
    const char *unit; /* in UCUM: "s", "{call}" */
    const char *help;
};

struct bide__label {
    const char *name, *value;
};

/* A whole number, or any. */
struct bide__number {
    bool whole;
    uint64_t u64;
    double any;
};

/* The receiver: gets the beginning, the series and the end of each family. */
struct bide__metric_sink {
    void *ctx;
    void (*begin)(void *ctx, const struct bide__metric *m);
    void (*number)(void *ctx, const struct bide__metric *m,
                   const struct bide__label *labels, size_t n_labels,
                   struct bide__number value);
    void (*histogram)(void *ctx, const struct bide__metric *m,
                      const struct bide__label *labels, size_t n_labels,
                      const bide_histogram *h);
    void (*end)(void *ctx, const struct bide__metric *m);
};

/* Writes everything to the sink. False, and nothing was written, if there is no
 * memory for the snapshots. */
bool bide__metrics_walk(const struct bide__observed *observed, int64_t now_ns,
                        const struct bide__metric_sink *sink);

/* The metrics that do not belong to a dependency. */
void bide__metrics_rest(const struct bide__observed *observed,
                        const struct bide__metric_sink *sink);

/* The bounds of the histograms. The engine has four buckets per doubling; here
 * one is enough. From 32 us to nine minutes. */
enum { BIDE__METRIC_BOUNDS = 25 };
int64_t bide__metric_bound_ns(unsigned i);

/* Fills in how many durations lie below bound i and above the one before; the
 * last one has those above all bounds. */
void bide__metric_buckets(const bide_histogram *h,
                          uint64_t counts[BIDE__METRIC_BOUNDS + 1]);

#endif
