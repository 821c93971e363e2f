/* Metrics. The numbers are the fields of opentelemetry/proto/metrics/v1. Names
 * are those of Prometheus, so that a query works with either source. */
#include "observe/export/otlp.h"

#include <string.h>

#include "observe/export/metrics.h"
#include "observe/export/otlp_parts.h"

enum { CUMULATIVE = 2, GAUGE = 5, SUM = 7, HISTOGRAM = 9 };

struct writing {
    struct bide__otlp w;
    uint64_t start, now; /* nanoseconds since 1970 */
};

static void begin(void *ctx, const struct bide__metric *m)
{
    static const struct {
        unsigned field;
        const char *name;
    } kinds[] = {
        [BIDE__METRIC_COUNTER] = { SUM, "sum" },
        [BIDE__METRIC_GAUGE] = { GAUGE, "gauge" },
        [BIDE__METRIC_HISTOGRAM] = { HISTOGRAM, "histogram" },
    };
    struct bide__otlp *w = &((struct writing *)ctx)->w;

    bide__otlp_message(w, 2, NULL);
    bide__otlp_text(w, 1, "name", m->name);
    bide__otlp_text(w, 2, "description", m->help);
    bide__otlp_text(w, 3, "unit", m->unit);
    bide__otlp_message(w, kinds[m->kind].field, kinds[m->kind].name);
    bide__otlp_list(w, "dataPoints");
}

static void end(void *ctx, const struct bide__metric *m)
{
    struct bide__otlp *w = &((struct writing *)ctx)->w;

    bide__otlp_end(w); /* the points */
    if (m->kind != BIDE__METRIC_GAUGE)
        bide__otlp_enum(w, 2, "aggregationTemporality", CUMULATIVE);
    if (m->kind == BIDE__METRIC_COUNTER)
        bide__otlp_flag(w, 3, "isMonotonic", true);
    bide__otlp_end(w); /* the sum, gauge or histogram */
    bide__otlp_end(w); /* the metric */
}

static void put_times(struct writing *to, const struct bide__metric *m)
{
    bide__otlp_message(&to->w, 1, NULL);
    if (m->kind != BIDE__METRIC_GAUGE)
        bide__otlp_fixed64(&to->w, 2, "startTimeUnixNano", to->start);
    bide__otlp_fixed64(&to->w, 3, "timeUnixNano", to->now);
}

static void put_labels(struct bide__otlp *w, unsigned field,
                       const struct bide__label *labels, size_t n)
{
    bide__otlp_list(w, "attributes");
    for (size_t i = 0; i < n; i++)
        bide__otlp_attribute(w, field, labels[i].name, strlen(labels[i].name),
                             labels[i].value);
    bide__otlp_end(w);
}

static void number(void *ctx, const struct bide__metric *m,
                   const struct bide__label *labels, size_t n_labels,
                   struct bide__number value)
{
    struct writing *to = ctx;

    put_times(to, m);
    put_labels(&to->w, 7, labels, n_labels);
    if (value.whole)
        bide__otlp_sfixed64(&to->w, 6, "asInt", (int64_t)value.u64);
    else
        bide__otlp_double(&to->w, 4, "asDouble", value.any);
    bide__otlp_end(&to->w);
}

static void histogram(void *ctx, const struct bide__metric *m,
                      const struct bide__label *labels, size_t n_labels,
                      const bide_histogram *h)
{
    struct writing *to = ctx;
    uint64_t counts[BIDE__METRIC_BOUNDS + 1], count = 0;
    double bounds[BIDE__METRIC_BOUNDS];

    bide__metric_buckets(h, counts);
    for (unsigned i = 0; i <= BIDE__METRIC_BOUNDS; i++)
        count += counts[i];
    for (unsigned i = 0; i < BIDE__METRIC_BOUNDS; i++)
        bounds[i] = (double)bide__metric_bound_ns(i) / 1e9;
    put_times(to, m);
    bide__otlp_fixed64(&to->w, 4, "count", count);
    bide__otlp_double(&to->w, 5, "sum", (double)h->sum_ns / 1e9);
    bide__otlp_counts(&to->w, 6, "bucketCounts", counts,
                      BIDE__METRIC_BOUNDS + 1);
    bide__otlp_doubles(&to->w, 7, "explicitBounds", bounds,
                       BIDE__METRIC_BOUNDS);
    put_labels(&to->w, 9, labels, n_labels);
    bide__otlp_end(&to->w);
}

void bide__otlp_metrics(struct bide__out *out,
                        const struct bide__otlp_source *from, bool json,
                        const struct bide__observed *observed, int64_t now_ns)
{
    struct writing to = {
        .w = { .out = out, .json = json },
        .start = (uint64_t)(from->start_ns + from->wall_offset_ns),
        .now = (uint64_t)(now_ns + from->wall_offset_ns),
    };
    struct bide__metric_sink sink = { &to, begin, number, histogram, end };

    bide__otlp_open(&to.w, from, "resourceMetrics", "scopeMetrics");
    bide__otlp_list(&to.w, "metrics");
    if (!bide__metrics_walk(observed, now_ns, &sink))
        out->failed = true;
    bide__otlp_end(&to.w);
    bide__otlp_close(&to.w);
}
