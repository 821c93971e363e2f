/* A band: a curve over the seeds of a variant, as its median and the range of
 * the middle four fifths. One seed's curve shows what may happen; the band,
 * what does. */
#include "sim/report/plot/band.h"

#include <math.h>
#include <stdlib.h>

#include "sim/model/memory.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The quantile q of sorted values, between the two nearest. */
static double quantile(const double *sorted, uint32_t n, double q)
{
    double at = q * (n - 1);
    uint32_t i = (uint32_t)at;

    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]);
}

/* Point i of the band; a seed with a gap there does not count. */
static void summarize(struct page_curve *band, const struct page_curve *curves,
                      uint32_t n_curves, uint32_t i)
{
    double values[SIM_KEPT];
    uint32_t n = 0;

    for (uint32_t k = 0; k < n_curves; k++)
        if (i < curves[k].n && !isnan(curves[k].y[i]))
            values[n++] = curves[k].y[i];
    band->y[i] = band->low[i] = band->high[i] = NAN;
    if (n == 0)
        return;
    qsort(values, n, sizeof *values, by_value);
    band->low[i] = quantile(values, n, 0.1);
    band->y[i] = quantile(values, n, 0.5);
    band->high[i] = quantile(values, n, 0.9);
}

struct page_curve page_band(const struct sim_summary *s, uint32_t v,
                            page_get *get, uint32_t what, uint32_t points)
{
    const struct sim_variant_summary *of = &s->variants[v];
    struct page_curve curves[SIM_KEPT], band = { .y = NULL };
    uint32_t n = 0;

    for (uint32_t k = 0; k < of->n_runs; k++) {
        curves[n] = page_curve(of->runs[k], get, what, points);
        if (curves[n].y)
            n++;
    }
    if (n < 2)
        return n ? curves[0] : page_curve(of->first, get, what, points);
    band.n = curves[0].n;
    band.step_ns = curves[0].step_ns;
    band.y = sim_new(band.n, sizeof *band.y);
    band.low = sim_new(band.n, sizeof *band.low);
    band.high = sim_new(band.n, sizeof *band.high);
    for (uint32_t i = 0; i < band.n; i++)
        summarize(&band, curves, n, i);
    for (uint32_t k = 0; k < n; k++)
        page_curve_done(&curves[k]);
    return band;
}
