/* What services did, as curves. */
#include <math.h>

#include "sim/report/plot/curves.h"

static double per_second(const struct sim_result *r)
{
    return 1e9 / (double)r->step_ns;
}

bool page_is_front(const struct sim_model *m, uint32_t service)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].service == service)
            return true;
    return false;
}

/* If one of them has no limit, the sum has none. */
bool page_capacity(const struct sim_result *r, uint32_t what, double *y)
{
    bool any = false;

    (void)what;
    for (uint32_t i = 0; i < r->model->n_services; i++) {
        const double *c = r->services[i].value[SIM_CAPACITY_RATE];

        if (!page_is_front(r->model, i) || !c)
            continue;
        any = true;
        for (uint32_t k = 0; k < r->n_steps; k++)
            y[k] += c[k] < 0 ? NAN : c[k] * per_second(r);
    }
    return any;
}

bool page_of_service(const struct sim_result *r, uint32_t what, double *y)
{
    uint32_t i = what / 16;
    const double *c =
        i < r->model->n_services ? r->services[i].value[what % 16] : NULL;

    for (uint32_t k = 0; c && k < r->n_steps; k++)
        y[k] = c[k] < 0 ? NAN : c[k] * per_second(r);
    return c;
}

/* Errors are counted both as served and as wasted: no more of them than were
 * served reached a waiting caller. */
static bool split(const struct sim_result *r, uint32_t i, bool errors,
                  double *y)
{
    const struct sim_service_result *of =
        i < r->model->n_services ? &r->services[i] : NULL;

    if (!of || !of->value[SIM_SERVED] || !of->value[SIM_ERRORS])
        return false;
    for (uint32_t k = 0; k < r->n_steps; k++) {
        double served = of->value[SIM_SERVED][k];
        double bad = fmin(of->value[SIM_ERRORS][k], served);

        y[k] = (errors ? bad : served - bad) * per_second(r);
    }
    return true;
}

bool page_useful(const struct sim_result *r, uint32_t what, double *y)
{
    return split(r, what, false, y);
}

bool page_erroneous(const struct sim_result *r, uint32_t what, double *y)
{
    return split(r, what, true, y);
}

bool page_queue(const struct sim_result *r, uint32_t what, double *y)
{
    const double *c =
        what < r->model->n_services ? r->services[what].value[SIM_QUEUE] : NULL;

    for (uint32_t k = 0; c && k < r->n_steps; k++)
        y[k] = c[k];
    return c;
}

bool page_arrivals(const struct sim_result *r, uint32_t what, double *y)
{
    return page_of_service(r, PAGE_OF(what, SIM_ARRIVED), y);
}
