/* The load of a model as a share of its capacity, without retries. */
#include <math.h>
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/study/stability.h"

/* Adds up the requests per second that reach each service. Graphs have no
 * cycles. */
static void add_visits(const struct sim_model *m, double *rates,
                       uint32_t service, double rate)
{
    const struct sim_model_service *s = &m->services[service];

    rates[service] += rate;
    for (uint32_t i = 0; i < s->n_edges; i++)
        add_visits(m, rates, s->edges[i].service, rate * s->edges[i].times);
}

/* How long a request occupies a worker, on average, in seconds. */
static double held_for(const struct sim_model *m, uint32_t service)
{
    const struct sim_model_service *s = &m->services[service];
    double held = sim_dist_mean(&s->time) / 1e9;

    for (uint32_t i = 0; i < s->n_edges && !s->detached; i++) {
        uint32_t below = s->edges[i].service;
        double way = sim_dist_mean(&m->services[below].network) / 1e9;
        held += s->edges[i].times * (held_for(m, below) + 2 * way);
    }
    return held;
}

static double use_of(const struct sim_model *m, uint32_t service, double rate)
{
    const struct sim_model_service *s = &m->services[service];
    double workers = (double)s->workers * sim_service_servers(s), use = 0,
           limited;

    if (s->workers != SIM_UNBOUNDED)
        use = rate * held_for(m, service) / workers;
    limited = s->limit_rate > 0 ? rate / s->limit_rate : 0;
    return use > limited ? use : limited;
}

double sim_utilisation(const struct sim_model *m)
{
    double *rates = sim_new(m->n_services, sizeof *rates);
    double most = 0;

    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].arrival == SIM_OPEN)
            add_visits(m, rates, m->fleets[i].service,
                       sim_fleet_rate(&m->fleets[i], m->duration_ns));
    for (uint32_t i = 0; i < m->n_services; i++) {
        double use = use_of(m, i, rates[i]);
        most = use > most ? use : most;
    }
    free(rates);
    return most;
}
