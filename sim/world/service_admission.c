/* How a request is admitted to a service: over the network, past the rate
 * limit, to a worker, into the queue, or not at all. And how it is
 * cancelled. */
#include "sim/world/service_admission.h"

#include "sim/model/memory.h"
#include "sim/world/service.h"
#include "sim/world/service_work.h"

static struct sim_request *open(void *self, uint32_t *ret_number)
{
    struct sim_service *s = self;
    uint32_t i = sim_slab_take(&s->items, sizeof(struct sim_item));
    sim_slab_fetch_next(&s->items, sizeof(struct sim_item), SIM_ITEM_LINES);
    *ret_number = i;
    return &sim_service_item(s, i)->request;
}

static void turn_away(struct sim_service *s, struct sim_world *w, uint32_t i,
                      enum sim_answer_kind kind, int64_t hint_ns)
{
    sim_service_item(s, i)->answer = (uint8_t)kind;
    sim_service_item(s, i)->hint_ns = hint_ns > 0 ? hint_ns : 0;
    sim_service_answer(s, w, i, true);
}

/* ===== arrivals ===== */

/* Adds what has come since the last time. What was promised to somebody who did
 * not come is there at once, however much else has been promised. */
static void add_tokens(struct sim_service *s, int64_t now)
{
    double most = s->conf.limit_burst > 1 ? s->conf.limit_burst : 1;
    s->tokens += (double)(now - s->tokens_ns) * (s->conf.limit_rate / 1e9);
    s->tokens_ns = now;
    if (s->tokens > most)
        s->tokens = most;
    s->spare += sim_promises_lapse(&s->promises, now);
    if (s->spare > most)
        s->spare = most;
}

/* Only who has been here before can have been promised anything. */
static int64_t promised_at(const struct sim_service *s,
                           const struct sim_promises *p,
                           const struct sim_request *r)
{
    if (s->conf.retry_after_ns != SIM_WHEN_FREE ||
        (r->attempt == 1 && r->operation == 0))
        return -1;
    return sim_promise_find(p, sim_operation_of(r));
}

/* Takes a token of the rate limit, or says in *free_in_ns when there will be
 * one. With SIM_WHEN_FREE that is a promise: the token is taken in advance, and
 * whoever comes then is let in, before those who come for the first time. */
static bool take_token(struct sim_service *s, const struct sim_request *r,
                       int64_t now, int64_t *free_in_ns)
{
    int64_t at = promised_at(s, &s->promises, r);
    add_tokens(s, now);
    if (at >= 0) {
        *free_in_ns = at - now;
        if (at <= now)
            sim_promise_keep(&s->promises, sim_operation_of(r));
        return at <= now;
    }
    *free_in_ns = sim_to_ns((1 - s->tokens) / (s->conf.limit_rate / 1e9)) + 1;
    double *from = s->spare >= 1 ? &s->spare : &s->tokens;
    if (*from >= 1) {
        *from -= 1;
        return true;
    }
    if (s->conf.retry_after_ns == SIM_WHEN_FREE) {
        sim_promise(&s->promises, sim_operation_of(r), now, now + *free_in_ns);
        s->tokens -= 1;
    }
    return false;
}

static bool is_throttled(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    const struct sim_request *r = &sim_service_item(s, i)->request;
    int64_t free_in_ns;
    if (s->conf.limit_rate <= 0 || take_token(s, r, w->now_ns, &free_in_ns))
        return false;
    s->throttled++;
    turn_away(s, w, i, SIM_SAID_THROTTLED,
              s->conf.retry_after_ns == SIM_WHEN_FREE ? free_in_ns
                                                      : s->conf.retry_after_ns);
    return true;
}

/* Whether there is a place in the queue. With SIM_WHEN_FREE, places are kept for
 * those to whom they were promised; one of them is let in even if the service
 * has been a little slower than it is on average. */
static bool finds_place(struct sim_service *s, struct sim_shard *shard,
                        const struct sim_request *r, int64_t now)
{
    if (s->conf.retry_after_ns != SIM_WHEN_FREE)
        return shard->n_queued < s->conf.queue;
    int64_t at = promised_at(s, &shard->places, r);
    sim_promises_lapse(&shard->places, now);
    if (at >= 0 && at <= now)
        sim_promise_keep(&shard->places, sim_operation_of(r));
    if (at >= 0)
        return at <= now;
    return shard->n_queued + sim_promises_due(&shard->places, now) <
           s->conf.queue;
}

/* When to come back to a full queue. One place after the other becomes free, as
 * fast as the workers are; while they stand still, nobody knows. */
static int64_t place_free_in(struct sim_service *s, struct sim_shard *shard,
                             const struct sim_request *r, int64_t now)
{
    int64_t at = promised_at(s, &shard->places, r);
    int64_t last = sim_promises_last(&shard->places);
    if (s->conf.retry_after_ns != SIM_WHEN_FREE)
        return s->conf.retry_after_ns;
    if (shard->limit == 0)
        return 0;
    if (at < 0) {
        at = (last > now ? last : now) +
             sim_to_ns(s->work_ns * shard->slow / shard->limit) + 1;
        sim_promise(&shard->places, sim_operation_of(r), now, at);
    }
    return at - now;
}

static void arrive(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    struct sim_shard *shard = &s->shards[item->shard];
    if (sim_service_cuts(s, &item->request, item->shard)) {
        s->lost++;
        sim_service_forget(s, i);
        return;
    }
    s->arrived++;
    if (shard->crashed || shard->refuses) {
        s->broken++;
        turn_away(s, w, i, SIM_NOT_CONNECTED, 0);
    } else if (is_throttled(s, w, i)) {
        return;
    } else if (sim_service_befalls(s, w, &item->request, SIM_LUCK_ERROR,
                                   shard->fail_fast)) {
        s->errors++;
        turn_away(s, w, i, SIM_SAID_ERROR, 0);
    } else if (shard->busy < shard->limit && shard->n_queued == 0) {
        sim_service_begin(s, w, i);
    } else if (finds_place(s, shard, &item->request, w->now_ns)) {
        s->waited++;
        item->begun_ns = w->now_ns;
        sim_service_enqueue(s, i);
    } else {
        s->refused++;
        turn_away(s, w, i,
                  s->conf.refuse_overload ? SIM_SAID_NO : SIM_SAID_FULL,
                  place_free_in(s, shard, &item->request, w->now_ns));
    }
}

static void on_arrival(struct sim_actor *self, struct sim_world *w, uint32_t i,
                       uint32_t generation)
{
    struct sim_service *s = self->self;
    (void)generation;
    if (sim_service_item(s, i)->state == SIM_ITEM_GONE)
        sim_service_forget(s, i);
    else
        arrive(s, w, i);
}

static void submit(void *self, struct sim_world *w, uint32_t i)
{
    struct sim_service *s = self;
    struct sim_item *item = sim_service_item(s, i);
    const struct sim_request *r = &item->request;
    item->shard =
        s->conf.shards == 1 ? 0 : (uint32_t)(r->client % s->conf.shards);
    if (s->servers > 1)
        item->shard = item->shard * s->servers + r->server;
    item->hint_ns = 0;
    item->holds = item->beginning = item->refused = false;
    if (!s->network) {
        arrive(s, w, i);
        return;
    }
    item->state = SIM_ITEM_ON_ITS_WAY;
    sim_world_at(w, w->now_ns + sim_service_hop(s, w, r, 0), &s->arrival, i, 0);
}

/* The service time of a request is a function of its key: drawn here, many in a
 * row, it costs a third of what it costs when the next event waits for it. */
static void foresee(void *self, const struct sim_world *w, uint64_t client,
                    uint64_t call)
{
    struct sim_service *s = self;
    struct sim_foreseen *f = &s->foreseen[call % SIM_FORESEEN];
    struct sim_request r = { .client = client, .call = call, .attempt = 1 };
    f->client = client;
    f->call = call;
    f->took_ns = sim_service_time(s, w, &r);
}

/* ===== cancelling ===== */

/* The client has gone away, and the service knows: it stops the work. */
static void take_back(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    uint32_t shard = item->shard;
    switch ((enum sim_item_state)item->state) {
    case SIM_ITEM_QUEUED:
        s->shards[shard].n_queued--;
        s->dropped++;
        item->state = SIM_ITEM_GONE; /* the queue drops it later */
        return;
    case SIM_ITEM_ON_ITS_WAY:
        item->state = SIM_ITEM_GONE;
        return;
    case SIM_ITEM_BELOW:
        sim_service_abandon(s, w, i);
        break;
    case SIM_ITEM_IN_HAND:
        break;
    default:
        return;
    }
    s->dropped++;
    sim_service_release(s, w, item, true);
    sim_service_forget(s, i);
    sim_service_work_on(s, w, shard);
}

static bool is_the_same(const struct sim_request *a,
                        const struct sim_request *b)
{
    return a->from == b->from && a->slot == b->slot &&
           a->generation == b->generation && a->attempt == b->attempt;
}

static void cancel(void *self, struct sim_world *w, const struct sim_request *r,
                   uint32_t i)
{
    struct sim_service *s = self;
    if (i >= s->items.n || sim_service_item(s, i)->state == SIM_ITEM_FREE ||
        !is_the_same(&sim_service_item(s, i)->request, r))
        return;
    if (s->network)
        sim_world_at(w, w->now_ns + sim_service_hop(s, w, r, SIM_CANCELLING),
                     &s->cancel, i, sim_service_item(s, i)->generation);
    else
        take_back(s, w, i);
}

static void on_cancel(struct sim_actor *self, struct sim_world *w, uint32_t i,
                      uint32_t generation)
{
    struct sim_service *s = self->self;
    if (sim_service_item(s, i)->generation == generation)
        take_back(s, w, i);
}

void sim_service_begin_admission(struct sim_service *s)
{
    s->arrival = (struct sim_actor){ .act = on_arrival, .self = s };
    s->cancel = (struct sim_actor){ .act = on_cancel, .self = s };
    s->target = (struct sim_target){
        .self = s,
        .open = open,
        .submit = submit,
        .pool = s->servers > 1 ? &s->conf : NULL,
        .foresee = s->conf.time.kind == SIM_CONSTANT ? NULL : foresee,
        .cancel = s->conf.cancels ? cancel : NULL,
    };
}
