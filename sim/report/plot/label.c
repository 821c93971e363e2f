/* The names of curves, at their ends. */
#include <math.h>
#include <stdlib.h>

#include "sim/report/plot/scale.h"
#include "sim/report/plot/sheet.h"

/* Where a curve ends, as the mean of its last points, since curves fluctuate;
 * NaN: it has none. */
static double end_of(const struct page_sheet *s, uint32_t v, uint32_t l)
{
    const struct page_curve *c = page_sheet_curve(s, v, l);
    double sum = 0;
    uint32_t n = 0, i = c->y ? c->n : 0;

    while (i > 0 && isnan(c->y[i - 1]))
        i--;
    for (; i > 0 && n < 8 && !isnan(c->y[i - 1]); i--, n++)
        sum += c->y[i - 1];
    return n ? sum / n : (double)NAN;
}

static int by_height(const void *a, const void *b)
{
    const struct page_label *x = a, *y = b;

    if (x->top_px != y->top_px)
        return x->top_px < y->top_px ? -1 : 1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

/* Downward first, then up again from the bottom. */
static void spread(struct page_label *labels, int n, double gap, double low)
{
    qsort(labels, (size_t)n, sizeof *labels, by_height);
    for (int i = 1; i < n; i++)
        labels[i].top_px = fmax(labels[i].top_px, labels[i - 1].top_px + gap);
    for (int i = n; i-- > 0;) {
        labels[i].top_px = fmin(labels[i].top_px, low);
        low = labels[i].top_px - gap;
    }
}

int page_sheet_labels(const struct page_sheet *s, uint32_t v, int height_px,
                      int gap_px, struct page_label labels[PAGE_LABELS])
{
    int n = 0;

    for (uint32_t l = 0; l < s->row->n_layers && n < PAGE_LABELS; l++) {
        const struct page_layer *layer = &s->row->layers[l];
        double end = end_of(s, v, l);

        if (!s->shown[l] || layer->how == PAGE_OVER || isnan(end))
            continue;
        double place = fmin(fmax(page_place(&s->scale, end), 0), 1);
        labels[n++] = (struct page_label){ layer, (1 - place) * height_px };
    }
    spread(labels, n, gap_px, height_px);
    return n;
}
