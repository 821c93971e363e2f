/* Creating and freeing a service, and its gauges. */
#include <stdlib.h>

#include "sim/model/memory.h"
#include "sim/world/service.h"
#include "sim/world/service_admission.h"
#include "sim/world/service_work.h"

static bool takes_time(const struct sim_dist *d)
{
    return d->kind != SIM_CONSTANT || d->at_ns > 0;
}

void sim_service_init(struct sim_service *s, struct sim_world *w)
{
    s->servers = s->conf.servers ? s->conf.servers : 1;
    s->n_shards = s->conf.shards * s->servers;
    s->shards = sim_new(s->n_shards, sizeof *s->shards);
    s->active = sim_new(s->n_faults, sizeof *s->active);
    s->first = sim_new(s->n_faults, sizeof *s->first);
    s->edges = sim_new(s->conf.n_edges, sizeof *s->edges);
    for (int i = 0; i < SIM_FORESEEN; i++)
        s->foreseen[i].call = UINT64_MAX;
    s->network = takes_time(&s->conf.network);
    s->work_ns = sim_dist_mean(&s->conf.time);
    s->tokens = s->conf.limit_burst > 1 ? s->conf.limit_burst : 1;
    sim_service_connect(s);
    sim_service_begin_admission(s);
    sim_service_schedule(s, w);
}

void sim_service_done(struct sim_service *s)
{
    for (uint32_t i = 0; i < s->n_shards; i++) {
        free(s->shards[i].queue);
        sim_promises_done(&s->shards[i].places);
    }
    for (uint32_t i = 0; i < s->conf.n_edges; i++)
        sim_caller_done(&s->edges[i].caller);
    free(s->shards);
    free(s->active);
    free(s->first);
    free(s->edges);
    sim_slab_done(&s->items);
    sim_promises_done(&s->promises);
    sim_ledger_done(&s->operations);
    sim_ledger_done(&s->keys);
}

uint64_t sim_service_queued(const struct sim_service *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_shards; i++)
        n += s->shards[i].n_queued;
    return n;
}

uint64_t sim_service_busy(const struct sim_service *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n_shards; i++)
        n += s->shards[i].busy;
    return n;
}

double sim_service_held(const struct sim_service *s, int64_t now)
{
    double held_ns = 0;
    for (uint32_t i = 0; i < s->items.n; i++) {
        const struct sim_item *item = sim_service_item(s, i);
        if (item->state != SIM_ITEM_FREE && item->holds)
            held_ns += (double)(now - item->begun_ns);
    }
    return held_ns;
}

uint64_t sim_service_left(const struct sim_service *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->items.n; i++)
        n += sim_service_item(s, i)->state == SIM_ITEM_QUEUED ||
             sim_service_item(s, i)->state == SIM_ITEM_IN_HAND ||
             sim_service_item(s, i)->state == SIM_ITEM_BELOW;
    return n;
}
