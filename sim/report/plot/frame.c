/* The frame of a plot: its scales, its ticks, and the faults behind it. The SVG
 * is stretched, so lines have a fixed width; ticks are HTML. */
#include <math.h>

#include "sim/report/faults.h"
#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

enum { BANDS = 120, LEAST = 6 /* of the width of a fault: it must be seen */ };

void page_row_open(struct page *p, const char *title, const char *about)
{
    p->title = title;
    p->variant = NULL;
    fputs("<section class=\"row\">\n<h2>", p->out);
    page_text(p->out, title);
    fputs("</h2>\n", p->out);
    if (!about)
        return;
    fputs("<p class=\"about\">", p->out);
    page_text(p->out, about);
    fputs("</p>\n", p->out);
}

void page_row_close(struct page *p)
{
    fputs("</section>\n", p->out);
    p->rows++;
}

void page_plot_open(struct page *p, uint32_t v, const char *more)
{
    const char *name = p->s->variants[v].name;

    p->variant = name;
    p->model = page_model_of(p->s, v);
    fputs("<figure>", p->out);
    if ((name && *name) || more)
        fputs("<figcaption>", p->out);
    page_text(p->out, name);
    if (more) {
        fputs(name && *name ? " <i>" : "<i>", p->out);
        page_text(p->out, more);
        fputs("</i>", p->out);
    }
    if ((name && *name) || more)
        fputs("</figcaption>", p->out);
    putc('\n', p->out);
}

void page_plot_close(struct page *p)
{
    fputs("</figure>\n", p->out);
}

static int x_at(const struct page_axes *a, double x)
{
    double place = page_place(&a->x, x);

    return (int)(fmin(fmax(place, 0), 1) * PAGE_W + 0.5);
}

static void shade(struct page *p, const struct page_axes *a, const char *what,
                  double from, double to)
{
    int x0 = x_at(a, from), x1 = x_at(a, to);

    if (to <= a->x.from || from >= a->x.to)
        return;
    fprintf(p->out, "<rect class=\"%s\" x=\"%d\" width=\"%d\" height=\"%d\"/>",
            what, x0, x1 > x0 + LEAST ? x1 - x0 : LEAST, PAGE_H);
}

static void shade_faults(struct page *p, const struct page_axes *a)
{
    struct page_band bands[BANDS];
    uint32_t n = page_bands(p->model, p->end_ns, bands, BANDS);

    if (p->model->warm_up_ns > 0)
        shade(p, a, "warm", 0, (double)p->model->warm_up_ns);
    for (uint32_t i = 0; i < n; i++)
        shade(p, a, "fault", bands[i].from_ns, bands[i].to_ns);
}

static void grid_lines(struct page *p, const struct page_axes *a)
{
    double at[PAGE_TICKS];
    int n = page_ticks(&a->y, 5, at);

    fputs("<path class=\"grid\" d=\"", p->out);
    for (int i = 0; i < n; i++)
        fprintf(p->out, "M0 %dh%d",
                PAGE_H - (int)(page_place(&a->y, at[i]) * PAGE_H + 0.5),
                PAGE_W);
    fputs("\"/>\n", p->out);
}

void page_frame_open(struct page *p, const struct page_axes *a, int height_px,
                     bool y_lines)
{
    static const char *const units[] = { "/s", "", "%", "s", "x" };

    fprintf(p->out,
            "<div class=\"f\" style=\"--h:%dpx\"><svg viewBox=\"0 0 %d %d\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
            height_px, PAGE_W, PAGE_H);
    page_text(p->out, p->title);
    if (p->variant && *p->variant) {
        fputs(", ", p->out);
        page_text(p->out, p->variant);
    }
    putc('"', p->out);
    if (a->x.time)
        fprintf(p->out,
                " data-x=\"%.6g %.6g\" data-y=\"%.6g %.6g %d\" data-u=\"%s\"",
                a->x.from / 1e9, a->x.to / 1e9, a->y.from, a->y.to, a->y.log,
                units[a->y.unit]);
    fputs(">", p->out);
    if (a->x.time)
        shade_faults(p, a);
    if (y_lines)
        grid_lines(p, a);
}

void page_frame_svg_close(struct page *p)
{
    fputs("</svg>\n", p->out);
}

static void y_ticks(struct page *p, const struct page_axes *a)
{
    double at[PAGE_TICKS];
    char text[PAGE_TEXT];
    int n = page_ticks(&a->y, 5, at);

    for (int i = 0; i < n; i++)
        fprintf(p->out, "<span class=\"y\" style=\"bottom:%.1f%%\">%s</span>",
                page_place(&a->y, at[i]) * 100, page_tick(text, &a->y, at[i]));
}

static void x_ticks(struct page *p, const struct page_axes *a)
{
    double at[PAGE_TICKS];
    char text[PAGE_TEXT];
    int n = page_ticks(&a->x, 5, at);

    for (int i = 0; i < n; i++)
        fprintf(p->out, "<span class=\"x\" style=\"left:%.1f%%\">%s</span>",
                page_place(&a->x, at[i]) * 100, page_tick(text, &a->x, at[i]));
}

/* Only where a reader sees the shading for the first time, only those that do
 * not overlap, and a fault that comes again only once. In the right half a name
 * ends where its fault begins, so that it is not cut. */
static void name_faults(struct page *p, const struct page_axes *a)
{
    struct page_band bands[BANDS];
    uint32_t n = page_bands(p->model, p->end_ns, bands, BANDS);
    double next = 0;
    char text[PAGE_TEXT];

    for (uint32_t i = 0; i < n; i++) {
        double at = page_place(&a->x, bands[i].from_ns);
        bool right = at > 0.6;

        if ((i > 0 && bands[i].fault == bands[i - 1].fault) || at < next ||
            at > 1)
            continue;
        fprintf(p->out, "<span class=\"ft\" style=\"%s:%.1f%%\">%s</span>",
                right ? "right" : "left", (right ? 1 - at : at) * 100,
                page_fault_words(text, bands[i].fault));
        next = at + 0.3;
    }
}

void page_frame_close(struct page *p, const struct page_axes *a, bool with_y)
{
    if (with_y)
        y_ticks(p, a);
    x_ticks(p, a);
    if (a->x.time && p->rows == 0)
        name_faults(p, a);
    fputs("</div>\n", p->out);
}
