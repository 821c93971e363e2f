/* A sweep on the terminal: a table for one axis, heat maps for two. */
#include <math.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "cmd/sim/sweep.h"
#include "cmd/sim/table.h"
#include "sim/study/figure_text.h"

/* ===== one axis: a row for each value ===== */

static int widest_value(const struct sim_axis *a)
{
    int width = text_width(a->key);

    for (uint32_t i = 0; i < a->n; i++)
        if (text_width(a->values[i]) > width)
            width = text_width(a->values[i]);
    return width;
}

/* One column of a table: a figure of a variant, with a heading. */
struct column {
    const char *head;
    enum sim_figure figure;
    uint32_t variant;
    int width;
};

static const char *cell_text(const struct sweep_cmd *c,
                             const struct column *column, uint32_t x,
                             char *buffer)
{
    return sim_interval_text(
        column->figure,
        &sim_sweep_at(c->sweep, x, 0, column->variant)[column->figure],
        use_utf8(), buffer, SIM_TEXT);
}

static void measure(const struct sweep_cmd *c, struct column *column)
{
    char buffer[SIM_TEXT];

    column->width = text_width(column->head);
    for (uint32_t x = 0; x < c->axes[0].n; x++) {
        int wide = text_width(cell_text(c, column, x, buffer));
        column->width = wide > column->width ? wide : column->width;
    }
}

static void print_block(const struct sweep_cmd *c, const struct column *columns,
                        uint32_t n, int head)
{
    const struct sim_axis *a = &c->axes[0];
    struct paint p = paint_for(stdout);
    char buffer[SIM_TEXT];

    fputs(p.dim, stdout);
    print_padded(stdout, a->key, head, false);
    for (uint32_t i = 0; i < n; i++) {
        fputs("  ", stdout);
        print_padded(stdout, columns[i].head, columns[i].width, true);
    }
    printf("%s\n", p.plain);
    for (uint32_t x = 0; x < a->n; x++) {
        print_padded(stdout, a->values[x], head, false);
        for (uint32_t i = 0; i < n; i++) {
            fputs("  ", stdout);
            print_padded(stdout, cell_text(c, &columns[i], x, buffer),
                         columns[i].width, true);
        }
        putchar('\n');
    }
}

/* Prints columns in blocks if they do not fit side by side. */
static void print_columns(const struct sweep_cmd *c, struct column *columns,
                          uint32_t n, int width)
{
    int head = widest_value(&c->axes[0]);
    uint32_t from = 0;

    for (uint32_t i = 0; i < n; i++)
        measure(c, &columns[i]);
    while (from < n) {
        uint32_t to = from;
        int used = head;
        do
            used += 2 + columns[to++].width;
        while (to < n && used + 2 + columns[to].width <= width);
        if (from > 0)
            putchar('\n');
        print_block(c, columns + from, to - from, head);
        from = to;
    }
}

/* With one figure, a table of the variants; else a table of figures for each
 * variant. */
static void print_lines(const struct sweep_cmd *c, int width)
{
    struct column columns[MOST_NAMED]; /* more than N_USUAL */
    struct paint p = paint_for(stdout);

    if (c->chosen) {
        for (uint32_t v = 0; v < c->n_names; v++)
            columns[v] = (struct column){ c->names[v], c->metric, v, 0 };
        printf("\n%s%s%s\n", p.bold, sim_figure_name(c->metric), p.plain);
        print_columns(c, columns, c->n_names, width);
        return;
    }
    for (uint32_t v = 0; v < c->n_names; v++) {
        for (uint32_t i = 0; i < N_USUAL; i++)
            columns[i] = (struct column){ sim_figure_name(usual_figures[i]),
                                          usual_figures[i], v, 0 };
        printf("\n%s", p.bold);
        if (*c->names[v])
            bide__print_wrapped(stdout, c->names[v], 0, 0, width);
        printf("%s", p.plain);
        print_columns(c, columns, N_USUAL, width);
    }
}

/* ===== two axes: a heat map ===== */

struct range {
    double least, most;
};

static struct range range_of(const struct sweep_cmd *c)
{
    struct range r = { INFINITY, -INFINITY };

    for (uint32_t i = 0; i < c->sweep->n_points * c->sweep->n_variants; i++) {
        double x = c->sweep->cells[i * SIM_FIGURES + c->metric].mean;
        r.least = x < r.least ? x : r.least;
        r.most = x > r.most ? x : r.most;
    }
    return r;
}

/* How good a cell is, 0 to 4; -1: unknown. */
static int grade(const struct sweep_cmd *c, const struct sim_interval *i,
                 struct range r)
{
    double part = (i->mean - r.least) / (r.most - r.least);
    int better = sim_figure_better(c->metric);

    if (i->infinite)
        return 0;
    if (i->n == 0 || !(r.most > r.least))
        return -1;
    return (int)((better < 0 ? 1 - part : part) * 4.999);
}

static void print_cell(const struct sweep_cmd *c, const struct sim_interval *i,
                       struct range r, int width)
{
    static const char *const colours[] = {
        "\033[97;48;5;124m", "\033[97;48;5;166m", "\033[30;48;5;179m",
        "\033[30;48;5;108m", "\033[97;48;5;29m"
    };
    char buffer[SIM_TEXT];
    bool coloured = use_colours(stdout);
    int g = grade(c, i, r);
    double x = i->n > 0        ? i->mean
               : i->infinite   ? INFINITY
               : i->overloaded ? -INFINITY
                               : i->mean;

    printf(" %s", coloured && g >= 0 ? colours[g] : "");
    print_padded(stdout, sim_figure_text(c->metric, x, buffer, sizeof buffer),
                 width, true);
    printf("%s%s", (i->infinite || i->overloaded) && i->n ? "*" : " ",
           coloured && g >= 0 ? "\033[0m" : "");
}

static void print_rows(const struct sweep_cmd *c, uint32_t v, uint32_t from,
                       uint32_t to, int head, int cell)
{
    const struct sim_axis *ax = &c->axes[0], *ay = &c->axes[1];
    struct range r = range_of(c);
    struct paint p = paint_for(stdout);

    fputs(p.dim, stdout);
    print_padded(stdout, ay->key, head, false);
    for (uint32_t x = from; x < to; x++) {
        putchar(' ');
        print_padded(stdout, ax->values[x], cell, true);
        putchar(' ');
    }
    printf("%s\n", p.plain);
    for (uint32_t y = 0; y < ay->n; y++) {
        print_padded(stdout, ay->values[y], head, false);
        for (uint32_t x = from; x < to; x++)
            print_cell(c, &sim_sweep_at(c->sweep, x, y, v)[c->metric], r, cell);
        putchar('\n');
    }
}

/* Prints as many columns of the map as fit. */
static void print_map(const struct sweep_cmd *c, uint32_t v, int width)
{
    const struct sim_axis *ax = &c->axes[0];
    int cell = 7, head = widest_value(&c->axes[1]);
    uint32_t fit;

    for (uint32_t x = 0; x < ax->n; x++)
        if (text_width(ax->values[x]) > cell)
            cell = text_width(ax->values[x]);
    fit = width > head + cell + 2 ? (uint32_t)((width - head) / (cell + 2)) : 1;
    for (uint32_t from = 0; from < ax->n; from += fit)
        print_rows(c, v, from, from + fit < ax->n ? from + fit : ax->n, head,
                   cell);
}

void sweep_print(const struct sweep_cmd *c)
{
    struct paint p = paint_for(stdout);
    int width = terminal_width(stdout);
    const struct sim_sweep *s = c->sweep;
    char line[300];

    print_title(c->model->title ? c->model->title : c->ask->subjects[0].name);
    snprintf(line, sizeof line,
             "%s%s%s%s: %u points, %u replication%s each, "
             "seed %llu%s",
             c->axes[0].key, s->n_axes > 1 ? " (across), " : "",
             s->n_axes > 1 ? c->axes[1].key : "",
             s->n_axes > 1 ? " (down)" : "", s->n_points, s->replications,
             s->replications == 1 ? "" : "s", (unsigned long long)s->seed,
             s->cut_short ? "; cut short: this is what is known so far" : "");
    bide__print_wrapped(stdout, line, 0, 0, width);
    if (s->n_axes == 1) {
        print_lines(c, width);
        return;
    }
    for (uint32_t v = 0; v < c->n_names; v++) {
        snprintf(line, sizeof line, "%s%s%s", c->names[v],
                 *c->names[v] ? ": " : "", sim_figure_name(c->metric));
        printf("\n%s", p.bold);
        bide__print_wrapped(stdout, line, 0, 0, width);
        printf("%s", p.plain);
        print_map(c, v, width);
    }
}
