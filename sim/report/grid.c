/* Sweeps: a figure over one or two settings. Tables, with each cell tinted in
 * proportion to the greatest: they can be read as maps and as numbers. */
#include <math.h>

#include "sim/report/map.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

static double value_of(const struct sim_interval *i)
{
    return i->n > 0 && isfinite(i->mean) ? i->mean : (double)NAN;
}

/* The minimum and maximum of a figure over all grids that show it, so that the
 * variants can be compared. */
struct bounds {
    double least, most;
};

static struct bounds bounds_of(const struct sim_page_context *ctx,
                               enum sim_figure f)
{
    struct bounds b = { INFINITY, -INFINITY };

    for (uint32_t g = 0; g < ctx->n_grids; g++) {
        const struct sim_page_grid *grid = &ctx->grids[g];
        size_t n = (size_t)grid->x.n * grid->y.n;

        for (size_t i = 0; grid->figure == f && i < n; i++) {
            double x = value_of(&grid->cells[i]);

            if (!isnan(x)) {
                b.least = fmin(b.least, x);
                b.most = fmax(b.most, x);
            }
        }
    }
    return b;
}

/* 0 to 1. Values that hardly differ must not look as if they did. */
static double heat_of(double x, struct bounds b)
{
    double wide = fmax(b.most - b.least, 0.05 * fabs(b.most));

    return wide > 0 && isfinite(wide) ? (x - b.least) / wide : 0;
}

static void cell(struct page *p, const struct sim_page_grid *g,
                 const struct sim_interval *i, struct bounds b)
{
    enum page_unit unit = page_figure_unit(g->figure);
    double x = value_of(i), heat = heat_of(x, b);
    char text[PAGE_TEXT];

    if (i->infinite && !i->n) {
        fputs("<td class=\"never\">never</td>", p->out);
        return;
    }
    if (isnan(x) && i->overloaded) {
        fputs("<td class=\"overloaded\">overload</td>", p->out);
        return;
    }
    if (isnan(x)) {
        fputs("<td class=\"none\">–</td>", p->out);
        return;
    }
    fprintf(p->out, "<td class=\"heat%s\" style=\"--v:%.0f%%\">",
            heat > 0.6 ? " hot" : "", heat * 100);
    fputs(g->y.n > 1 ? page_number(text, unit, x)
                     : page_plus_minus(text, unit, i),
          p->out);
    if (i->infinite)
        fprintf(p->out, "<small>never in %u of %u</small>", i->infinite,
                i->n + i->infinite);
    fputs("</td>", p->out);
}

static void caption(struct page *p, const struct sim_page_grid *g)
{
    fputs("<caption>", p->out);
    page_text(p->out, page_figure_words(g->figure));
    if (g->y.n > 1 && g->variant && *g->variant) {
        fputs(", <b>", p->out);
        page_text(p->out, g->variant);
        fputs("</b>", p->out);
    }
    fputs("</caption>\n", p->out);
}

static void head(struct page *p, const char *scope, const char *text)
{
    fprintf(p->out, "<th scope=\"%s\">", scope);
    page_text(p->out, text);
    fputs("</th>", p->out);
}

/* One setting: a line for each value, a column for each variant. */
static void list(struct page *p, const struct sim_page_grid *g, uint32_t n,
                 struct bounds b)
{
    fputs("<tr>", p->out);
    head(p, "col", g->x.name);
    for (uint32_t v = 0; v < n; v++)
        head(p, "col", g[v].variant);
    fputs("</tr>\n", p->out);
    for (uint32_t i = 0; i < g->x.n; i++) {
        fputs("<tr>", p->out);
        head(p, "row", g->x.ticks[i]);
        for (uint32_t v = 0; v < n; v++)
            cell(p, &g[v], &g[v].cells[i], b);
        fputs("</tr>\n", p->out);
    }
}

/* Two: x across, y upward. */
static void map(struct page *p, const struct sim_page_grid *g, struct bounds b)
{
    for (uint32_t j = g->y.n; j-- > 0;) {
        fputs("<tr>", p->out);
        head(p, "row", g->y.ticks[j]);
        for (uint32_t i = 0; i < g->x.n; i++)
            cell(p, g, &g->cells[(size_t)j * g->x.n + i], b);
        fputs("</tr>\n", p->out);
    }
    fputs("<tr><th class=\"axis\">", p->out);
    page_text(p->out, g->y.name);
    fputs(" ↑<br>", p->out);
    page_text(p->out, g->x.name);
    fputs(" →</th>", p->out);
    for (uint32_t i = 0; i < g->x.n; i++)
        head(p, "col", g->x.ticks[i]);
    fputs("</tr>\n", p->out);
}

/* Whether a figure has a value: without a fault, for example, nothing
 * recovers. */
static bool is_telling(const struct sim_page_context *ctx, enum sim_figure f)
{
    for (uint32_t g = 0; g < ctx->n_grids; g++) {
        size_t n = (size_t)ctx->grids[g].x.n * ctx->grids[g].y.n;

        for (size_t i = 0; ctx->grids[g].figure == f && i < n; i++)
            if (ctx->grids[g].cells[i].n || ctx->grids[g].cells[i].infinite)
                return true;
    }
    return false;
}

/* How many grids from this one on are columns of one table. */
static uint32_t together(const struct sim_page_context *ctx, uint32_t from)
{
    const struct sim_page_grid *g = &ctx->grids[from];
    uint32_t n = 1;

    while (g->y.n == 1 && from + n < ctx->n_grids && g[n].y.n == 1 &&
           g[n].figure == g->figure && g[n].x.n == g->x.n &&
           g[n].x.ticks == g->x.ticks)
        n++;
    return n;
}

static uint32_t table(struct page *p, uint32_t from)
{
    const struct sim_page_grid *g = &p->ctx->grids[from];
    struct bounds b = bounds_of(p->ctx, g->figure);
    uint32_t n = together(p->ctx, from);

    if (!is_telling(p->ctx, g->figure))
        return n;
    fputs("<div class=\"scroll\"><table class=\"map\">", p->out);
    caption(p, g);
    if (g->y.n > 1)
        map(p, g, b);
    else
        list(p, g, n, b);
    fputs("</table></div>\n", p->out);
    return n;
}

void page_grids(struct page *p)
{
    if (p->ctx->n_grids == 0)
        return;
    page_row_open(p, "Sweep",
                  "Each cell is the whole scenario with other settings; the "
                  "darker, the greater. The scale of a figure is the same for "
                  "all variants.");
    fputs("<div class=\"maps\">\n", p->out);
    for (uint32_t i = 0; i < p->ctx->n_grids;)
        i += table(p, i);
    fputs("</div>\n", p->out);
    page_row_close(p);
}
