/* lint.c: warns about what would run but is probably not intended. */
#include "sim/scenario/check.h"

/* ===== services that are never called ===== */

static void mark_called(const struct sim_model *m, unsigned char *called)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].service < m->n_services)
            called[m->fleets[i].service] = 1;
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t k = 0; k < m->services[i].n_edges; k++)
            if (m->services[i].edges[k].service < m->n_services)
                called[m->services[i].edges[k].service] = 1;
}

static void lint_uncalled(struct sim_load *l)
{
    const struct sim_model *m = l->model;
    unsigned char *called = sim_load_alloc(l, m->n_services, 1);

    if (!called)
        return;
    mark_called(m, called);
    for (uint32_t i = 0; i < m->n_services; i++)
        if (!called[i])
            bide__diag(l->base.notes, l->base.tree, l->services->keys[i],
                       BIDE_WARNING, "L022", "let clients or a service call it",
                       "nobody calls `%s`", m->services[i].name);
}

/* ===== faults that never happen ===== */

static void lint_faults(struct sim_load *l, const struct bide__node *faults)
{
    const struct sim_model *m = l->model;
    char end[32];

    for (uint32_t i = 0; i < m->n_faults; i++) {
        const struct bide__node *at =
            bide__map_get(faults->items[i], "at", NULL);

        if (at && m->faults[i].from_ns >= m->duration_ns)
            bide__diag(l->base.notes, l->base.tree, at, BIDE_WARNING, "L023",
                       NULL, "the fault begins after the end, which is at %s",
                       bide_format_duration(m->duration_ns, end, sizeof end));
    }
}

/* ===== services that cannot keep up even without faults =====
 *
 * Nothing can be said about a service time without a mean (Pareto). */

/* Adds up the calls per second that reach each service if every call is one
 * attempt and succeeds; from the top down, each service once the rates of all
 * its callers are known. A rush that ends is not counted: it may be meant to
 * overload. */
static void add_rates(struct sim_load *l, double *rate)
{
    const struct sim_model *m = l->model;
    uint32_t *callers = sim_load_alloc(l, m->n_services, sizeof *callers);
    uint32_t *ready = sim_load_alloc(l, m->n_services, sizeof *ready);
    uint32_t n_ready = 0;

    if (!callers || !ready)
        return;
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].arrival == SIM_OPEN && !m->fleets[i].until_ns &&
            !m->fleets[i].most_calls)
            rate[m->fleets[i].service] +=
                sim_fleet_rate(&m->fleets[i], m->duration_ns);
    for (uint32_t i = 0; i < m->n_services; i++)
        for (uint32_t k = 0; k < m->services[i].n_edges; k++)
            callers[m->services[i].edges[k].service]++;
    for (uint32_t i = 0; i < m->n_services; i++)
        if (callers[i] == 0)
            ready[n_ready++] = i;
    for (uint32_t at = 0; at < n_ready; at++) {
        const struct sim_model_service *s = &m->services[ready[at]];

        for (uint32_t k = 0; k < s->n_edges; k++) {
            uint32_t below = s->edges[k].service;

            rate[below] += rate[ready[at]] * s->edges[k].times;
            if (--callers[below] == 0)
                ready[n_ready++] = below;
        }
    }
}

/* "400", "0.25": with as many digits as a reader needs. */
static const char *amount(double value, char *buffer, size_t size)
{
    snprintf(buffer, size, value < 10 ? "%.2g" : "%.0f", value);
    return buffer;
}

static void lint_load(struct sim_load *l)
{
    const struct sim_model *m = l->model;
    char can[32], asked[32];
    double *rate = sim_load_alloc(l, m->n_services, sizeof *rate);

    if (!rate)
        return;
    add_rates(l, rate);
    for (uint32_t i = 0; i < m->n_services; i++) {
        const struct sim_model_service *s = &m->services[i];
        double capacity = (double)s->workers * sim_service_servers(s) * 1e9 /
                          sim_dist_mean(&s->time);

        if (s->workers != SIM_UNBOUNDED && capacity > 0 && rate[i] > capacity)
            bide__diag(l->base.notes, l->base.tree, l->services->keys[i],
                       BIDE_WARNING, "L024",
                       "give it more workers, or less to do",
                       "`%s` can serve %s requests a second and is asked for "
                       "%s, without any retry or fault",
                       s->name, amount(capacity, can, sizeof can),
                       amount(rate[i], asked, sizeof asked));
    }
}

/* The same of the workers of a queue, if each attempt takes as long as the service
 * does, and none fails. */
static void lint_queues(struct sim_load *l)
{
    const struct sim_model *m = l->model;
    char can[32], asked[32];

    for (uint32_t i = 0; i < m->n_fleets; i++) {
        const struct sim_model_fleet *f = &m->fleets[i];
        double took_ns = sim_dist_mean(&m->services[f->service].time);
        double places = (double)f->queue.workers * f->queue.at_once;
        double rate = sim_fleet_rate(f, m->duration_ns);

        if (f->queue.workers && took_ns > 0 && !f->until_ns &&
            !f->most_calls && rate > places * 1e9 / took_ns)
            bide__diag(l->base.notes, l->base.tree, l->clients->keys[i],
                       BIDE_WARNING, "L024",
                       "raise `at_once` or `workers` of its queue",
                       "the workers of `%s` can handle %s messages a second, "
                       "and %s come, without any retry or fault",
                       f->name, amount(places * 1e9 / took_ns, can, sizeof can),
                       amount(rate, asked, sizeof asked));
    }
}

void sim_lint_scenario(struct sim_load *l, const struct bide__node *faults)
{
    lint_uncalled(l);
    lint_faults(l, faults);
    if (bide__diag_mistakes(l->base.notes) == l->mistakes_before &&
        !l->base.no_memory) {
        lint_load(l); /* follows names, which are valid then */
        lint_queues(l);
    }
}
