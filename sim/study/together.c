/* Joins several summaries. The lists of variants are copied; what they point to
 * stays with the parts. */
#include "sim/study/together.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"

const char *sim_together_name(struct sim_together *t, const char *scenario,
                              const char *variant)
{
    size_t size = strlen(scenario) + strlen(variant) + 3;
    char *name;

    if (!*variant)
        return scenario;
    name = sim_new(1, size);
    snprintf(name, size, "%s: %s", scenario, variant);
    t->joined =
        sim_grow(t->joined, t->n_joined, &t->room_joined, sizeof *t->joined);
    t->joined[t->n_joined++] = name;
    return name;
}

void sim_together_add(struct sim_together *t, const char *scenario,
                      struct sim_summary *part)
{
    struct sim_summary *all = &t->all;
    uint32_t first = all->n_variants;

    t->parts = sim_grow(t->parts, t->n_parts, &t->room_parts, sizeof(part));
    t->parts[t->n_parts++] = part;
    if (t->n_parts == 1) {
        *all = *part;
        all->variants = NULL;
    } else {
        all->n_variants += part->n_variants;
        all->cut_short = all->cut_short || part->cut_short;
        all->events += part->events;
    }
    all->variants =
        sim_resize(all->variants, all->n_variants, sizeof *all->variants);
    memcpy(all->variants + first, part->variants,
           part->n_variants * sizeof *part->variants);
    for (uint32_t v = first; scenario && v < all->n_variants; v++)
        all->variants[v].name =
            sim_together_name(t, scenario, all->variants[v].name);
}

void sim_together_index(struct sim_together *t)
{
    uint32_t n = t->all.n_variants;

    t->names = sim_new(n, sizeof *t->names);
    t->figures = sim_new((size_t)n * SIM_FIGURES, sizeof *t->figures);
    for (uint32_t v = 0; v < n; v++) {
        t->names[v] = t->all.variants[v].name;
        memcpy(t->figures + (size_t)v * SIM_FIGURES, t->all.variants[v].figure,
               sizeof t->all.variants[v].figure);
    }
}

void sim_together_done(struct sim_together *t)
{
    for (uint32_t i = 0; i < t->n_parts; i++)
        sim_summary_free(t->parts[i]);
    for (uint32_t i = 0; i < t->n_joined; i++)
        free(t->joined[i]);
    free(t->parts);
    free(t->joined);
    free(t->all.variants);
    free(t->names);
    free(t->figures);
}
