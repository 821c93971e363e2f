/* The figures as a table: a row for each, a column for each variant. */
#include "cmd/sim/table.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/sim/table_rows.h"
#include "sim/study/figure_text.h"

enum { GAP = 2, INDENT = 2, NARROWEST = 9, WIDEST = 30 };

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

    if (f != SIM_FIG_MEAN && f != SIM_FIG_P50 && f != SIM_FIG_P99 &&
        f != SIM_FIG_P999)
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
static int rank(const struct sim_summary *s, const struct table_row *row,
                uint32_t variant)
{
    const struct sim_interval *best = table_cell(s, 0, row), *worst = best;
    const struct sim_interval *mine = table_cell(s, variant, row);
    enum sim_figure f = row->figure;

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_interval *i = table_cell(s, v, row);
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

/* What is printed, and how wide its first column is. */
struct table {
    FILE *out;
    const struct sim_summary *s;
    struct table_row rows[TABLE_ROWS];
    uint32_t n;
    int head, most;
};

static const char *cell(const struct table *t, uint32_t v,
                        const struct table_row *row, char *buffer)
{
    if (row->part == TABLE_HEADING)
        return "";
    return sim_interval_text(row->figure, table_cell(t->s, v, row), use_utf8(),
                             buffer, SIM_TEXT);
}

static int column_width(const struct table *t, uint32_t v)
{
    int width = text_width(t->s->variants[v].name);
    char buffer[SIM_TEXT];

    if (width < NARROWEST)
        width = NARROWEST;
    if (width > WIDEST)
        width = WIDEST;
    for (uint32_t i = 0; i < t->n; i++) {
        int wide = text_width(cell(t, v, &t->rows[i], buffer));
        width = wide > width ? wide : width;
    }
    return width;
}

/* Rows of a part are indented under its name. */
static int indent_of(const struct table_row *row)
{
    return row->part == TABLE_FLEET || row->part == TABLE_SERVICE ? INDENT : 0;
}

static int head_width(const struct table *t, int most)
{
    int width = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        int wide = text_width(t->rows[i].head) + indent_of(&t->rows[i]);
        if (t->rows[i].part != TABLE_HEADING)
            width = wide > width ? wide : width;
    }
    return width < most ? width : most;
}

/* ===== printing ===== */

static void print_row(const struct table *t, const struct table_row *row,
                      uint32_t from, uint32_t to)
{
    struct paint p = paint_for(t->out);
    int indent = indent_of(row);
    char buffer[SIM_TEXT];

    if (row->part == TABLE_HEADING) {
        int wide = text_width(row->head);
        fputs(p.bold, t->out);
        print_padded(t->out, row->head, wide < t->most ? wide : t->most, false);
        fprintf(t->out, "%s\n", p.plain);
        return;
    }
    fprintf(t->out, "%*s", indent, "");
    print_padded(t->out, row->head, t->head - indent, false);
    for (uint32_t v = from; v < to; v++) {
        int r = t->s->n_variants > 1 ? rank(t->s, row, v) : 0;
        fprintf(t->out, "%*s%s", GAP, "", r > 0 ? p.green : r < 0 ? p.red : "");
        print_padded(t->out, cell(t, v, row, buffer), column_width(t, v), true);
        fputs(r ? p.plain : "", t->out);
    }
    putc('\n', t->out);
}

static void print_block(const struct table *t, uint32_t from, uint32_t to)
{
    struct paint p = paint_for(t->out);

    if (t->s->n_variants > 1 || *t->s->variants[0].name) {
        fprintf(t->out, "%s%*s", p.bold, t->head, "");
        for (uint32_t v = from; v < to; v++) {
            fprintf(t->out, "%*s", GAP, "");
            print_padded(t->out, t->s->variants[v].name, column_width(t, v),
                         true);
        }
        fprintf(t->out, "%s\n", p.plain);
    }
    for (uint32_t i = 0; i < t->n; i++)
        print_row(t, &t->rows[i], from, to);
}

void sim_table_print(FILE *out, const struct sim_summary *s, int width)
{
    struct table t = { .out = out, .s = s, .most = width };
    uint32_t from = 0;

    t.n = table_rows(s, t.rows);
    t.head = head_width(&t, width > 46   ? width / 2
                            : width > 32 ? width - 22
                                         : 10);
    while (from < s->n_variants) {
        uint32_t to = from;
        int used = t.head;
        do
            used += GAP + column_width(&t, to++);
        while (to < s->n_variants &&
               used + GAP + column_width(&t, to) <= width);
        if (from > 0)
            putc('\n', out);
        print_block(&t, from, to);
        from = to;
    }
}
