/* What services did, and what their callers got. */
#include "sim/report/load.h"
#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/text.h"

enum { SERVICES = 6 }; /* that have a curve or a row of their own */

static void calls(struct page *p)
{
    static const struct page_layer layers[] = {
        { "goodput", "good", PAGE_STACK, page_of_fleets, SIM_SUCCESSES },
        { "failed", "fail", PAGE_STACK, page_of_fleets, SIM_FAILURES },
        { "calls", "calls", PAGE_LINE, page_of_fleets, SIM_CALLS },
    };

    page_row(p, &(struct page_row){
                    .title = "What users get",
                    .about = "Calls that begin (line), and how they end, at "
                             "the time that they end.",
                    .unit = PAGE_RATE,
                    .legend = true,
                    .layers = layers,
                    .n_layers = 3 });
}

/* ===== each service ===== */

static void work(struct page *p, uint32_t i)
{
    const struct page_layer layers[] = {
        { "useful", "good", PAGE_STACK, page_useful, i },
        { "errors", "fail", PAGE_STACK, page_erroneous, i },
        { "wasted", "waste", PAGE_STACK, page_of_service,
          PAGE_OF(i, SIM_WASTED) },
        { "refused", "refused", PAGE_LINE, page_of_service,
          PAGE_OF(i, SIM_REFUSED) },
        { "throttled", "throttled", PAGE_LINE, page_of_service,
          PAGE_OF(i, SIM_THROTTLED) },
        { "dropped", "dropped", PAGE_LINE, page_of_service,
          PAGE_OF(i, SIM_DROPPED) },
        { "capacity", "capacity", PAGE_STEPS, page_of_service,
          PAGE_OF(i, SIM_CAPACITY_RATE) },
        { "done twice", "twice", PAGE_LINE, page_of_service,
          PAGE_OF(i, SIM_DUPLICATES) },
    };
    uint32_t n = sizeof layers / sizeof layers[0];
    char title[200];

    snprintf(title, sizeof title, "Work at %.180s",
             p->s->model->services[i].name);
    page_row(p, &(struct page_row){
                    .title = title,
                    .about = "Requests it finished: those that somebody still "
                             "waited for, well or with an error, and those "
                             "that nobody did. Lines: what it turned away.",
                    .unit = PAGE_RATE,
                    .legend = true,
                    .layers = layers,
                    .n_layers = page_minds_twice(p->s->model) ? n : n - 1 });
}

/* A service that can serve its whole load, and does, needs no picture. */
static bool is_telling(const struct sim_summary *s, uint32_t i)
{
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = page_run(s, v);
        const struct sim_service_result *of =
            r && i < r->model->n_services ? &r->services[i] : NULL;

        if (of && of->wasted + of->refused + of->throttled + of->dropped > 0)
            return true;
    }
    return s->model->services[i].workers != SIM_UNBOUNDED;
}

/* One curve for each service, the first few of them. */
static void by_service(struct page *p, page_get *get, enum page_how how,
                       struct page_row *row)
{
    static const char *const colours[SERVICES] = { "s0", "s1", "s2",
                                                   "s3", "s4", "s5" };
    const struct sim_model *m = p->s->model;
    struct page_layer layers[SERVICES];
    uint32_t n = m->n_services < SERVICES ? m->n_services : SERVICES;

    for (uint32_t i = 0; i < n; i++)
        layers[i] =
            (struct page_layer){ m->services[i].name,
                                 n > 1 ? colours[i] : "queue", how, get, i };
    row->layers = layers;
    row->n_layers = n;
    row->legend = n > 1;
    page_row(p, row);
}

void page_work(struct page *p)
{
    const struct sim_model *m = p->s->model;

    calls(p);
    if (!page_is_alike(p->s))
        return;
    if (m->n_services > 1)
        by_service(p, page_arrivals, PAGE_LINE,
                   &(struct page_row){ .title = "Requests at each service",
                                       .about = "Retries multiply on the way "
                                                "down a chain.",
                                       .unit = PAGE_RATE });
    for (uint32_t i = 0; i < m->n_services && i < SERVICES; i++)
        if (is_telling(p->s, i))
            work(p, i);
    by_service(p, page_queue, m->n_services > 1 ? PAGE_LINE : PAGE_AREA,
               &(struct page_row){ .title = "Queue",
                                   .about = "Requests that wait for a worker.",
                                   .unit = PAGE_COUNT });
}
