/* A row: the same layers for each variant, on one scale, side by side. */
#include "sim/report/plot/row.h"

#include "sim/report/parts.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/text.h"

enum { HEIGHT_PX = 150, LABEL_PX = 14 };

static int height(const struct page_sheet *s)
{
    return s->row->height_px ? s->row->height_px : HEIGHT_PX;
}

static void name_curves(struct page *p, const struct page_sheet *s, uint32_t v)
{
    struct page_label labels[PAGE_LABELS];
    int n = page_sheet_labels(s, v, height(s), LABEL_PX, labels);

    for (int i = 0; i < n; i++) {
        fprintf(p->out, "<span class=\"l c-%s\" style=\"top:%.0fpx\">",
                labels[i].layer->colour, labels[i].top_px);
        page_words(p->out, labels[i].layer->name);
        fputs("</span>", p->out);
    }
}

/* What does not fit: "↑ offered up to 4.26 k/s". */
static void name_beyond(struct page *p, const struct page_sheet *s, uint32_t v)
{
    char text[PAGE_TEXT];
    int top_px = 2;

    for (uint32_t l = 0; l < s->row->n_layers; l++) {
        const struct page_layer *layer = &s->row->layers[l];
        double most = page_sheet_beyond(s, v, l);

        if (!(most > 0) || layer->how == PAGE_OVER)
            continue;
        fprintf(p->out, "<span class=\"beyond c-%s\" style=\"top:%dpx\">↑ ",
                layer->colour, top_px);
        page_words(p->out, layer->name);
        fprintf(p->out, " %s%s</span>",
                layer->how == PAGE_STEPS ? "" : "up to ",
                page_number(text, s->row->unit, most));
        top_px += LABEL_PX + 3;
    }
}

static void legend(struct page *p, const struct page_sheet *s)
{
    fprintf(p->out, "<p class=\"legend%s\">", s->row->legend ? "" : " spare");
    for (uint32_t l = 0; l < s->row->n_layers; l++) {
        if (!s->shown[l] || s->row->layers[l].how == PAGE_OVER)
            continue;
        fprintf(p->out, "<span class=\"c-%s\">", s->row->layers[l].colour);
        page_words(p->out, s->row->layers[l].name);
        fputs("</span> ", p->out);
    }
    fputs("</p>\n", p->out);
}

static void plot(struct page *p, const struct page_sheet *s, uint32_t v)
{
    struct page_axes a = {
        { .from = 0, .to = p->end_ns, .time = true },
        s->scale,
    };

    page_plot_open(p, v, NULL);
    if (page_sheet_has(s, v)) {
        page_frame_open(p, &a, height(s), true);
        page_sheet_draw(p->out, s, &a, v);
        page_frame_svg_close(p);
        if (!s->row->legend)
            name_curves(p, s, v);
        name_beyond(p, s, v);
        page_frame_close(p, &a, true);
    } else {
        fputs("<p class=\"no\">none</p>\n", p->out);
    }
    if (s->row->under)
        s->row->under(p, v);
    page_plot_close(p);
}

void page_row(struct page *p, const struct page_row *row)
{
    struct page_sheet s;

    if (page_sheet_make(&s, p->s, row)) {
        page_row_open(p, row->title, row->about);
        legend(p, &s);
        fputs("<div class=\"plots\">\n", p->out);
        for (uint32_t v = 0; v < p->s->n_variants; v++)
            if (page_run(p->s, v))
                plot(p, &s, v);
        fputs("</div>\n", p->out);
        page_row_close(p);
    }
    page_sheet_done(&s);
}
