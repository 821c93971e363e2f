/* The figures as a table: a row for each, a column for each variant. */
#include "cmd/sim/table.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "base/people.h"
#include "cmd/common/output.h"
#include "sim/study/figure_text.h"

enum { GAP = 2, NARROWEST = 9, WIDEST = 30 };

int text_width(const char *text)
{
    return (int)bide__utf8_count(text, strlen(text));
}

void print_padded(FILE *out, const char *text, int width, bool right)
{
    int wide = text_width(text), left = width;

    if (right && wide < width)
        fprintf(out, "%*s", width - wide, "");
    for (; *text && left > 0; left--) {
        do
            putc(*text++, out);
        while (*text && bide__utf8_count(text, 1) == 0);
    }
    if (!right && wide < width)
        fprintf(out, "%*s", width - wide, "");
}

void print_title(const char *title)
{
    struct paint p = paint_for(stdout);

    printf("%s", p.bold);
    bide__print_wrapped(stdout, title, 0, 0, terminal_width(stdout));
    printf("%s", p.plain);
}

/* ===== what is worth a row ===== */

static bool says_something(const struct sim_summary *s, enum sim_figure f)
{
    bool any = false, other = false, zero = true;

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_interval *i = s->variants[v].figure;
        any = any || i[f].n || i[f].infinite;
        zero = zero && !(fabs(i[f].mean) > 0);
        other = other || fabs(i[f].mean - i[SIM_FIG_AMPLIFICATION].mean) > 1e-9;
    }
    if (f == SIM_FIG_HEDGES)
        return any && !zero;
    if (f == SIM_FIG_DEEPEST) /* it is the same in a graph with one level */
        return any && other;
    return any;
}

/* ===== colours ===== */

/* How good a value is: greater is better, NaN is unknown. */
static double merit(const struct sim_interval *i, enum sim_figure f)
{
    double x = i->n == 0 && !i->infinite ? NAN : sim_interval_value(i);

    return sim_figure_better(f) * x;
}

static bool meet(const struct sim_interval *a, const struct sim_interval *b)
{
    if (a->infinite || b->infinite)
        return a->infinite && b->infinite;
    return a->low <= b->high && b->low <= a->high;
}

/* Latency is that of successful calls: if almost no call succeeds, it cannot be
 * compared with a variant where almost all do. */
static bool comparable(const struct sim_summary *s, enum sim_figure f)
{
    double least = 1, most = 0;

    if (f != SIM_FIG_P50 && f != SIM_FIG_P99 && f != SIM_FIG_P999)
        return sim_figure_better(f) != 0;
    for (uint32_t v = 0; v < s->n_variants; v++) {
        double x = s->variants[v].figure[SIM_FIG_SUCCESS].mean;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    return most - least < 0.05;
}

/* 1 if a variant is as good as the best in a row, -1 if as bad as the worst; 0:
 * neither is clear. */
static int rank(const struct sim_summary *s, enum sim_figure f,
                uint32_t variant)
{
    const struct sim_interval *best = &s->variants[0].figure[f], *worst = best;
    const struct sim_interval *mine = &s->variants[variant].figure[f];

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_interval *i = &s->variants[v].figure[f];
        if (isnan(merit(i, f)))
            return 0;
        best = merit(i, f) > merit(best, f) ? i : best;
        worst = merit(i, f) < merit(worst, f) ? i : worst;
    }
    if (!comparable(s, f) || meet(best, worst) ||
        fabs(best->mean - worst->mean) < 0.01 * fabs(worst->mean))
        return 0;
    return (int)meet(mine, best) - (int)meet(mine, worst);
}

/* ===== columns ===== */

static const char *cell(const struct sim_summary *s, uint32_t v,
                        enum sim_figure f, char *buffer)
{
    return sim_interval_text(f, &s->variants[v].figure[f], use_utf8(), buffer,
                             SIM_TEXT);
}

static int column_width(const struct sim_summary *s, uint32_t v)
{
    int width = text_width(s->variants[v].name);
    char buffer[SIM_TEXT];

    if (width < NARROWEST)
        width = NARROWEST;
    if (width > WIDEST)
        width = WIDEST;
    for (int f = 0; f < SIM_FIGURES; f++) {
        int wide = text_width(cell(s, v, (enum sim_figure)f, buffer));
        if (wide > width && says_something(s, (enum sim_figure)f))
            width = wide;
    }
    return width;
}

static int head_width(int most)
{
    int width = 0;

    for (int f = 0; f < SIM_FIGURES; f++) {
        int wide = text_width(sim_figure_head((enum sim_figure)f));
        width = wide > width ? wide : width;
    }
    return width < most ? width : most;
}

/* ===== printing ===== */

static void print_row(FILE *out, const struct sim_summary *s, enum sim_figure f,
                      uint32_t from, uint32_t to, int head)
{
    struct paint p = paint_for(out);
    char buffer[SIM_TEXT];

    print_padded(out, sim_figure_head(f), head, false);
    for (uint32_t v = from; v < to; v++) {
        int r = s->n_variants > 1 ? rank(s, f, v) : 0;
        fprintf(out, "%*s%s", GAP, "", r > 0 ? p.green : r < 0 ? p.red : "");
        print_padded(out, cell(s, v, f, buffer), column_width(s, v), true);
        fputs(r ? p.plain : "", out);
    }
    putc('\n', out);
}

static void print_block(FILE *out, const struct sim_summary *s, uint32_t from,
                        uint32_t to, int head)
{
    struct paint p = paint_for(out);

    if (s->n_variants > 1 || *s->variants[0].name) {
        fprintf(out, "%s%*s", p.bold, head, "");
        for (uint32_t v = from; v < to; v++) {
            fprintf(out, "%*s", GAP, "");
            print_padded(out, s->variants[v].name, column_width(s, v), true);
        }
        fprintf(out, "%s\n", p.plain);
    }
    for (int f = 0; f < SIM_FIGURES; f++)
        if (says_something(s, (enum sim_figure)f))
            print_row(out, s, (enum sim_figure)f, from, to, head);
}

void sim_table_print(FILE *out, const struct sim_summary *s, int width)
{
    int head = head_width(width > 46   ? width / 2
                          : width > 32 ? width - 22
                                       : 10);
    uint32_t from = 0;

    while (from < s->n_variants) {
        uint32_t to = from;
        int used = head;
        do
            used += GAP + column_width(s, to++);
        while (to < s->n_variants && used + GAP + column_width(s, to) <= width);
        if (from > 0)
            putc('\n', out);
        print_block(out, s, from, to, head);
        from = to;
    }
}
