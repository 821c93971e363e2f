/* The path of a request: through the queue, to a worker, and out. How it is
 * admitted is in service_admission.c. */
#include "sim/world/service.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/service_admission.h"
#include "sim/world/service_work.h"

/* ===== items ===== */

void sim_service_forget(struct sim_service *s, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    item->generation++;
    item->state = SIM_ITEM_FREE;
    sim_slab_leave(&s->items, i);
}

/* ===== answers ===== */

static void deliver(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    const struct sim_item *item = sim_service_item(s, i);
    struct sim_request r = item->request;
    struct sim_answer a = { (enum sim_answer_kind)item->answer, item->hint_ns };
    sim_service_forget(s, i);
    if (s->network && r.from->waits(r.from->self, &r))
        sim_service_accepted(s, &r);
    r.from->answer(r.from->self, w, &r, &a);
}

void sim_service_answer(struct sim_service *s, struct sim_world *w, uint32_t i,
                        bool later)
{
    struct sim_item *item = sim_service_item(s, i);
    if (sim_service_cuts(s, &item->request, item->shard)) {
        s->unheard++;
        sim_service_forget(s, i);
        return;
    }
    item->state = SIM_ITEM_ANSWERED;
    if (!later && !s->network) {
        deliver(s, w, i);
        return;
    }
    int64_t took = sim_service_hop(s, w, &item->request, SIM_WAY_BACK);
    sim_world_at(w, w->now_ns + took, &s->answer, i, item->generation);
}

static void on_answer(struct sim_actor *self, struct sim_world *w, uint32_t i,
                      uint32_t generation)
{
    struct sim_service *s = self->self;
    if (sim_service_item(s, i)->generation == generation)
        deliver(s, w, i);
}

/* ===== work ===== */

void sim_service_release(struct sim_service *s, struct sim_world *w,
                         struct sim_item *item, bool for_nobody)
{
    if (!item->holds)
        return;
    double took = (double)(w->now_ns - item->begun_ns);
    item->holds = false;
    s->shards[item->shard].busy--;
    s->busy_ns += took;
    if (for_nobody)
        s->wasted_ns += took;
}

void sim_service_complete(struct sim_service *s, struct sim_world *w,
                          uint32_t i, enum sim_answer_kind kind, int64_t hint)
{
    struct sim_item *item = sim_service_item(s, i);
    const struct sim_request *r = &item->request;
    uint32_t shard = item->shard;
    bool wanted = r->from->waits(r->from->self, r);
    bool gone = kind == SIM_SAID_OK &&
                sim_service_befalls(s, w, r, SIM_LUCK_LOSS, s->conf.lost_rate);
    s->served += wanted;
    s->wasted += !wanted;
    s->errors += kind != SIM_SAID_OK;
    sim_service_release(s, w, item, !wanted);
    if (kind == SIM_SAID_OK)
        sim_service_commit(s, r,
                           wanted && !gone && !s->network &&
                               !sim_service_cuts(s, r, shard));
    item->answer = (uint8_t)kind;
    item->hint_ns = hint;
    sim_service_work_on(s, w, shard);
    if (gone) {
        s->unheard++;
        sim_service_forget(s, i);
    } else {
        sim_service_answer(s, w, i, false);
    }
}

static void on_finish(struct sim_actor *self, struct sim_world *w, uint32_t i,
                      uint32_t generation)
{
    struct sim_service *s = self->self;
    struct sim_item *item = sim_service_item(s, i);
    if (item->generation != generation)
        return;
    if (item->request.fails ||
        sim_service_befalls(s, w, &item->request, SIM_LUCK_ERROR,
                            s->shards[item->shard].fail)) {
        sim_service_complete(s, w, i, SIM_SAID_ERROR, 0);
    } else if (s->conf.n_edges == 0) {
        sim_service_complete(s, w, i, SIM_SAID_OK, 0);
    } else {
        item->edge = 0;
        item->times = 0;
        sim_service_descend(s, w, i);
    }
}

/* First the item, then, through it, the call that it is an attempt of. */
static void fetch(const struct sim_actor *self, uint32_t i, uint32_t generation,
                  bool soon)
{
    const struct sim_service *s = self->self;
    const struct sim_item *item = sim_service_item(s, i);
    if (soon && item->generation == generation) {
        const struct sim_sender *from = item->request.from;
        from->fetch(from->self, &item->request);
    } else if (!soon) {
        sim_fetch_lines(item, SIM_ITEM_LINES);
    }
}

/* Abandoned; or its deadline would pass before it is done, given the mean
 * service time. Without the second condition, just those requests would be
 * begun that are about to be late. */
static bool is_late(const struct sim_service *s, const struct sim_world *w,
                    const struct sim_request *r)
{
    return (r->deadline_ns != BIDE_FOREVER &&
            (double)(r->deadline_ns - w->now_ns) < s->work_ns) ||
           !r->from->waits(r->from->self, r);
}

static void begin(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    struct sim_shard *shard = &s->shards[item->shard];
    const struct sim_request *r = &item->request;
    const struct sim_foreseen *f = &s->foreseen[r->call % SIM_FORESEEN];
    bool known =
        r->attempt == 1 && f->call == r->call && f->client == r->client;
    int64_t took = known ? f->took_ns : sim_service_time(s, w, r);
    if (shard->slow != 1)
        took = sim_to_ns((double)took * shard->slow);
    shard->busy++;
    s->begun++;
    item->state = SIM_ITEM_IN_HAND;
    item->begun_ns = w->now_ns;
    item->holds = true;
    sim_world_at(w, sim_ahead(w->now_ns, took), &s->finish, i,
                 item->generation);
}

/* ===== the queue ===== */

static void enqueue(struct sim_shard *shard, uint32_t i)
{
    if (shard->n_ring == shard->room) {
        uint32_t old = shard->room;
        shard->queue = sim_grow(shard->queue, shard->n_ring, &shard->room,
                                sizeof *shard->queue);
        memcpy(shard->queue + old, shard->queue,
               shard->first * sizeof *shard->queue);
    }
    shard->queue[(shard->first + shard->n_ring++) & (shard->room - 1)] = i;
    shard->n_queued++;
}

static uint32_t dequeue(struct sim_shard *shard, enum sim_order order)
{
    uint32_t at = shard->first;
    if (order == SIM_LIFO)
        at = (shard->first + shard->n_ring - 1) & (shard->room - 1);
    else
        shard->first = (shard->first + 1) & (shard->room - 1);
    shard->n_ring--;
    return shard->queue[at];
}

/* Takes up the next request, unless it has been abandoned. */
static void take_up(struct sim_service *s, struct sim_world *w,
                    struct sim_shard *shard)
{
    uint32_t i = dequeue(shard, s->conf.order);
    if (sim_service_item(s, i)->state == SIM_ITEM_GONE) {
        sim_service_forget(s, i);
        return;
    }
    shard->n_queued--;
    if (s->conf.drop_late && is_late(s, w, &sim_service_item(s, i)->request)) {
        s->dropped++;
        sim_service_forget(s, i);
        return;
    }
    s->queued_ns += (double)(w->now_ns - sim_service_item(s, i)->begun_ns);
    begin(s, w, i);
}

void sim_service_work_on(struct sim_service *s, struct sim_world *w, uint32_t n)
{
    struct sim_shard *shard = &s->shards[n];
    while (shard->n_ring > 0 && shard->busy < shard->limit)
        take_up(s, w, shard);
}

/* ===== for the other files ===== */

void sim_service_begin(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    begin(s, w, i);
}

void sim_service_enqueue(struct sim_service *s, uint32_t i)
{
    sim_service_item(s, i)->state = SIM_ITEM_QUEUED;
    enqueue(&s->shards[sim_service_item(s, i)->shard], i);
}

void sim_service_connect(struct sim_service *s)
{
    s->finish =
        (struct sim_actor){ .act = on_finish, .self = s, .fetch = fetch };
    s->answer = (struct sim_actor){ .act = on_answer, .self = s };
}
