/* Calls of a service to the services below it, one after the other; or several
 * at once over one edge, of which the slowest is waited for. */
#include "sim/world/service.h"
#include "sim/world/service_admission.h"
#include "sim/world/service_work.h"

/* What a caller above gets (DESIGN section 6): a refusal by this layer's own
 * bide says "do not retry"; anything else is passed up as by a gateway. */
static enum sim_answer_kind pass_up(bide_reason reason,
                                    enum sim_answer_kind last)
{
    if (reason == BIDE_BECAUSE_SUCCESS)
        return SIM_SAID_OK;
    if (bide_reason_is_refusal(reason))
        return SIM_SAID_NO;
    switch (last) {
    case SIM_NOT_CONNECTED:
    case SIM_BROKEN_OFF:
        return SIM_SAID_BAD_GATEWAY;
    case SIM_TIMED_OUT:
    case SIM_SAID_OK: /* there was no time left for an attempt */
        return SIM_SAID_LATE;
    default:
        return last;
    }
}

/* ===== the calls of an item that run ===== */

static struct sim_caller *caller_of(struct sim_service *s,
                                    const struct sim_item *item)
{
    return &s->edges[item->edge].caller;
}

static void link_call(struct sim_service *s, struct sim_item *item,
                      uint32_t slot)
{
    struct sim_caller *c = caller_of(s, item);
    struct sim_call *call = sim_caller_at(c, slot);
    call->previous = SIM_NONE;
    call->next = item->below;
    if (item->below != SIM_NONE)
        sim_caller_at(c, item->below)->previous = slot;
    item->below = slot;
}

/* One that is over: its data can still be read. */
static void unlink_call(struct sim_service *s, struct sim_item *item,
                        const struct sim_call *call)
{
    struct sim_caller *c = caller_of(s, item);
    if (call->next != SIM_NONE)
        sim_caller_at(c, call->next)->previous = call->previous;
    if (call->previous != SIM_NONE)
        sim_caller_at(c, call->previous)->next = call->next;
    else
        item->below = call->next;
}

void sim_service_abandon(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    while (item->below != SIM_NONE) {
        uint32_t slot = item->below;
        item->below = sim_caller_at(caller_of(s, item), slot)->next;
        sim_caller_cancel(caller_of(s, item), w, slot);
    }
}

/* ===== what becomes of them ===== */

static void go_on(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    if (item->answer != SIM_SAID_OK) {
        sim_service_abandon(s, w, i);
        sim_service_complete(s, w, i, (enum sim_answer_kind)item->answer,
                             item->hint_ns);
        return;
    }
    item->times++;
    if (item->below == SIM_NONE)
        sim_service_descend(s, w, i);
}

static void on_done(void *self, struct sim_world *w, const struct sim_call *call,
                    bide_reason reason, const struct sim_answer *last)
{
    struct sim_edge *edge = self;
    struct sim_service *s = edge->owner;
    uint32_t i = call->tag;
    struct sim_item *item = sim_service_item(s, i);
    if (item->refused) { /* its end is set */
        unlink_call(s, item, call);
        return;
    }
    item->answer = (uint8_t)pass_up(reason, last->kind);
    item->hint_ns = item->answer == SIM_SAID_OK ? 0 : last->hint_ns;
    if (!item->beginning) {
        unlink_call(s, item, call);
        go_on(s, w, i);
        return;
    }
    /* refused from inside begin(): no response may be sent from there */
    item->beginning = false;
    item->refused = true;
    sim_world_at(w, w->now_ns, &edge->later, i, item->generation);
}

static void later(struct sim_actor *self, struct sim_world *w, uint32_t i,
                  uint32_t generation)
{
    struct sim_edge *edge = self->self;
    if (sim_service_item(edge->owner, i)->generation == generation)
        go_on(edge->owner, w, i);
}

/* A worker that does not wait for the calls below is free again. */
static void let_worker_go(struct sim_service *s, struct sim_world *w,
                          uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    const struct sim_request *r = &item->request;
    if (!s->conf.detached || !item->holds)
        return;
    sim_service_release(s, w, item, !r->from->waits(r->from->self, r));
    sim_service_work_on(s, w, item->shard);
}

/* Each attempt of the layer above is a separate call here; the user's operation
 * stays the same. */
static struct sim_job job_for(const struct sim_service *s, uint32_t i,
                              uint32_t n, uint64_t *ret_number)
{
    const struct sim_item *item = sim_service_item(s, i);
    const struct sim_request *r = &item->request;
    uint64_t which = (uint64_t)item->edge << 32 | n;
    *ret_number = bide_rng_hash(r->call, r->attempt, which, s->part);
    return (struct sim_job){
        .tag = i,
        .process = item->shard,
        .upstream_attempt = r->claim,
        .operation = bide_rng_hash(sim_operation_of(r), which, s->part, 3) | 1,
        .deadline_ns = r->deadline_ns == BIDE_FOREVER ? 0 : r->deadline_ns,
        .key_came_along = r->key != 0,
    };
}

/* Begins call n over the current edge; false: it was refused. */
static bool begin_call(struct sim_service *s, struct sim_world *w, uint32_t i,
                       uint32_t n)
{
    struct sim_item *item = sim_service_item(s, i);
    bool parallel = s->conf.edges[item->edge].parallel;
    uint64_t number, client = item->request.client;
    struct sim_job job = job_for(s, i, n, &number);
    item->beginning = true;
    uint32_t slot = sim_caller_begin(
        caller_of(s, item), w, parallel ? client + n : client, number, &job);
    if (!item->beginning)
        return false;
    item->beginning = false;
    link_call(s, item, slot);
    return true;
}

void sim_service_descend(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    while (item->edge < s->conf.n_edges &&
           item->times >= s->conf.edges[item->edge].times) {
        item->edge++;
        item->times = 0;
    }
    if (item->edge == s->conf.n_edges) {
        sim_service_complete(s, w, i, SIM_SAID_OK, 0);
        return;
    }
    const struct sim_model_edge *edge = &s->conf.edges[item->edge];
    let_worker_go(s, w, i);
    item->state = SIM_ITEM_BELOW;
    item->below = SIM_NONE;
    if (!edge->parallel) {
        begin_call(s, w, i, item->times);
        return;
    }
    for (uint32_t n = 0; n < edge->times; n++)
        if (!begin_call(s, w, i, n))
            break;
}

int sim_service_edge(struct sim_service *s, struct sim_world *w, uint32_t i,
                     struct sim_target *target, const bide_policy_conf *conf,
                     uint32_t part)
{
    struct sim_edge *edge = &s->edges[i];
    edge->owner = s;
    edge->later = (struct sim_actor){ .act = later, .self = edge };
    edge->caller.target = target;
    edge->caller.part = part;
    edge->caller.repeat = s->conf.edges[i].repeat;
    edge->caller.self = edge;
    edge->caller.on_done = on_done;
    return sim_caller_init(&edge->caller, w, conf, s->n_shards);
}
