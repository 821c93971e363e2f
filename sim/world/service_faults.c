/* Faults, as they come and go. Their effect on a shard is computed when one
 * begins or ends, so that it is ready for requests. */
#include <math.h>

#include "sim/world/service.h"
#include "sim/world/service_work.h"

/* Whether fault f affects server n. */
static bool hits(const struct sim_service *s, uint32_t f, uint32_t n)
{
    const struct sim_fault *fault = &s->faults[f];
    uint32_t shard = n / s->servers, server = n % s->servers;
    if (fault->shard != SIM_NONE && fault->shard != shard)
        return false;
    return fault->n_servers == 0 ||
           (server + s->servers - s->first[f]) % s->servers < fault->n_servers;
}

/* ===== capacity ===== */

static double shard_rate(const struct sim_service *s,
                         const struct sim_shard *shard)
{
    if (shard->limit == 0 || shard->refuses)
        return 0;
    if (shard->limit == SIM_UNBOUNDED || s->work_ns * shard->slow <= 0)
        return INFINITY;
    return shard->limit / (s->work_ns * shard->slow);
}

/* Adds up the capacity until now; then sets the new rate. */
static void set_capacity(struct sim_service *s, int64_t now)
{
    double rate = 0;
    s->capacity = sim_service_capacity(s, now);
    s->capacity_ns = now;
    for (uint32_t i = 0; i < s->n_shards; i++)
        rate += shard_rate(s, &s->shards[i]);
    if (s->conf.limit_rate > 0 && rate > s->conf.limit_rate / 1e9)
        rate = s->conf.limit_rate / 1e9;
    s->capacity_rate = rate;
}

double sim_service_capacity(const struct sim_service *s, int64_t now)
{
    if (sim_service_unlimited(s))
        return s->capacity;
    return s->capacity + s->capacity_rate * (double)(now - s->capacity_ns);
}

bool sim_service_unlimited(const struct sim_service *s)
{
    return isinf(s->capacity_rate);
}

/* ===== the state of a shard ===== */

static void apply(struct sim_shard *shard, const struct sim_fault *f,
                  double *share)
{
    switch (f->kind) {
    case SIM_STOP:
        *share = 0;
        break;
    case SIM_SLOW:
        shard->slow *= f->factor;
        break;
    case SIM_FAIL:
        if (f->at_once)
            shard->fail_fast = fmax(shard->fail_fast, f->factor);
        else
            shard->fail = fmax(shard->fail, f->factor);
        break;
    case SIM_CAPACITY:
        *share = *share < f->factor ? *share : f->factor;
        break;
    case SIM_CRASH:
        shard->crashed = true;
        *share = 0;
        break;
    case SIM_PARTITION:
        shard->cut = shard->cut || f->fleet == SIM_NONE;
        break;
    case SIM_REFUSE:
        shard->refuses = true;
        break;
    }
}

/* 70 % of ten workers are seven. 70 % of one are one that takes 1/0.7 as long:
 * the capacity is 70 % in either case. */
static void set_workers(struct sim_shard *shard, uint32_t workers, double share)
{
    double there = workers * share;
    shard->limit = workers;
    if (workers == SIM_UNBOUNDED) {
        shard->limit = share == 0 ? 0 : workers;
        return;
    }
    shard->limit = (uint32_t)there;
    if (there - shard->limit < 1e-9)
        return;
    shard->limit++;
    if (shard->limit - there > 1e-9)
        shard->slow *= shard->limit / there;
}

static void work_out(struct sim_service *s, uint32_t n)
{
    struct sim_shard *shard = &s->shards[n];
    double share = 1;
    shard->slow = 1;
    shard->fail = -1;
    shard->fail_fast = 0;
    shard->crashed = shard->refuses = shard->cut = false;
    for (uint32_t i = 0; i < s->n_faults; i++)
        if (s->active[i] && hits(s, i, n))
            apply(shard, &s->faults[i], &share);
    if (shard->fail < 0)
        shard->fail = s->conf.error_rate;
    set_workers(shard, s->conf.workers, share);
}

bool sim_service_cuts_fleet(const struct sim_service *s,
                            const struct sim_request *r, uint32_t shard)
{
    for (uint32_t i = 0; i < s->n_faults; i++) {
        const struct sim_fault *f = &s->faults[i];
        if (s->active[i] && f->kind == SIM_PARTITION && f->fleet != SIM_NONE &&
            hits(s, i, shard) && s->fleets && s->fleets[f->fleet] == r->from)
            return true;
    }
    return false;
}

/* ===== crashes ===== */

/* The client sees the connection break; the work done for it is lost. */
static void lose(struct sim_service *s, struct sim_world *w, uint32_t i)
{
    struct sim_item *item = sim_service_item(s, i);
    if (item->state == SIM_ITEM_BELOW)
        sim_service_abandon(s, w, i);
    if (item->state == SIM_ITEM_QUEUED)
        s->shards[item->shard].n_queued--;
    sim_service_release(s, w, item, true);
    item->generation++; /* the event for its end is void */
    item->answer = SIM_BROKEN_OFF;
    item->hint_ns = 0;
    s->broken++;
    sim_service_answer(s, w, i, true);
}

/* The queue is emptied first, while the ring is still valid. */
static void crash(struct sim_service *s, struct sim_world *w, uint32_t n)
{
    struct sim_shard *shard = &s->shards[n];
    for (; shard->n_ring > 0; shard->n_ring--) {
        uint32_t i = shard->queue[shard->first];
        shard->first = (shard->first + 1) & (shard->room - 1);
        if (sim_service_item(s, i)->state == SIM_ITEM_GONE)
            sim_service_forget(s, i);
        else
            lose(s, w, i);
    }
    for (uint32_t i = 0; i < s->items.n; i++) {
        const struct sim_item *item = sim_service_item(s, i);
        if (item->shard == n && (item->state == SIM_ITEM_IN_HAND ||
                                 item->state == SIM_ITEM_BELOW))
            lose(s, w, i);
    }
}

/* ===== the timetable ===== */

/* The first server that it affects this time. */
static uint32_t first_of(const struct sim_service *s, const struct sim_fault *f,
                         int64_t now)
{
    if (!f->in_turn)
        return f->server;
    uint64_t times = (uint64_t)((now - f->from_ns) / f->every_ns);
    return (uint32_t)((f->server + times * f->n_servers) % s->servers);
}

static void turn(struct sim_service *s, struct sim_world *w, uint32_t f,
                 bool on)
{
    const struct sim_fault *fault = &s->faults[f];
    s->active[f] = on;
    if (on)
        s->first[f] = first_of(s, fault, w->now_ns);
    if (fault->kind == SIM_PARTITION && fault->fleet != SIM_NONE)
        s->n_cut_fleets += on ? 1 : UINT32_MAX;
    for (uint32_t i = 0; i < s->n_shards; i++)
        work_out(s, i);
    set_capacity(s, w->now_ns);
    for (uint32_t i = 0; i < s->n_shards; i++) {
        if (on && fault->kind == SIM_CRASH && hits(s, f, i))
            crash(s, w, i);
        sim_service_work_on(s, w, i);
    }
}

/* When a fault that has just begun, or just ended, changes next; -1: never. */
static int64_t next_turn(const struct sim_fault *f, bool on, int64_t now)
{
    if (on) {
        int64_t end = f->every_ns > 0 ? sim_ahead(now, f->for_ns) : f->to_ns;
        return end < f->to_ns ? end : f->to_ns;
    }
    if (f->every_ns <= 0)
        return -1;
    int64_t times = (now - f->from_ns + f->every_ns - 1) / f->every_ns;
    int64_t at = f->from_ns + times * f->every_ns;
    return at < f->to_ns ? at : -1;
}

static void on_toggle(struct sim_actor *self, struct sim_world *w, uint32_t f,
                      uint32_t on)
{
    struct sim_service *s = self->self;
    turn(s, w, f, on);
    int64_t at = next_turn(&s->faults[f], on, w->now_ns);
    if (at >= 0)
        sim_world_at(w, at, &s->toggle, f, !on);
}

void sim_service_schedule(struct sim_service *s, struct sim_world *w)
{
    s->toggle = (struct sim_actor){ .act = on_toggle, .self = s };
    for (uint32_t i = 0; i < s->n_shards; i++)
        work_out(s, i);
    set_capacity(s, w->now_ns);
    for (uint32_t i = 0; i < s->n_faults; i++)
        if (s->faults[i].from_ns < s->faults[i].to_ns)
            sim_world_at(w, s->faults[i].from_ns, &s->toggle, i, true);
}
