/* One variant in the picture: curves in a nested SVG, which is stretched; words
 * around it, which are not. */
#include <math.h>
#include <string.h>

#include "sim/report/faults.h"
#include "sim/report/models.h"
#include "sim/report/picture/picture.h"
#include "sim/report/text.h"

enum { BANDS = 60 };

static void bands(struct picture *p, const struct page_axes *a)
{
    struct page_band list[BANDS];
    uint32_t n = page_bands(p->model, p->end_ns, list, BANDS);

    if (p->model->warm_up_ns > 0)
        fprintf(p->out, "<rect class=\"warm\" width=\"%.0f\" height=\"%d\"/>",
                fmin(1, page_place(&a->x, (double)p->model->warm_up_ns)) *
                    PAGE_W,
                PAGE_H);
    for (uint32_t i = 0; i < n; i++) {
        double x = page_place(&a->x, list[i].from_ns);

        fprintf(p->out,
                "<rect class=\"fault\" x=\"%.0f\" width=\"%.0f\" "
                "height=\"%d\"/>",
                x * PAGE_W,
                fmax(6, (page_place(&a->x, list[i].to_ns) - x) * PAGE_W),
                PAGE_H);
    }
}

static void fault_names(struct picture *p, const struct page_axes *a, int x,
                        int y, int wide)
{
    struct page_band list[BANDS];
    uint32_t n = page_bands(p->model, p->end_ns, list, BANDS);
    double next = 0;
    char text[PAGE_TEXT];

    for (uint32_t i = 0; i < n; i++) {
        double at = page_place(&a->x, list[i].from_ns);

        if ((i > 0 && list[i].fault == list[i - 1].fault) || at < next ||
            at > 1)
            continue;
        fprintf(p->out, "<text class=\"ft%s\" x=\"%.0f\" y=\"%d\">%s</text>\n",
                at > 0.6 ? " e" : "", x + at * wide, y - 5,
                page_fault_words(text, list[i].fault));
        next = at + 0.35;
    }
}

static void ticks(struct picture *p, const struct page_axes *a, int x, int y,
                  int wide)
{
    double at[PAGE_TICKS];
    char text[PAGE_TEXT];
    int n = page_ticks(&a->y, 5, at);

    for (int i = 0; i < n; i++) {
        double up = y + HEIGHT - page_place(&a->y, at[i]) * HEIGHT;

        fprintf(p->out,
                "<path class=\"grid\" d=\"M%d %.1fh%d\"/>"
                "<text class=\"mute e\" x=\"%d\" y=\"%.0f\">%s</text>\n",
                x, up, wide, x - 8, up + 4, page_tick(text, &a->y, at[i]));
    }
    n = page_ticks(&a->x, 4, at);
    for (int i = 0; i < n; i++)
        fprintf(p->out,
                "<text class=\"mute m\" x=\"%.0f\" y=\"%d\">%s</text>\n",
                x + page_place(&a->x, at[i]) * wide, y + HEIGHT + 19,
                page_tick(text, &a->x, at[i]));
}

static void curve_names(struct picture *p, uint32_t v, int x, int y)
{
    struct page_label labels[PAGE_LABELS];
    int n = page_sheet_labels(&p->sheet, v, HEIGHT, 15, labels);

    for (int i = 0; i < n; i++)
        fprintf(p->out,
                "<text class=\"l c-%s\" x=\"%d\" y=\"%.0f\">%s</text>\n",
                labels[i].layer->colour, x + 8, y + labels[i].top_px + 4,
                labels[i].layer->name);
}

/* What does not fit under the upper edge, on paper: curves may be there. */
static void beyond(struct picture *p, uint32_t v, int x, int y)
{
    char text[PAGE_TEXT], all[2 * PAGE_TEXT];

    for (uint32_t l = 0; l < p->sheet.row->n_layers; l++) {
        const struct page_layer *layer = &p->sheet.row->layers[l];
        double most = page_sheet_beyond(&p->sheet, v, l);

        if (!(most > 0) || layer->how == PAGE_OVER)
            continue;
        snprintf(all, sizeof all, "%.20s %s%s", layer->name,
                 layer->how == PAGE_STEPS ? "" : "up to ",
                 page_number(text, PAGE_RATE, most));
        fprintf(p->out,
                "<rect class=\"paper\" x=\"%d\" y=\"%d\" width=\"%d\" "
                "height=\"16\" rx=\"3\"/>"
                "<text class=\"l e s c-%s\" x=\"%d\" y=\"%d\">↑ %s</text>\n",
                x - 26 - 7 * (int)strlen(all), y + 2, 24 + 7 * (int)strlen(all),
                layer->colour, x - 6, y + 14, all);
        y += 18;
    }
}

static void recovery(struct picture *p, const struct sim_interval *recover)
{
    char text[PAGE_TEXT];

    if (recover->overloaded)
        fputs("overloaded without any fault", p->out);
    else if (recover->infinite && recover->n)
        fprintf(p->out, "recovers in %u of %u runs", recover->n,
                recover->n + recover->infinite);
    else if (recover->infinite)
        fputs("never recovers", p->out);
    else if (recover->n && !(recover->mean > 0))
        fputs("recovers at once", p->out);
    else if (recover->n)
        fprintf(p->out, "recovers in %s",
                page_number(text, PAGE_SECONDS, recover->mean));
}

/* How many died, and how the others fared. */
static void deaths(struct picture *p, const struct sim_interval *f)
{
    const struct sim_interval *back = &f[SIM_FIG_ALL_BACK];
    char text[PAGE_TEXT];

    if (!(f[SIM_FIG_DEAD].mean > 0))
        fputs("none dead", p->out);
    else
        fprintf(p->out, "%s dead",
                page_number(text, PAGE_COUNT, f[SIM_FIG_DEAD].mean));
    if (f[SIM_FIG_DEAD_AFTER].n)
        fprintf(p->out, ", after %s",
                page_number(text, PAGE_SECONDS, f[SIM_FIG_DEAD_AFTER].mean));
    else if (back->n && !back->infinite)
        fprintf(p->out, ", the last one done at %s",
                page_time(text, back->mean * 1e9));
}

static void figures(struct picture *p, uint32_t v, int x, int y)
{
    const struct sim_interval *f = p->s->variants[v].figure;
    const struct sim_interval *recover = &f[SIM_FIG_RECOVER];
    char text[PAGE_TEXT], more[PAGE_TEXT];

    fprintf(p->out, "<text class=\"ink\" x=\"%d\" y=\"%d\">", x, y);
    if (f[SIM_FIG_SUCCESS].n)
        fprintf(p->out, "%s of %s",
                page_number(text, PAGE_SHARE, f[SIM_FIG_SUCCESS].mean),
                p->shows == DEATHS ? "messages done" : "calls succeed");
    if (f[SIM_FIG_AMPLIFICATION].n)
        fprintf(
            p->out, ", %s attempts",
            page_number(
                more, PAGE_TIMES,
                f[p->deep == SIM_NONE ? SIM_FIG_AMPLIFICATION : SIM_FIG_DEEPEST]
                    .mean));
    fprintf(p->out, "</text>\n<text class=\"%s\" x=\"%d\" y=\"%d\">",
            p->shows == DEATHS
                ? f[SIM_FIG_DEAD].mean > 0 ? "l c-fail" : "l c-good"
            : p->shows != RECOVERY                     ? "ink b"
            : recover->overloaded || recover->infinite ? "l c-fail"
                                                       : "l c-good",
            x, y + 19);
    if (p->shows == TWICE)
        fprintf(p->out, "%s done twice",
                page_number(text, PAGE_COUNT, f[SIM_FIG_DUPLICATES].mean));
    else if (p->shows == GOODPUT && f[SIM_FIG_GOODPUT].mean > 0)
        fprintf(p->out, "goodput %s",
                page_number(text, PAGE_RATE, f[SIM_FIG_GOODPUT].mean));
    else if (p->shows == TAIL && f[SIM_FIG_P99].n)
        fprintf(p->out, "p99 %s",
                page_number(text, PAGE_SECONDS, f[SIM_FIG_P99].mean));
    else if (p->shows == DEATHS)
        deaths(p, f);
    else if (p->shows == RECOVERY)
        recovery(p, recover);
    fputs("</text>\n", p->out);
}

void picture_plot(struct picture *p, uint32_t v, int x, int y)
{
    struct page_axes a = { { .from = 0, .to = p->end_ns, .time = true },
                           p->sheet.scale };
    int wide = p->column - LEFT - RIGHT, left = x + LEFT, top = y + NAME;

    p->model = page_model_of(p->s, v);
    fprintf(p->out, "<text class=\"ink b\" x=\"%d\" y=\"%d\">", x, y + 14);
    picture_text(p->out, p->s->variants[v].name, p->column);
    fprintf(p->out,
            "</text>\n<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">",
            left, top, wide, HEIGHT, PAGE_W, PAGE_H);
    bands(p, &a);
    fputs("</svg>\n", p->out);
    ticks(p, &a, left, top, wide);
    fprintf(p->out,
            "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">\n",
            left, top, wide, HEIGHT, PAGE_W, PAGE_H);
    page_sheet_draw(p->out, &p->sheet, &a, v);
    fputs("</svg>\n", p->out);
    fault_names(p, &a, left, top, wide);
    curve_names(p, v, left + wide, top);
    beyond(p, v, left + wide, top);
    figures(p, v, left, top + HEIGHT + 44);
}
