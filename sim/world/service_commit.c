/* What a service has done, and whether it had already done it.
 *
 * Every request would have to be remembered for ever, because it might be
 * repeated. Most cannot be: a client that has the response to its first attempt
 * makes no other, unless it hedges. Those are not recorded at all, or are
 * removed as soon as the response has arrived. */
#include "sim/world/service.h"
#include "sim/world/service_admission.h"

uint64_t sim_operation_of(const struct sim_request *r)
{
    if (r->operation != 0)
        return r->operation;
    return bide_rng_hash(r->client, r->call, r->from->part, 2) | 1;
}

/* Once its response has arrived, it will not be repeated. A request that serves
 * one of a layer above may be, along with that one. */
static bool is_settled_by_answer(const struct sim_request *r)
{
    return r->operation == 0 && r->attempt == 1 && !r->from->hedges;
}

void sim_service_commit(struct sim_service *s, const struct sim_request *r,
                        bool accepted)
{
    bool settled = accepted && is_settled_by_answer(r);
    if (settled) {
        s->commits++;
        return;
    }
    if (s->conf.keys && r->key != 0 && !sim_ledger_add(&s->keys, r->key))
        return; /* it recognizes the key, and repeats its earlier response */
    s->commits++;
    if (!sim_ledger_add(&s->operations, sim_operation_of(r)))
        s->duplicates++;
}

void sim_service_accepted(struct sim_service *s, const struct sim_request *r)
{
    if (!is_settled_by_answer(r))
        return;
    sim_ledger_remove(&s->operations, sim_operation_of(r));
    if (r->key != 0)
        sim_ledger_remove(&s->keys, r->key);
}
