/* Metrics as lines: the grammar of the exposition format. */
#include "observe/export/prometheus.h"

#include <string.h>

#include "base/utf8.h"
#include "observe/export/metrics.h"

void bide__prometheus_label(struct bide__out *out, const char *value)
{
    size_t len = strlen(value);
    for (size_t i = 0; i < len;) {
        size_t n = bide__utf8_next(value + i, len - i, NULL);
        if (n == 0)
            bide__out_text(out, "\xef\xbf\xbd");
        else if (value[i] == '\n')
            bide__out_text(out, "\\n");
        else if (value[i] == '"' || value[i] == '\\') {
            bide__out_char(out, '\\');
            bide__out_char(out, value[i]);
        } else
            bide__out_bytes(out, value + i, n);
        i += n ? n : 1;
    }
}

/* {dep="pay",class="success" without the closing brace: more may follow. */
static void put_labels(struct bide__out *out, const struct bide__label *labels,
                       size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bide__out_char(out, i == 0 ? '{' : ',');
        bide__out_text(out, labels[i].name);
        bide__out_text(out, "=\"");
        bide__prometheus_label(out, labels[i].value);
        bide__out_char(out, '"');
    }
}

/* Help must be one line; a program's own text may not be. */
static void put_help(struct bide__out *out, const char *help)
{
    for (; *help; help++) {
        if (*help == '\\' || *help == '\n')
            bide__out_char(out, '\\');
        bide__out_char(out, *help == '\n' ? 'n' : *help);
    }
}

static void begin(void *ctx, const struct bide__metric *m)
{
    static const char *const types[] = { "counter", "gauge", "histogram" };
    struct bide__out *out = ctx;

    bide__out_text(out, "# HELP ");
    bide__out_text(out, m->name);
    bide__out_char(out, ' ');
    put_help(out, m->help);
    bide__out_text(out, "\n# TYPE ");
    bide__out_text(out, m->name);
    bide__out_char(out, ' ');
    bide__out_text(out, types[m->kind]);
    bide__out_char(out, '\n');
}

static void end(void *ctx, const struct bide__metric *m)
{
    (void)ctx;
    (void)m;
}

static void number(void *ctx, const struct bide__metric *m,
                   const struct bide__label *labels, size_t n_labels,
                   struct bide__number value)
{
    struct bide__out *out = ctx;

    bide__out_text(out, m->name);
    put_labels(out, labels, n_labels);
    bide__out_text(out, n_labels ? "} " : " ");
    if (value.whole)
        bide__out_u64(out, value.u64);
    else
        bide__out_double(out, value.any);
    bide__out_char(out, '\n');
}

static void part(struct bide__out *out, const char *name, const char *suffix,
                 const struct bide__label *labels, size_t n_labels)
{
    bide__out_text(out, name);
    bide__out_text(out, suffix);
    put_labels(out, labels, n_labels);
}

static void put_count(struct bide__out *out, uint64_t n)
{
    bide__out_u64(out, n);
    bide__out_char(out, '\n');
}

/* Buckets here are cumulative. Does not use h->count at the end, which may be
 * an event or two off: the scraper drops a histogram that contradicts
 * itself. */
static void histogram(void *ctx, const struct bide__metric *m,
                      const struct bide__label *labels, size_t n_labels,
                      const bide_histogram *h)
{
    struct bide__out *out = ctx;
    uint64_t counts[BIDE__METRIC_BOUNDS + 1], below = 0;

    bide__metric_buckets(h, counts);
    for (unsigned i = 0; i <= BIDE__METRIC_BOUNDS; i++) {
        below += counts[i];
        part(out, m->name, "_bucket", labels, n_labels);
        bide__out_text(out, n_labels ? ",le=\"" : "{le=\"");
        if (i < BIDE__METRIC_BOUNDS)
            bide__out_seconds(out, (uint64_t)bide__metric_bound_ns(i));
        else
            bide__out_text(out, "+Inf");
        bide__out_text(out, "\"} ");
        put_count(out, below);
    }
    part(out, m->name, "_sum", labels, n_labels);
    bide__out_text(out, n_labels ? "} " : " ");
    bide__out_seconds(out, h->sum_ns);
    bide__out_char(out, '\n');
    part(out, m->name, "_count", labels, n_labels);
    bide__out_text(out, n_labels ? "} " : " ");
    put_count(out, below);
}

void bide__prometheus_write(struct bide__out *out,
                            const struct bide__observed *observed,
                            int64_t now_ns)
{
    struct bide__metric_sink sink = { out, begin, number, histogram, end };
    if (!bide__metrics_walk(observed, now_ns, &sink))
        out->failed = true;
}
