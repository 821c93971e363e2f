/* Maps of cells: the stability of each variant, and figures over two settings.
 * x runs to the right, y upward. */
#include "sim/report/picture/cells.h"

#include <math.h>
#include <string.h>

#include "sim/report/heat.h"
#include "sim/report/picture/picture.h"
#include "sim/report/text.h"

enum {
    LEAST_W = 62,
    INSIDE_W = 260,
    CELL_H = 28,
    SIDE = 64,
    HEAD = 28,
    AXIS = 60,
    GAP = 2
};

/* A few cells are wider, to have room for names. */
static int cell_px(const struct sim_page_axis *x)
{
    int px = INSIDE_W / (int)x->n;

    return px > LEAST_W ? px : LEAST_W;
}

struct picture_size picture_cells_size(const struct sim_page_axis *x,
                                       const struct sim_page_axis *y)
{
    return (struct picture_size){ SIDE + (int)x->n * cell_px(x),
                                  HEAD + (int)y->n * CELL_H + AXIS };
}

static void axes(FILE *out, const struct sim_page_axis *x,
                 const struct sim_page_axis *y, int left, int top)
{
    int wide = cell_px(x), under = top + HEAD + (int)y->n * CELL_H;

    for (uint32_t j = 0; j < y->n; j++) {
        fprintf(out, "<text class=\"mute e s\" x=\"%d\" y=\"%d\">",
                left + SIDE - 8, under - (int)j * CELL_H - CELL_H / 2 + 4);
        picture_text(out, y->ticks[j], SIDE - 8);
        fputs("</text>\n", out);
    }
    for (uint32_t i = 0; i < x->n; i++) {
        fprintf(out, "<text class=\"mute m s\" x=\"%d\" y=\"%d\">",
                left + SIDE + (int)i * wide + wide / 2, under + 17);
        picture_text(out, x->ticks[i], wide);
        fputs("</text>\n", out);
    }
    fprintf(out, "<text class=\"mute s\" x=\"%d\" y=\"%d\">", left + SIDE,
            under + 34);
    picture_text(out, x->name, (int)x->n * cell_px(x) / 2);
    fputs(" →, ", out);
    picture_text(out, y->name, (int)x->n * cell_px(x) / 2);
    fputs(" ↑</text>\n", out);
}

static void name(FILE *out, const char *what, const char *variant, int wide,
                 int x, int y)
{
    fprintf(out, "<text class=\"ink b\" x=\"%d\" y=\"%d\">", x + SIDE, y + 16);
    picture_text(out, what, wide);
    if (*what && *variant)
        fputs(", ", out);
    picture_text(out, variant, wide - 7 * (int)strlen(what));
    fputs("</text>\n", out);
}

/* A cell at column i and row j, counted from the bottom. */
static void cell(FILE *out, const struct sim_page_axis *x,
                 const struct sim_page_axis *y, int left, int top, uint32_t i,
                 uint32_t j, const char *fill, double opacity, const char *ink,
                 const char *text)
{
    int wide = cell_px(x), x0 = left + SIDE + (int)i * wide;
    int y0 = top + HEAD + (int)(y->n - 1 - j) * CELL_H;

    fprintf(out, "<rect class=\"%s\"", fill);
    if (opacity < 1)
        fprintf(out, " fill-opacity=\"%.2f\"", opacity);
    fprintf(out,
            " x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>"
            "<text class=\"%s m s\" x=\"%d\" y=\"%d\">%s</text>\n",
            x0, y0, wide - GAP, CELL_H - GAP, ink, x0 + (wide - GAP) / 2,
            y0 + CELL_H / 2 + 3, text);
}

/* ===== stability ===== */

void picture_map(FILE *out, const struct sim_page_map *m, int left, int top)
{
    char text[PAGE_TEXT];

    name(out, "", m->variant ? m->variant : "", (int)m->x.n * cell_px(&m->x),
         left, top);
    for (uint32_t j = 0; j < m->y.n; j++)
        for (uint32_t i = 0; i < m->x.n; i++) {
            const struct sim_cell *c = &m->cells[(size_t)j * m->x.n + i];

            cell(out, &m->x, &m->y, left, top, i, j, page_fate_class(c), 1,
                 c->fate == SIM_FATE_NEVER ? "inverse" : "ink",
                 page_fate_text(text, c));
        }
    axes(out, &m->x, &m->y, left, top);
}

void picture_map_legend(FILE *out, int x, int y, int end)
{
    int left = x;

    static const struct {
        const char *class, *words;
        int px;
    } kinds[] = {
        { "recovers", "recovers each time; mean time", 216 },
        { "vulnerable", "late, or down for good in so many runs", 270 },
        { "never", "recovers in no run", 150 },
        { "overloaded", "too much load even without the fault", 260 },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (x > left && x + kinds[i].px > end) {
            x = left;
            y += 18;
        }
        fprintf(out,
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"11\" "
                "height=\"11\"/><text class=\"mute s\" x=\"%d\" "
                "y=\"%d\">%s</text>\n",
                kinds[i].class, x, y - 10, x + 17, y, kinds[i].words);
        x += kinds[i].px;
    }
}

/* ===== two settings ===== */

static void grid_cell(FILE *out, const struct sim_page_grid *g, int left,
                      int top, uint32_t i, uint32_t j, struct page_bounds b)
{
    const struct sim_interval *c = &g->cells[(size_t)j * g->x.n + i];
    double x = page_mean_of(c);
    struct page_heat heat = page_heat_of(g->figure, x, b);
    char text[PAGE_TEXT], fill[PAGE_TEXT];

    if (c->infinite && !c->n)
        cell(out, &g->x, &g->y, left, top, i, j, "never", 1, "inverse",
             "never");
    else if (isnan(x))
        cell(out, &g->x, &g->y, left, top, i, j,
             c->overloaded ? "overloaded" : "none", 1, "ink",
             c->overloaded ? "overload" : "–");
    else {
        snprintf(fill, sizeof fill, "l c-%s", heat.colour);
        cell(out, &g->x, &g->y, left, top, i, j, fill, heat.percent * 0.006,
             c->infinite ? "ink b" : "ink",
             page_number(text, page_figure_unit(g->figure), x));
    }
}

void picture_grid(FILE *out, const struct sim_page_context *ctx,
                  const struct sim_page_grid *g, int left, int top)
{
    struct page_bounds b = page_bounds_of(ctx, g->figure);

    name(out, page_figure_words(g->figure), g->variant ? g->variant : "",
         (int)g->x.n * cell_px(&g->x), left, top);
    for (uint32_t j = 0; j < g->y.n; j++)
        for (uint32_t i = 0; i < g->x.n; i++)
            grid_cell(out, g, left, top, i, j, b);
    axes(out, &g->x, &g->y, left, top);
}
