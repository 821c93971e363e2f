/* Totals that never decrease. A route whose policy or upstream was changed gets
 * a new dependency of the same name, whose counts start at zero; observers see
 * the old counts continue.
 *
 * The previous dependency is kept beside it and read directly: its last calls
 * may still be running. Those before that have had the time of a whole
 * configuration to end, and are added up. */
#include "proxy/back/carried_totals.h"

#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "observe/event/observed.h"
#include "proxy/back/service.h"
#include "proxy/generation.h"

/* The index in the old generation of the one with this name; n_services:
 * none. */
static size_t find(const struct generation *old, const bide_dep *dep)
{
    size_t i = 0;
    while (i < old->n_services &&
           strcmp(bide_dep_name(old->services[i]->dep), bide_dep_name(dep)))
        i++;
    return i;
}

/* Adds carried totals; `with_prior`: those of the prior service too. */
static bool add_up(struct carried_totals *to, const struct carried_totals *from,
                   bool with_prior)
{
    bide_stats s;

    if (!from->before && !(with_prior && from->prior))
        return true;
    to->before = calloc(1, sizeof *to->before);
    if (!to->before)
        return false;
    if (from->before)
        bide__stats_add(to->before, from->before);
    if (with_prior && from->prior &&
        bide_dep_stats(from->prior->dep, bide_now_ns(), &s) == 0)
        bide__stats_add(to->before, &s);
    return true;
}

bool carried_totals_init(struct generation *g, size_t i,
                         const struct generation *old)
{
    struct carried_totals *l = &g->carried[i];
    size_t was = old ? find(old, g->services[i]->dep) : 0;

    if (!old || was == old->n_services)
        return true;
    bool same = old->services[was]->dep == g->services[i]->dep;
    l->prior = same ? old->carried[was].prior : old->services[was];
    if (l->prior)
        atomic_fetch_add(&l->prior->refs, 1);
    return add_up(l, &old->carried[was], !same);
}

void carried_totals_done(struct carried_totals *l)
{
    service_unref(l->prior);
    free(l->before);
}
