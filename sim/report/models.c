/* Which model a variant is a run of, and what all of them have in common. */
#include "sim/report/models.h"

#include <string.h>

const struct sim_model *page_model_of(const struct sim_summary *s, uint32_t v)
{
    const struct sim_result *r = s->variants[v].first;

    return r ? r->model : s->model;
}

bool page_is_mixed(const struct sim_summary *s)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (page_model_of(s, v) != page_model_of(s, 0))
            return true;
    return false;
}

static bool is_alike(const struct sim_model *a, const struct sim_model *b)
{
    if (a->n_fleets != b->n_fleets || a->n_services != b->n_services)
        return false;
    for (uint32_t i = 0; i < a->n_fleets; i++)
        if (strcmp(a->fleets[i].name, b->fleets[i].name) != 0)
            return false;
    for (uint32_t i = 0; i < a->n_services; i++)
        if (strcmp(a->services[i].name, b->services[i].name) != 0)
            return false;
    return true;
}

bool page_is_alike(const struct sim_summary *s)
{
    for (uint32_t v = 0; v < s->n_variants; v++)
        if (!is_alike(page_model_of(s, v), s->model))
            return false;
    return true;
}

bool page_is_queue(const struct sim_model *m)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].queue.workers == 0)
            return false;
    return m->n_fleets > 0;
}

bool page_minds_twice(const struct sim_model *m)
{
    for (uint32_t i = 0; i < m->n_fleets; i++)
        if (m->fleets[i].repeat != SIM_IDEMPOTENT)
            return true;
    for (uint32_t v = 0; v < m->n_variants; v++)
        for (uint32_t i = 0; m->variants[v].fleet_repeat && i < m->n_fleets;
             i++)
            if (m->variants[v].fleet_repeat[i] != SIM_NONE &&
                m->variants[v].fleet_repeat[i] != SIM_IDEMPOTENT)
                return true;
    return false;
}
