/* If there is more than one caller: each fleet over time, and all of them in a
 * table, including the services that call others. */
#include "sim/report/fleets.h"

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/table.h"
#include "sim/report/text.h"

enum { FLEETS = 6, CALLERS = 24 };

static void by_fleet(struct page *p, page_get *get, const char *title,
                     const char *about)
{
    static const char *const colours[FLEETS] = { "s0", "s1", "s2",
                                                 "s3", "s4", "s5" };
    const struct sim_model *m = p->s->model;
    uint32_t n = m->n_fleets < FLEETS ? m->n_fleets : FLEETS;
    struct page_layer layers[FLEETS];

    for (uint32_t i = 0; i < n; i++)
        layers[i] = (struct page_layer){ m->fleets[i].name, colours[i],
                                         PAGE_LINE, get, i };
    page_row(p, &(struct page_row){ .title = title,
                                    .about = about,
                                    .unit = PAGE_RATE,
                                    .points = 90, /* curves cross */
                                    .legend = true,
                                    .layers = layers,
                                    .n_layers = n });
}

/* ===== the table ===== */

static const struct sim_result *any_run(const struct sim_summary *s)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (page_run(s, v))
            return page_run(s, v);
    return NULL;
}

/* A fleet, over all runs. */
static void fleet_cell(struct page *p, const struct sim_interval *f)
{
    char text[PAGE_TEXT];

    fprintf(p->out, "<td>%s <small>",
            page_plus_minus(text, PAGE_SHARE, &f[SIM_FIG_SUCCESS]));
    fprintf(p->out, "%s attempts, ",
            page_number(text, PAGE_TIMES, f[SIM_FIG_AMPLIFICATION].mean));
    if (f[SIM_FIG_UNFINISHED].mean > 0)
        fprintf(p->out, "%s unfinished, ",
                page_number(text, PAGE_SHARE, f[SIM_FIG_UNFINISHED].mean));
    fprintf(p->out, "mean %s, ",
            page_number(text, PAGE_SECONDS, f[SIM_FIG_MEAN].mean));
    fprintf(p->out, "p99 %s</small></td>",
            page_number(text, PAGE_SECONDS, f[SIM_FIG_P99].mean));
}

/* A service that calls on, in the first run. */
static void caller_cell(struct page *p, const struct sim_caller_totals *t)
{
    char text[PAGE_TEXT];

    fprintf(
        p->out, "<td>%s <small>of ",
        page_number(text, PAGE_SHARE, (double)t->successes / (double)t->calls));
    fprintf(p->out, "%s calls,",
            page_number(text, PAGE_COUNT, (double)t->calls));
    fprintf(p->out, " %s attempts</small></td>",
            page_number(text, PAGE_TIMES,
                        (double)sim_reached(t) / (double)t->calls));
}

static void cell(struct page *p, uint32_t v, uint32_t i)
{
    const struct sim_result *r = page_run(p->s, v);
    const struct sim_interval *fleets = p->s->variants[v].fleets;

    if (!r || i >= r->n_callers || !r->callers[i].total.calls)
        fputs("<td>–</td>", p->out);
    else if (fleets && i < r->model->n_fleets)
        fleet_cell(p, &fleets[(size_t)i * SIM_FIGURES]);
    else
        caller_cell(p, &r->callers[i].total);
}

static void table(struct page *p)
{
    const struct sim_result *r = any_run(p->s);

    if (!r || r->n_callers < 2)
        return;
    page_row_open(p, "Each caller",
                  "Share of its calls that succeeded, its attempts for each, "
                  "and how long they took. A service that calls on is a caller "
                  "too: that of the first run, warm-up included.");
    page_table_open(p, "figures callers");
    for (uint32_t i = 0; i < r->n_callers && i < CALLERS; i++) {
        fputs("<tr><th scope=\"row\">", p->out);
        page_text(p->out, r->callers[i].name);
        fputs("</th>", p->out);
        for (uint32_t v = 0; v < p->s->n_variants; v++)
            cell(p, v, i);
        fputs("</tr>\n", p->out);
    }
    fputs("</table></div>\n", p->out);
    page_row_close(p);
}

/* ===== services ===== */

static void service_cell(struct page *p, const struct sim_service_summary *s)
{
    char text[PAGE_TEXT];

    if (!s->utilisation.n) {
        fputs("<td>–</td>", p->out);
        return;
    }
    fprintf(p->out, "<td>%s <small>",
            page_plus_minus(text, PAGE_SHARE, &s->utilisation));
    fprintf(p->out, "busy, %s in the queue</small></td>",
            page_number(text, PAGE_SECONDS, s->queue_wait.mean));
}

static void services(struct page *p)
{
    const struct sim_model *m = p->s->model;

    page_row_open(
        p, "Each service",
        "Share of the workers' time that they were busy, and how long "
        "a request waited for one on average.");
    page_table_open(p, "figures callers");
    for (uint32_t i = 0; i < m->n_services && i < CALLERS; i++) {
        if (m->services[i].workers == SIM_UNBOUNDED)
            continue;
        fputs("<tr><th scope=\"row\">", p->out);
        page_text(p->out, m->services[i].name);
        fputs("</th>", p->out);
        for (uint32_t v = 0; v < p->s->n_variants; v++)
            service_cell(p, &p->s->variants[v].services[i]);
        fputs("</tr>\n", p->out);
    }
    fputs("</table></div>\n", p->out);
    page_row_close(p);
}

static bool has_services(const struct sim_summary *s)
{
    uint32_t limited = 0;

    for (uint32_t v = 0; v < s->n_variants; v++)
        if (!s->variants[v].services)
            return false;
    for (uint32_t i = 0; i < s->model->n_services; i++)
        limited += s->model->services[i].workers != SIM_UNBOUNDED;
    return s->n_variants > 0 && s->model->n_services > 1 && limited > 0;
}

void page_fleets(struct page *p)
{
    if (!page_is_alike(p->s))
        return;
    if (p->s->model->n_fleets > 1) {
        by_fleet(p, page_fleet_attempts, "Load of each fleet",
                 "Attempts that it sends.");
        by_fleet(p, page_fleet_goodput, "Goodput of each fleet",
                 "Calls of it that succeed.");
    }
    table(p);
    if (has_services(p->s))
        services(p);
}
