/* Sweeps: a figure over one or two settings. Tables, with each cell tinted by
 * how good it is: they can be read as maps and as numbers. */
#include "sim/report/map.h"

#include <math.h>

#include "sim/report/heat.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

static void cell(struct page *p, const struct sim_page_grid *g,
                 const struct sim_interval *i, struct page_bounds b)
{
    enum page_unit unit = page_figure_unit(g->figure);
    double x = page_mean_of(i);
    struct page_heat heat = page_heat_of(g->figure, x, b);
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
    fprintf(p->out, "<td class=\"heat c-%s\" style=\"--v:%d%%\">", heat.colour,
            heat.percent);
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
                 struct page_bounds b)
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
static void map(struct page *p, const struct sim_page_grid *g,
                struct page_bounds b)
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

static uint32_t table(struct page *p, uint32_t from)
{
    const struct sim_page_grid *g = &p->ctx->grids[from];
    struct page_bounds b = page_bounds_of(p->ctx, g->figure);
    uint32_t n = page_grids_together(p->ctx, from);

    if (!page_is_swept(p->ctx, g->figure))
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
                  "Each cell is the whole scenario with other settings. "
                  "Green is better, red is worse, blue is neither; a figure "
                  "has the same scale in all variants.");
    fputs("<div class=\"maps\">\n", p->out);
    for (uint32_t i = 0; i < p->ctx->n_grids;)
        i += table(p, i);
    fputs("</div>\n", p->out);
    page_row_close(p);
}
