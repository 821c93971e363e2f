/* A figure over one setting: a line for each variant, with the confidence
 * interval of each point. The values of the setting are spread evenly: they may
 * be words. A point of which some run never recovered has a cross; if none did,
 * the cross is at the top. */
#include "sim/report/picture/lines.h"

#include <math.h>

#include "sim/report/heat.h"
#include "sim/report/picture/picture.h"
#include "sim/report/text.h"

enum {
    SIDE = 60,
    HEAD = 30,
    INSIDE_W = 300,
    INSIDE_H = 150,
    AXIS = 62,
    ASIDE = 4
};

const struct picture_size picture_lines_size = { SIDE + INSIDE_W + 24,
                                                 HEAD + INSIDE_H + AXIS };

static const char *colour_of(uint32_t variant)
{
    static const char *const colours[] = { "s0", "s1", "s2", "s3", "s4", "s5" };

    return colours[variant % 6];
}

/* A plot: where it is, and what it shows. */
struct lines {
    FILE *out;
    const struct sim_page_grid *g; /* n of them, one for each variant */
    uint32_t n;
    struct page_scale y;
    int left, top;
};

static double most_of(const struct lines *l)
{
    double most = 0;

    for (uint32_t v = 0; v < l->n; v++)
        for (uint32_t i = 0; i < l->g->x.n; i++) {
            const struct sim_interval *c = &l->g[v].cells[i];

            if (c->n && isfinite(c->high))
                most = fmax(most, fmax(c->high, c->mean));
        }
    return most;
}

static double x_of(const struct lines *l, uint32_t i)
{
    return l->left + (l->g->x.n > 1 ? (double)INSIDE_W * i / (l->g->x.n - 1)
                                    : INSIDE_W / 2.0);
}

/* Variants with the same values stay visible beside each other. */
static double aside_of(const struct lines *l, uint32_t v)
{
    return (v - (l->n - 1) / 2.0) * ASIDE;
}

static double y_of(const struct lines *l, double value)
{
    double at = fmin(fmax(page_place(&l->y, value), 0), 1);

    return l->top + INSIDE_H - at * INSIDE_H;
}

static void ticks(const struct lines *l)
{
    double at[PAGE_TICKS];
    char text[PAGE_TEXT];
    int n = page_ticks(&l->y, 4, at);
    uint32_t every = (l->g->x.n + 5) / 6;

    for (int i = 0; i < n; i++)
        fprintf(l->out,
                "<path class=\"grid\" d=\"M%d %.1fh%d\"/>"
                "<text class=\"mute e s\" x=\"%d\" y=\"%.0f\">%s</text>\n",
                l->left, y_of(l, at[i]), INSIDE_W, l->left - 8,
                y_of(l, at[i]) + 4, page_tick(text, &l->y, at[i]));
    for (uint32_t i = 0; i < l->g->x.n; i += every) {
        fprintf(l->out, "<text class=\"mute m s\" x=\"%.0f\" y=\"%d\">",
                x_of(l, i), l->top + INSIDE_H + 18);
        picture_text(l->out, l->g->x.ticks[i], 70);
        fputs("</text>\n", l->out);
    }
    fprintf(l->out, "<text class=\"mute m s\" x=\"%d\" y=\"%d\">",
            l->left + INSIDE_W / 2, l->top + INSIDE_H + 36);
    picture_text(l->out, l->g->x.name, INSIDE_W);
    fputs("</text>\n", l->out);
}

static void draw_line(const struct lines *l, uint32_t v)
{
    double aside = aside_of(l, v);
    bool down = false;

    fprintf(l->out, "<path class=\"line c-%s\" d=\"", colour_of(v));
    for (uint32_t i = 0; i < l->g->x.n; i++) {
        double y = page_mean_of(&l->g[v].cells[i]);

        if (!isnan(y))
            fprintf(l->out, "%c%.1f %.1f", down ? 'L' : 'M', x_of(l, i) + aside,
                    y_of(l, y));
        down = !isnan(y);
    }
    fputs("\"/>\n", l->out);
}

/* Points and intervals; and the crosses. */
static void draw_points(const struct lines *l, uint32_t v)
{
    double aside = aside_of(l, v);

    fprintf(l->out, "<path class=\"line c-%s\" d=\"", colour_of(v));
    for (uint32_t i = 0; i < l->g->x.n; i++) {
        const struct sim_interval *c = &l->g[v].cells[i];
        double x = x_of(l, i) + aside, mean = page_mean_of(c);
        double y = isnan(mean) ? l->top : y_of(l, mean);

        if (!isnan(mean) && c->high > c->low)
            fprintf(l->out, "M%.1f %.1fV%.1f", x, y_of(l, c->low),
                    y_of(l, c->high));
        if (c->infinite)
            fprintf(l->out, "M%.1f %.1fl8 8m0-8l-8 8", x - 4, y - 4);
        else if (!isnan(mean))
            fprintf(l->out, "M%.1f %.1fh3v3h-3z", x - 1.5, y - 1.5);
    }
    fputs("\"/>\n", l->out);
}

void picture_lines(FILE *out, const struct sim_page_grid *g, uint32_t n, int x,
                   int y)
{
    struct lines l = { out, g, n, { .to = 1 }, x + SIDE, y + HEAD };

    l.y = page_scale_to(most_of(&l), page_figure_unit(g->figure));
    fprintf(out, "<text class=\"ink b\" x=\"%d\" y=\"%d\">%s</text>\n", l.left,
            y + 16, page_figure_words(g->figure));
    ticks(&l);
    for (uint32_t v = 0; v < n; v++) {
        draw_line(&l, v);
        draw_points(&l, v);
    }
}

void picture_lines_legend(FILE *out, const struct sim_page_grid *g, uint32_t n,
                          int x, int y, int end)
{
    for (uint32_t v = 0; v < n && x < end; v++) {
        const char *name = g[v].variant ? g[v].variant : "";

        fprintf(out,
                "<rect class=\"l c-%s\" x=\"%d\" y=\"%d\" width=\"11\" "
                "height=\"11\"/><text class=\"ink s\" x=\"%d\" y=\"%d\">",
                colour_of(v), x, y - 10, x + 17, y);
        picture_text(out, name, 160);
        fputs("</text>\n", out);
        x += 40 + picture_text_px(name, 160);
    }
}
