/* All figures in a table, with a bar under each number. */
#include "sim/report/table.h"

#include <math.h>
#include <string.h>

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/text.h"

static bool is_known(const struct sim_interval *i)
{
    return i->n > 0 || i->infinite > 0 || i->overloaded > 0;
}

bool page_figure_known(const struct sim_summary *s, enum sim_figure f)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (is_known(&s->variants[v].figure[f]))
            return true;
    return false;
}

/* ... and it is not zero in all of them. */
static bool is_some(const struct sim_summary *s, enum sim_figure f)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (s->variants[v].figure[f].n > 0 && s->variants[v].figure[f].mean > 0)
            return true;
    return false;
}

static const char *colour_of(enum sim_figure f)
{
    switch (f) {
    case SIM_FIG_GOODPUT:
    case SIM_FIG_SUCCESS:
        return "good";
    case SIM_FIG_FAILURES:
    case SIM_FIG_UNFINISHED:
    case SIM_FIG_OVERLOADED:
    case SIM_FIG_RECOVER:
    case SIM_FIG_STUCK:
    case SIM_FIG_DUPLICATES:
    case SIM_FIG_DEAD:
        return "fail";
    case SIM_FIG_WASTED:
        return "waste";
    case SIM_FIG_MEAN:
    case SIM_FIG_QUEUE_WAIT:
    case SIM_FIG_ALL_BACK:
    case SIM_FIG_P50:
    case SIM_FIG_P99:
    case SIM_FIG_P999:
    case SIM_FIG_DEAD_AFTER:
    case SIM_FIG_OLDEST:
    case SIM_FIG_FIRST_WAIT:
    case SIM_FIG_RETRY_WAIT:
        return "time";
    default:
        return "offered";
    }
}

static double most_of(const struct sim_summary *s, enum sim_figure f)
{
    double most = 0;

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_interval *i = &s->variants[v].figure[f];

        if (i->n && isfinite(i->high))
            most = fmax(most, fmax(i->high, i->mean));
    }
    return most;
}

static double percent(double x, double most)
{
    return isfinite(x) && x > 0 && most > 0 ? x / most * 100 : 0;
}

/* The mean as a bar, the interval as a line over its end. */
static void bar(struct page *p, const struct sim_interval *i, double most)
{
    double low = percent(i->low, most), high = percent(i->high, most);

    if (!i->n)
        return;
    fprintf(p->out, "<span class=\"bar\"><b style=\"width:%.1f%%\"></b>",
            percent(i->mean, most));
    if (i->high > i->low && isfinite(i->high - i->low))
        fprintf(p->out, "<i style=\"left:%.1f%%;width:%.1f%%\"></i>", low,
                high - low);
    fputs("</span>", p->out);
}

static void cell(struct page *p, uint32_t v, enum sim_figure f, double most)
{
    const struct sim_interval *i = &p->s->variants[v].figure[f];
    char text[PAGE_TEXT];

    fprintf(p->out, "<td>%s", page_plus_minus(text, page_figure_unit(f), i));
    if (i->infinite && i->n)
        fprintf(p->out, " <small>never in %u of %u</small>", i->infinite,
                i->n + i->infinite);
    if (f == SIM_FIG_STUCK && i->n)
        fprintf(p->out, " <small>%.0f of %u runs, watched for %s</small>",
                i->mean * i->n, i->n,
                page_number(text, PAGE_SECONDS, p->s->variants[v].watched_s));
    bar(p, i, most);
    fputs("</td>", p->out);
}

/* Some figures make sense only for some models. */
bool page_figure_shown(const struct sim_summary *s, enum sim_figure f)
{
    if (f == SIM_FIG_DEEPEST && s->model->n_services < 2)
        return false;
    if ((f == SIM_FIG_HEDGES || f == SIM_FIG_UNFINISHED ||
         f == SIM_FIG_OVERLOADED) &&
        !is_some(s, f))
        return false;
    return page_figure_known(s, f);
}

static void line(struct page *p, enum sim_figure f)
{
    double most = most_of(p->s, f);

    if (!page_figure_shown(p->s, f))
        return;
    fprintf(p->out, "<tr class=\"c-%s\"><th scope=\"row\">", colour_of(f));
    page_text(p->out, page_figure_words(f));
    fputs("</th>", p->out);
    for (uint32_t v = 0; v < p->s->n_variants; v++)
        cell(p, v, f, most);
    fputs("</tr>\n", p->out);
}

void page_table_open(struct page *p, const char *classes)
{
    fprintf(p->out,
            "<div class=\"scroll\"><table class=\"%s\" "
            "style=\"min-width:%upx\">\n<tr><th></th>",
            classes, 150 + p->s->n_variants * 140);
    for (uint32_t v = 0; v < p->s->n_variants; v++) {
        fputs("<th scope=\"col\">", p->out);
        page_text(p->out, p->s->variants[v].name);
        fputs("</th>", p->out);
    }
    fputs("</tr>\n", p->out);
}

void page_table(struct page *p)
{
    if (p->s->n_variants == 0)
        return;
    page_row_open(p, "Figures",
                  p->s->replications > 1
                      ? "Means over the runs, and the 95 % confidence interval "
                        "of the mean. Each is explained below."
                      : "Of one run: --replications gives confidence "
                        "intervals. Each is explained below.");
    page_table_open(p, "figures");
    for (int f = 0; f < SIM_FIGURES; f++)
        line(p, (enum sim_figure)f);
    fputs("</table></div>\n", p->out);
    fputs("</section>\n", p->out);
}
