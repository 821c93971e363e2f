/* Load against capacity: of the services that clients call, and of those
 * further down that can be overloaded. */
#include "sim/report/load.h"

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/text.h"

static const struct page_layer load_layers[] = {
    { "offered", "offered", PAGE_AREA, page_of_fleets, SIM_ATTEMPTS },
    { "capacity", "fail", PAGE_OVER, page_capacity, 0 },
    { "capacity", "capacity", PAGE_STEPS, page_capacity, 0 },
    { "goodput", "good", PAGE_LINE, page_of_fleets, SIM_SUCCESSES },
};

const struct page_row page_load_row = {
    .title = "Load against capacity",
    .about = "Attempts that the clients send, what the services they call can "
             "serve, and the calls that succeed. Red: more was asked than can "
             "be served.",
    .unit = PAGE_RATE,
    .height_px = 190,
    .layers = load_layers,
    .n_layers = 4,
};

static bool is_limited(const struct sim_model *m, uint32_t i)
{
    return m->services[i].workers != SIM_UNBOUNDED ||
           m->services[i].limit_rate > 0;
}

static void load_of(struct page *p, uint32_t i)
{
    const struct page_layer layers[] = {
        { "offered", "offered", PAGE_AREA, page_arrivals, i },
        { "capacity", "fail", PAGE_OVER, page_of_service,
          PAGE_OF(i, SIM_CAPACITY_RATE) },
        { "capacity", "capacity", PAGE_STEPS, page_of_service,
          PAGE_OF(i, SIM_CAPACITY_RATE) },
        { "useful", "good", PAGE_LINE, page_useful, i },
    };
    char title[200];

    snprintf(title, sizeof title, "Load of %.150s against its capacity",
             p->s->model->services[i].name);
    page_row(p, &(struct page_row){
                    .title = title,
                    .about = "Requests that reach it, what it can serve, and "
                             "those that it served well while somebody waited.",
                    .unit = PAGE_RATE,
                    .height_px = 190,
                    .layers = layers,
                    .n_layers = 4 });
}

void page_loads(struct page *p)
{
    const struct sim_model *m = p->s->model;
    uint32_t rows = 0;

    page_row(p, &page_load_row);
    for (uint32_t i = 0; page_is_alike(p->s) && i < m->n_services && rows < 3;
         i++)
        if (!page_is_front(m, i) && is_limited(m, i)) {
            load_of(p, i);
            rows++;
        }
}
