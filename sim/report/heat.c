/* What is good and what is bad, as a colour. */
#include "sim/report/heat.h"

#include <math.h>

#include "sim/study/figure_text.h"

double page_mean_of(const struct sim_interval *i)
{
    return i->n > 0 && isfinite(i->mean) ? i->mean : (double)NAN;
}

/* What is good or bad by itself is in the range whatever was measured: no more
 * than one attempt per call is as good as it gets, and 99 % of calls that
 * succeed are not bad because elsewhere 100 % do. */
static struct page_bounds always_in(enum sim_figure f)
{
    switch (f) {
    case SIM_FIG_SUCCESS:
        return (struct page_bounds){ 0.5, 1 };
    case SIM_FIG_FAILURES:
    case SIM_FIG_UNFINISHED:
    case SIM_FIG_WASTED:
        return (struct page_bounds){ 0, 0.5 };
    case SIM_FIG_STUCK:
    case SIM_FIG_OVERLOADED:
        return (struct page_bounds){ 0, 1 };
    case SIM_FIG_AMPLIFICATION:
    case SIM_FIG_DEEPEST:
        return (struct page_bounds){ 1, 2 };
    case SIM_FIG_RECOVER:
        return (struct page_bounds){ 0, 10 };
    default:
        return (struct page_bounds){ INFINITY, -INFINITY };
    }
}

static double at_least(enum sim_figure f, double x)
{
    return f == SIM_FIG_AMPLIFICATION || f == SIM_FIG_DEEPEST ? fmax(x, 1) : x;
}

struct page_bounds page_bounds_of(const struct sim_page_context *ctx,
                                  enum sim_figure f)
{
    struct page_bounds b = always_in(f);

    for (uint32_t g = 0; g < ctx->n_grids; g++) {
        const struct sim_page_grid *grid = &ctx->grids[g];
        size_t n = (size_t)grid->x.n * grid->y.n;

        for (size_t i = 0; grid->figure == f && i < n; i++) {
            double x = page_mean_of(&grid->cells[i]);

            if (!isnan(x)) {
                b.least = fmin(b.least, at_least(f, x));
                b.most = fmax(b.most, x);
            }
        }
    }
    return b;
}

/* Values that hardly differ must not look as if they did: those in the middle
 * have no colour. */
struct page_heat page_heat_of(enum sim_figure f, double x, struct page_bounds b)
{
    double wide = fmax(b.most - b.least, 0.05 * fabs(b.most));
    double from_middle =
        (at_least(f, x) - b.least - (b.most - b.least) / 2) / wide;
    int better = sim_figure_better(f);

    if (!(wide > 0) || !isfinite(from_middle))
        return (struct page_heat){ "offered", 0 };
    if (better == 0)
        return (struct page_heat){ "offered",
                                   (int)((from_middle + 0.5) * 100 + 0.5) };
    return (struct page_heat){ from_middle * better > 0 ? "good" : "fail",
                               (int)(fabs(from_middle) * 200 + 0.5) };
}

bool page_is_swept(const struct sim_page_context *ctx, enum sim_figure f)
{
    for (uint32_t g = 0; g < ctx->n_grids; g++) {
        size_t n = (size_t)ctx->grids[g].x.n * ctx->grids[g].y.n;

        for (size_t i = 0; ctx->grids[g].figure == f && i < n; i++)
            if (ctx->grids[g].cells[i].n || ctx->grids[g].cells[i].infinite)
                return true;
    }
    return false;
}

uint32_t page_grids_together(const struct sim_page_context *ctx, uint32_t from)
{
    const struct sim_page_grid *g = &ctx->grids[from];
    uint32_t n = 1;

    while (g->y.n == 1 && from + n < ctx->n_grids && g[n].y.n == 1 &&
           g[n].figure == g->figure && g[n].x.n == g->x.n &&
           g[n].x.ticks == g->x.ticks)
        n++;
    return n;
}

/* ===== stability ===== */

static enum sim_fate fate_of(const struct sim_cell *c)
{
    return c->fate <= SIM_FATE_OVERLOADED ? c->fate : SIM_FATE_UNKNOWN;
}

const char *page_fate_class(const struct sim_cell *c)
{
    static const char *const classes[] = { "none", "recovers", "vulnerable",
                                           "never", "overloaded" };

    return classes[fate_of(c)];
}

const char *page_fate_text(char text[PAGE_TEXT], const struct sim_cell *c)
{
    switch (fate_of(c)) {
    case SIM_FATE_RECOVERS:
        return isnan(c->recover_s)
                   ? "✓"
                   : page_number(text, PAGE_SECONDS, c->recover_s);
    case SIM_FATE_VULNERABLE:
        if (c->stuck == 0 && !isnan(c->recover_s))
            return page_number(text, PAGE_SECONDS, c->recover_s);
        snprintf(text, PAGE_TEXT, "%u of %u", c->stuck, c->runs);
        return text;
    case SIM_FATE_NEVER:
        return "never";
    case SIM_FATE_OVERLOADED:
        return "overload";
    default:
        return "–";
    }
}
