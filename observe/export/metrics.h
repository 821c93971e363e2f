/* The metrics, whatever they are written as: which families there are, and the
 * numbers of each.
 *
 *     static void number(void *ctx, const struct bide__metric *m,
 *                        const struct bide__label *labels, size_t n,
 *                        struct bide__number value)
 *     {
 *         ...
 *     }
 *     ...
 *     struct bide__metric_sink sink = { .ctx = &out, .number = number, ... };
 *     bide__metrics_walk(&watched, now_ns, &sink);
 *
 * prometheus.c and otlp_metrics.c are the two that ask. Names and units are an
 * interface (docs/metrics.md is the list), and are only ever added to. Series
 * that have not happened yet are there with 0: a rate over them is then 0 and
 * not nothing, and an alert on nothing never fires. */
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
    const char *name; /* as Prometheus has it: "bide_calls_total" */
    enum bide__metric_kind kind;
    const char *unit; /* as UCUM has it: "s", "{call}" */
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

/* Who is told: of each family its beginning, its series and its end. */
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

/* Tells the sink everything. False, and nothing was told, if there is no
 * memory for the snapshots. */
bool bide__metrics_walk(const struct bide__observed *watched, int64_t now_ns,
                        const struct bide__metric_sink *sink);

/* The part that is not of dependencies. */
void bide__metrics_rest(const struct bide__observed *watched,
                        const struct bide__metric_sink *sink);

/* The histograms' bounds. The engine has four buckets to a doubling; here one
 * is enough. From 32 us to nine minutes. */
enum { BIDE__METRIC_BOUNDS = 25 };
int64_t bide__metric_bound_ns(unsigned i);

/* Fills in how many durations lie under bound i, above the bound before it; the
 * last one has those above all bounds. */
void bide__metric_buckets(const bide_histogram *h,
                          uint64_t counts[BIDE__METRIC_BOUNDS + 1]);

#endif
