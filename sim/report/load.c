/* Load against capacity: of the tier that is short, and of the others. */
#include "sim/report/load.h"

#include <math.h>

#include "sim/report/models.h"
#include "sim/report/parts.h"
#include "sim/report/plot/row.h"
#include "sim/report/plot/sheet.h"
#include "sim/report/text.h"
#include "sim/report/verdict.h"

enum {
    HEIGHT_PX = 190,
    MOST_ROWS = 3,
    POINTS = 480 /* of the first plots: enough to zoom in */
};

/* ===== which tier ===== */

/* What was asked of a service beyond its capacity, as a share of all that it
 * could have served. 0: nothing, or it has no limit. */
static double shortage(const struct sim_result *r, uint32_t i)
{
    const double *asked = r->services[i].value[SIM_ARRIVED];
    const double *limit = r->services[i].value[SIM_CAPACITY_RATE];
    double over = 0, most = 0;

    for (uint32_t k = 0; asked && limit && k < r->n_steps; k++) {
        over += fmax(asked[k] - fmax(limit[k], 0), 0) * (limit[k] >= 0);
        most = fmax(most, limit[k]);
    }
    return most > 0 ? over / (most * r->n_steps) : 0;
}

static double sent_by_clients(const struct sim_result *r)
{
    double sent = 0;

    for (uint32_t i = 0; i < r->n_callers; i++)
        if (r->callers[i].is_fleet)
            sent += (double)r->callers[i].total.attempts;
    return sent;
}

/* If nothing is short: the service that most requests reach, if retries make
 * far more of them than the clients send. */
static uint32_t most_asked(const struct sim_summary *s)
{
    uint32_t deepest = SIM_NONE;
    double most = 1.5;

    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = page_run(s, v);
        double sent = r ? sent_by_clients(r) : 0;

        for (uint32_t i = 0; r && i < r->n_services; i++)
            if ((double)r->services[i].arrived > most * sent) {
                most = (double)r->services[i].arrived / sent;
                deepest = i;
            }
    }
    return deepest;
}

static bool is_only_front(const struct sim_model *m, uint32_t service)
{
    for (uint32_t i = 0; i < m->n_services; i++)
        if (page_is_front(m, i) != (i == service))
            return false;
    return true;
}

uint32_t page_short_tier(const struct sim_summary *s)
{
    uint32_t worst = SIM_NONE;
    double most = 0;

    if (!page_is_alike(s) || page_is_mixed(s))
        return SIM_NONE;
    for (uint32_t v = 0; v < s->n_variants; v++) {
        const struct sim_result *r = page_run(s, v);

        for (uint32_t i = 0; r && i < r->n_services; i++)
            if (shortage(r, i) > most * 1.0001) {
                most = shortage(r, i);
                worst = i;
            }
    }
    if (worst == SIM_NONE)
        return most_asked(s);
    return is_only_front(s->model, worst) ? SIM_NONE : worst;
}

/* ===== the row ===== */

static const char clients_about[] =
    "Attempts that the clients send, what the services they call can serve, "
    "and "
    "the calls that succeed. Red: more was asked than can be served.";
static const char service_about[] =
    "Requests that reach it, what it can serve, and the calls of the clients "
    "that succeed. Red: more was asked than can be served.";

void page_load_of(struct page_load *l, const struct sim_model *m,
                  uint32_t service)
{
    bool all = service == SIM_NONE;
    page_get *capacity = all ? page_capacity : page_of_service;
    uint32_t limit = all ? 0 : PAGE_OF(service, SIM_CAPACITY_RATE);

    l->layers[0] = (struct page_layer){ "offered", "offered", PAGE_AREA,
                                        all ? page_of_fleets : page_arrivals,
                                        all ? SIM_ATTEMPTS : service };
    l->layers[1] =
        (struct page_layer){ "capacity", "fail", PAGE_OVER, capacity, limit };
    l->layers[2] = (struct page_layer){ "capacity", "capacity", PAGE_STEPS,
                                        capacity, limit };
    l->layers[3] = (struct page_layer){ "goodput", "good", PAGE_LINE,
                                        page_of_fleets, SIM_SUCCESSES };
    if (all)
        snprintf(l->title, sizeof l->title, "Load against capacity");
    else
        snprintf(l->title, sizeof l->title,
                 "Load of %.150s against its capacity",
                 m->services[service].name);
    l->row = (struct page_row){ .title = l->title,
                                .about = all ? clients_about : service_about,
                                .unit = PAGE_RATE,
                                .height_px = HEIGHT_PX,
                                .of_load = true,
                                .layers = l->layers,
                                .n_layers = 4 };
}

/* ===== the page ===== */

static bool is_limited(const struct sim_model *m, uint32_t i)
{
    return m->services[i].workers != SIM_UNBOUNDED ||
           m->services[i].limit_rate > 0;
}

void page_load_first(struct page *p)
{
    struct page_load l;

    page_load_of(&l, p->s->model, page_short_tier(p->s));
    l.row.under = page_verdict;
    l.row.points = POINTS;
    page_row(p, &l.row);
}

void page_loads(struct page *p)
{
    const struct sim_model *m = p->s->model;
    uint32_t first = page_short_tier(p->s), rows = 0;
    struct page_load l;

    if (first != SIM_NONE) {
        page_load_of(&l, m, SIM_NONE);
        page_row(p, &l.row);
    }
    for (uint32_t i = 0;
         page_is_alike(p->s) && i < m->n_services && rows < MOST_ROWS; i++)
        if (i != first && !page_is_front(m, i) && is_limited(m, i)) {
            page_load_of(&l, m, i);
            page_row(p, &l.row);
            rows++;
        }
}
