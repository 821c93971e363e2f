/* Copies of models, to be modified. */
#include "sim/model/model_copy.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"

static void *copy(const void *list, uint32_t n, size_t size)
{
    void *own = sim_new(n, size);

    if (n > 0)
        memcpy(own, list, n * size);
    return own;
}

struct sim_model *sim_copy_new(const struct sim_model *m)
{
    struct sim_model *d = copy(m, 1, sizeof *m);

    d->policies = copy(m->policies, m->n_policies, sizeof *m->policies);
    d->fleets = copy(m->fleets, m->n_fleets, sizeof *m->fleets);
    d->services = copy(m->services, m->n_services, sizeof *m->services);
    d->faults = copy(m->faults, m->n_faults, sizeof *m->faults);
    d->variants = copy(m->variants, m->n_variants, sizeof *m->variants);
    for (uint32_t v = 0; v < d->n_variants; v++)
        d->variants[v].fleet_policy =
            copy(m->variants[v].fleet_policy, m->n_fleets, sizeof(uint32_t));
    return d;
}

void sim_copy_no_variants(struct sim_model *d)
{
    for (uint32_t v = 0; v < d->n_variants; v++)
        free(d->variants[v].fleet_policy);
    d->n_variants = 0;
}

void sim_copy_free(struct sim_model *d)
{
    if (!d)
        return;
    sim_copy_no_variants(d);
    free(d->variants);
    free(d->policies);
    free(d->fleets);
    free(d->services);
    free(d->faults);
    free(d);
}

/* The model's names are not const, because it owns them: a copy never frees or
 * writes them. */
static char *borrowed(const char *name)
{
    union {
        const char *from;
        char *to;
    } u = { name };

    return u.to;
}

uint32_t sim_copy_policy(struct sim_model *d, const char *name,
                         const bide_policy_conf *conf)
{
    uint32_t n = d->n_policies++;

    d->policies = sim_resize(d->policies, n + 1, sizeof *d->policies);
    d->policies[n] = (struct sim_model_policy){ borrowed(name), *conf };
    return n;
}

void sim_copy_variant(struct sim_model *d, const char *name, uint32_t policy)
{
    uint32_t n = d->n_variants++;
    struct sim_model_variant v = { .name = borrowed(name) };

    v.fleet_policy = sim_new(d->n_fleets, sizeof *v.fleet_policy);
    for (uint32_t i = 0; i < d->n_fleets; i++)
        v.fleet_policy[i] = policy;
    d->variants = sim_resize(d->variants, n + 1, sizeof *d->variants);
    d->variants[n] = v;
}

void sim_copy_drop(struct sim_model *d, uint32_t variant)
{
    struct sim_model_variant *v = &d->variants[variant];

    free(v->fleet_policy);
    memmove(v, v + 1, (--d->n_variants - variant) * sizeof *v);
}

void sim_copy_fault(struct sim_model *d, const struct sim_fault *fault)
{
    d->faults = sim_resize(d->faults, d->n_faults + 1, sizeof *d->faults);
    d->faults[d->n_faults++] = *fault;
}

bool sim_copy_of_fleets(const struct sim_model *d, uint32_t policy)
{
    for (uint32_t i = 0; i < d->n_fleets; i++) {
        if (d->fleets[i].policy == policy)
            return true;
        for (uint32_t v = 0; v < d->n_variants; v++)
            if (d->variants[v].fleet_policy[i] == policy)
                return true;
    }
    return false;
}
