#include "caller.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { BLOCK_BITS = 8, BLOCK = 1 << BLOCK_BITS };

#define NO_SLOT UINT32_MAX

/* ===== slots ===== */

static struct sim_call *at(const struct sim_caller *c, uint32_t slot)
{
    return &c->blocks[slot >> BLOCK_BITS][slot & (BLOCK - 1)];
}

static uint32_t take_slot(struct sim_caller *c)
{
    if (c->free != NO_SLOT) {
        uint32_t slot = c->free;
        c->free = at(c, slot)->next_free;
        return slot;
    }
    if (c->n_slots == c->n_blocks << BLOCK_BITS) {
        c->blocks = sim_grow(c->blocks, c->n_blocks, &c->room, sizeof(void *));
        c->blocks[c->n_blocks++] = sim_new(BLOCK, sizeof(struct sim_call));
    }
    return c->n_slots++;
}

static void leave_slot(struct sim_caller *c, uint32_t slot)
{
    struct sim_call *call = at(c, slot);
    call->generation++;
    call->next_free = c->free;
    c->free = slot;
}

/* ===== attempts ===== */

/* Its place among those that run, or -1. */
static int find(const struct sim_call *call, uint32_t attempt)
{
    for (uint32_t i = 0; i < call->n_running; i++)
        if (call->running[i] == attempt)
            return (int)i;
    return -1;
}

static bool is_running(void *self, const struct sim_timeout *t)
{
    const struct sim_call *call = at(self, t->slot);
    return call->generation == t->generation && find(call, t->attempt) >= 0;
}

static void launch(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                   const bide_decision *d)
{
    struct sim_call *call = at(c, slot);
    call->running[call->n_running++] = d->attempt;
    c->metrics.attempts++;
    sim_metrics_second(&c->metrics, w->now_ns)->attempts++;
    if (c->on_try)
        c->on_try(c->self, w, c->deps[call->luck.client % c->n_deps], d);
    if (d->timeout_ns == c->timeouts.length_ns)
        sim_timeouts_add(&c->timeouts, w, slot, call->generation, d->attempt);
    else /* cut short by the deadline of the call */
        sim_world_at(w, w->now_ns + d->timeout_ns, &c->deadline, slot,
                     call->generation);
    struct sim_request r = { &c->sender, call->luck.client, call->luck.call,
                             d->attempt, slot, call->generation };
    c->target->submit(c->target->self, w, &r);
}

/* ===== calls ===== */

static void finish(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                   bide_reason reason)
{
    struct sim_call *call = at(c, slot);
    struct sim_second *second = sim_metrics_second(&c->metrics, w->now_ns);
    uint32_t tag = call->tag;
    bide_call_end(&call->call, w->now_ns);
    c->in_progress--;
    c->metrics.done[reason]++;
    if (reason == BIDE_BECAUSE_SUCCESS) {
        c->metrics.successes++;
        second->successes++;
        sim_histogram_add(&c->metrics.latency, w->now_ns - call->begin_ns);
    } else {
        c->metrics.failures++;
        second->failures++;
    }
    leave_slot(c, slot);
    if (c->on_done)
        c->on_done(c->self, w, tag, reason);
}

/* Asks what to do until there is something to wait for. */
static void go_on(struct sim_caller *c, struct sim_world *w, uint32_t slot)
{
    struct sim_call *call = at(c, slot);
    for (;;) {
        call->luck.attempt = bide_call_attempts(&call->call);
        call->luck.draw = 0;
        bide_decision d = bide_call_next(&call->call, w->now_ns);
        if (d.action == BIDE_DONE) {
            finish(c, w, slot, d.reason);
            return;
        }
        if (d.action == BIDE_WAIT) {
            if (d.at_ns != BIDE_FOREVER && d.at_ns != call->wake_ns) {
                call->wake_ns = d.at_ns;
                sim_world_at(w, d.at_ns, &c->actor, slot, call->generation);
            }
            return;
        }
        launch(c, w, slot, &d);
        if (!c->hedges)
            return; /* nothing is due while it runs */
    }
}

static void report(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                   uint32_t generation, uint32_t attempt,
                   const bide_outcome *out)
{
    struct sim_call *call = at(c, slot);
    if (call->generation != generation)
        return; /* nobody waits for it any more */
    int i = find(call, attempt);
    if (i < 0)
        return;
    call->running[i] = call->running[--call->n_running];
    bide_call_report(&call->call, attempt, out, w->now_ns);
    go_on(c, w, slot);
}

static void answer(void *self, struct sim_world *w, const struct sim_request *r,
                   const bide_outcome *out)
{
    report(self, w, r->slot, r->generation, r->attempt, out);
}

static void expired(void *self, struct sim_world *w,
                    const struct sim_timeout *t)
{
    static const bide_outcome timeout = { .cls = BIDE_TRANSIENT,
                                          .fault = BIDE_FAULT_TIMEOUT };
    struct sim_caller *c = self;
    c->metrics.timeouts++;
    report(c, w, t->slot, t->generation, t->attempt, &timeout);
}

/* The deadline has come: all that still runs is over. */
static void out_of_time(struct sim_actor *self, struct sim_world *w,
                        uint32_t slot, uint32_t generation)
{
    const struct sim_call *call = at(self->self, slot);
    while (call->generation == generation && call->n_running > 0) {
        struct sim_timeout t = { w->now_ns, slot, generation,
                                 call->running[0] };
        expired(self->self, w, &t);
    }
}

static void wake(struct sim_actor *self, struct sim_world *w, uint32_t slot,
                 uint32_t generation)
{
    struct sim_call *call = at(self->self, slot);
    if (call->generation != generation || call->wake_ns != w->now_ns)
        return;
    call->wake_ns = -1;
    go_on(self->self, w, slot);
}

void sim_caller_begin(struct sim_caller *c, struct sim_world *w,
                      uint64_t client, uint64_t number, uint32_t tag,
                      const bide_op *given)
{
    bide_op op = { .idempotent = !c->not_idempotent };
    uint32_t slot = take_slot(c);
    struct sim_call *call = at(c, slot);
    if (given)
        op = *given;
    op.rng = &call->rng;
    call->luck = (struct sim_luck){ .seed = w->seed, .client = client,
                                    .call = number,
                                    .part = (uint16_t)c->part };
    call->rng = sim_luck_rng(&call->luck);
    call->begin_ns = w->now_ns;
    call->wake_ns = -1;
    call->tag = tag;
    call->n_running = 0;
    c->in_progress++;
    c->metrics.calls++;
    sim_metrics_second(&c->metrics, w->now_ns)->calls++;
    bide_call_begin(&call->call, c->deps[client % c->n_deps], &op, w->now_ns);
    go_on(c, w, slot);
}

/* ===== making and unmaking ===== */

int sim_caller_init(struct sim_caller *c, struct sim_world *w,
                    const bide_policy_conf *conf, uint32_t n_deps)
{
    bide_policy_conf mine = *conf;
    mine.lanes = 1;
    if (conf->limits.queue != 0)
        return BIDE_EINVAL; /* places are not handed on to those who queue */
    int rc = bide_policy_check(&mine);
    if (rc < 0)
        return rc;
    c->deps = sim_new(n_deps, sizeof(bide_dep *));
    for (c->n_deps = 0; c->n_deps < n_deps; c->n_deps++) {
        uint64_t what = sim_luck_what(SIM_LUCK_OTHER, c->part, 0);
        uint64_t seed = sim_luck_word(w->seed, c->n_deps, 0, what);
        bide_host host = { .seed = &seed };
        rc = bide_dep_new_in(&c->deps[c->n_deps], "sim", &mine, &host);
        if (rc < 0) {
            sim_caller_done(c);
            return rc;
        }
    }
    c->hedges = conf->hedge.max != 0;
    c->sender = (struct sim_sender){ c, answer };
    c->actor = (struct sim_actor){ wake, c };
    c->deadline = (struct sim_actor){ out_of_time, c };
    c->timeouts.length_ns = conf->attempt_timeout_ns;
    c->timeouts.self = c;
    c->timeouts.running = is_running;
    c->timeouts.expired = expired;
    c->free = NO_SLOT;
    return 0;
}

void sim_caller_done(struct sim_caller *c)
{
    for (uint32_t i = 0; i < c->n_deps; i++)
        bide_dep_free(c->deps[i]);
    free(c->deps);
    for (uint32_t i = 0; i < c->n_blocks; i++)
        free(c->blocks[i]);
    free(c->blocks);
    sim_timeouts_done(&c->timeouts);
    sim_metrics_done(&c->metrics);
}
