/* CSV (RFC 4180): figures, and the series of callers and services. */
#include "sim/report/csv.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "sim/report/bands.h"
#include "sim/study/figure_text.h"

/* ===== values ===== */

void sim_csv_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

/* Empty for NaN, as in spreadsheets. */
void sim_csv_number(FILE *out, double x)
{
    char digits[BIDE__NUMBER];

    if (isinf(x))
        fputs(x < 0 ? "-inf" : "inf", out);
    else if (fabs(x) < 1e15 && x == (double)(int64_t)x)
        fprintf(out, "%.0f", x); /* 10, not 1e+01 */
    else if (!isnan(x))
        fputs(bide__number_digits(x, digits), out);
}

/* ===== figures ===== */

static void write_figure(FILE *out, const char *variant, const char *part,
                         enum sim_figure f, const struct sim_interval *i)
{
    const double values[] = { i->mean, i->low, i->high, i->least, i->most };

    sim_csv_text(out, variant);
    fprintf(out, ",%s,%s", sim_figure_name(f), sim_figure_unit_name(f));
    for (int k = 0; k < 5; k++) {
        putc(',', out);
        sim_csv_number(out, values[k]);
    }
    fprintf(out, ",%u,%u,%u,", i->n, i->infinite, i->overloaded);
    sim_csv_text(out, part);
    fputs("\r\n", out);
}

/* A fleet has no value for what only services have. */
static void write_parts(FILE *out, const struct sim_variant_summary *v)
{
    const struct sim_model *m = v->first->model;

    for (uint32_t i = 0; v->fleets && i < m->n_fleets; i++)
        for (int f = 0; f < SIM_FIGURES; f++) {
            const struct sim_interval *of =
                &v->fleets[(size_t)i * SIM_FIGURES + (size_t)f];
            if (of->n || of->infinite)
                write_figure(out, v->name, m->fleets[i].name,
                             (enum sim_figure)f, of);
        }
    for (uint32_t i = 0; v->services && i < m->n_services; i++) {
        write_figure(out, v->name, m->services[i].name, SIM_FIG_UTILISATION,
                     &v->services[i].utilisation);
        write_figure(out, v->name, m->services[i].name, SIM_FIG_QUEUE_WAIT,
                     &v->services[i].queue_wait);
    }
}

void sim_csv_figures(FILE *out, const struct sim_summary *s)
{
    fputs("variant,figure,unit,mean,low,high,least,most,n,infinite,overloaded,"
          "part\r\n",
          out);
    for (uint32_t v = 0; v < s->n_variants; v++) {
        for (int f = 0; f < SIM_FIGURES; f++)
            write_figure(out, s->variants[v].name, "", (enum sim_figure)f,
                         &s->variants[v].figure[f]);
        write_parts(out, &s->variants[v]);
    }
}

/* ===== bands ===== */

/* Threads: owned. */
struct band_writer {
    FILE *out;
    const char *variant;
};

static void write_band(void *self, const struct sim_band *b)
{
    const struct band_writer *w = self;

    for (uint32_t i = 0; i < b->curve.n; i++) {
        const double values[] = { b->curve.step_ns * i / 1e9, b->curve.low[i],
                                  b->curve.y[i], b->curve.high[i] };
        sim_csv_text(w->out, w->variant);
        putc(',', w->out);
        sim_csv_text(w->out, b->of);
        fprintf(w->out, ",%s,%s", b->series, b->unit);
        for (int k = 0; k < 4; k++) {
            putc(',', w->out);
            sim_csv_number(w->out, values[k]);
        }
        fprintf(w->out, ",%u\r\n", b->runs);
    }
}

void sim_csv_bands(FILE *out, const struct sim_summary *s)
{
    fputs("variant,of,series,unit,time_s,low,median,high,runs\r\n", out);
    for (uint32_t v = 0; v < s->n_variants; v++) {
        struct band_writer w = { out, s->variants[v].name };
        sim_bands(s, v, write_band, &w);
    }
}

/* ===== series, of the first replication ===== */

static const char *const caller_heads[SIM_CALLER_CHANNELS] = {
    [SIM_CALLS] = "calls",
    [SIM_ATTEMPTS] = "attempts",
    [SIM_RETRIES] = "retries",
    [SIM_HEDGES] = "hedges",
    [SIM_SUCCESSES] = "successes",
    [SIM_FAILURES] = "failures",
    [SIM_TIMEOUTS] = "timeouts",
    [SIM_IN_PROGRESS] = "in_progress",
    [SIM_WAITING] = "waiting",
    [SIM_BREAKER_OPEN] = "breaker_open",
    [SIM_BREAKER_HALF] = "breaker_half_open",
    [SIM_BUDGET] = "budget",
    [SIM_P50_NS] = "p50_ns",
    [SIM_P99_NS] = "p99_ns",
    [SIM_DUE] = "due",
    [SIM_OLDEST_NS] = "oldest_ns",
    [SIM_PAUSED] = "paused",
};

static const char *const service_heads[SIM_SERVICE_CHANNELS] = {
    [SIM_ARRIVED] = "arrived",
    [SIM_SERVED] = "served",
    [SIM_WASTED] = "wasted",
    [SIM_REFUSED] = "refused",
    [SIM_THROTTLED] = "throttled",
    [SIM_DROPPED] = "dropped",
    [SIM_ERRORS] = "errors",
    [SIM_DUPLICATES] = "duplicates",
    [SIM_QUEUE] = "queue",
    [SIM_BUSY] = "busy",
    [SIM_CAPACITY_RATE] = "capacity",
};

static void write_heads(FILE *out, const char *what, const char *const *heads,
                        int n)
{
    fprintf(out, "variant,%s,time_s", what);
    for (int c = 0; c < n; c++)
        fprintf(out, ",%s", heads[c] ? heads[c] : "");
    fputs("\r\n", out);
}

static void write_steps(FILE *out, const char *variant, const char *name,
                        const struct sim_result *r, double *const *channels,
                        int n)
{
    for (uint32_t i = 0; i < r->n_steps; i++) {
        sim_csv_text(out, variant);
        putc(',', out);
        sim_csv_text(out, name);
        putc(',', out);
        sim_csv_number(out, (double)r->step_ns * i / 1e9);
        for (int c = 0; c < n; c++) {
            putc(',', out);
            sim_csv_number(out, channels[c][i]);
        }
        fputs("\r\n", out);
    }
}

void sim_csv_callers(FILE *out, const struct sim_summary *s)
{
    write_heads(out, "caller", caller_heads, SIM_CALLER_CHANNELS);
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = s->variants[v].first;
        for (uint32_t c = 0; c < r->n_callers; c++)
            write_steps(out, s->variants[v].name, r->callers[c].name, r,
                        r->callers[c].value, SIM_CALLER_CHANNELS);
    }
}

void sim_csv_services(FILE *out, const struct sim_summary *s)
{
    write_heads(out, "service", service_heads, SIM_SERVICE_CHANNELS);
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = s->variants[v].first;
        for (uint32_t i = 0; i < r->model->n_services; i++)
            write_steps(out, s->variants[v].name, r->services[i].name, r,
                        r->services[i].value, SIM_SERVICE_CHANNELS);
    }
}
