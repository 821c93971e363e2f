/* What a variant came to. The limits of good and bad are those of a stability
 * map where it has them (stability.h), and otherwise what an operator would
 * say. */
#include "sim/report/verdict.h"

#include <math.h>

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/table.h"
#include "sim/report/text.h"

enum mood { NEITHER, FINE, POOR, BAD };

static void stat(struct page *p, const char *name, const char *value,
                 enum mood mood)
{
    static const char *const classes[] = { "", " class=\"fine\"",
                                           " class=\"poor\"",
                                           " class=\"bad\"" };

    fprintf(p->out, "<div><dt>%s</dt><dd%s>%s</dd></div>", name, classes[mood],
            value);
}

/* Less is better: fine up to `fine`, bad beyond `bad`. */
static enum mood mood_of(double x, double fine, double bad)
{
    return isnan(x) ? NEITHER : x <= fine ? FINE : x <= bad ? POOR : BAD;
}

static enum mood mood_of_figure(enum sim_figure f, double x)
{
    switch (f) {
    case SIM_FIG_SUCCESS:
        return mood_of(1 - x, 0.01, 0.1);
    case SIM_FIG_AMPLIFICATION:
    case SIM_FIG_DEEPEST:
        return mood_of(x, 1.2, 1.5);
    case SIM_FIG_DUPLICATES:
        return mood_of(x, 0, 0);
    default:
        return NEITHER;
    }
}

static void stat_figure(struct page *p, uint32_t v, enum sim_figure f,
                        const char *name)
{
    const struct sim_interval *i = &p->s->variants[v].figure[f];
    double x = i->n ? i->mean : (double)NAN;
    char text[PAGE_TEXT];

    if (page_figure_known(p->s, f))
        stat(p, name, page_number(text, page_figure_unit(f), x),
             mood_of_figure(f, x));
}

/* ===== recovery ===== */

static double longest_fault_s(const struct sim_model *m)
{
    double most = 0;

    for (uint32_t i = 0; i < m->n_faults; i++) {
        const struct sim_fault *f = &m->faults[i];

        most = fmax(most, f->every_ns > 0 ? (double)f->for_ns
                                          : (double)(f->to_ns - f->from_ns));
    }
    return most / 1e9;
}

/* Soon is what a stability map calls so: within three times the length of the
 * fault, or ten seconds. */
static void stat_recovery(struct page *p, uint32_t v)
{
    const struct sim_interval *i = &p->s->variants[v].figure[SIM_FIG_RECOVER];
    double soon = fmax(10, 3 * longest_fault_s(page_model_of(p->s, v)));
    char text[PAGE_TEXT];

    if (!page_figure_known(p->s, SIM_FIG_RECOVER))
        return;
    if (i->overloaded)
        stat(p, "recovers", "overloaded", BAD);
    else if (i->infinite && !i->n)
        stat(p, "recovers", "never", BAD);
    else if (i->infinite) {
        snprintf(text, sizeof text, "%u of %u runs", i->n, i->n + i->infinite);
        stat(p, "recovers in", text, BAD);
    } else if (!i->n)
        stat(p, "recovers in", "–", NEITHER);
    else if (!(i->mean > 0))
        stat(p, "recovers", "at once", FINE);
    else
        stat(p, "recovers in", page_number(text, PAGE_SECONDS, i->mean),
             i->mean < soon ? FINE : POOR);
}

void page_verdict(struct page *p, uint32_t v)
{
    fputs("<dl class=\"verdict\">", p->out);
    stat_figure(p, v, SIM_FIG_SUCCESS, "calls succeed");
    stat_recovery(p, v);
    stat_figure(p, v, SIM_FIG_AMPLIFICATION, "attempts per call");
    if (p->s->model->n_services > 1)
        stat_figure(p, v, SIM_FIG_DEEPEST, "at the deepest");
    if (page_minds_twice(p->s->model))
        stat_figure(p, v, SIM_FIG_DUPLICATES, "done twice");
    stat_figure(p, v, SIM_FIG_P99, "p99");
    fputs("</dl>\n", p->out);
}
