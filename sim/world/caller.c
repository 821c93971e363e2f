/* Calls and their attempts: what is decided, and done. Responses are handled in
 * caller_answer.c; a caller is created in caller_setup.c. */
#include "sim/world/caller.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model/memory.h"
#include "sim/world/queue.h"

/* ===== slots ===== */

static inline struct sim_call *at(const struct sim_caller *c, uint32_t slot)
{
    return sim_caller_at(c, slot);
}

static uint32_t take_slot(struct sim_caller *c)
{
    uint32_t slot = sim_slab_take(&c->calls, sizeof(struct sim_call));
    sim_slab_fetch_next(&c->calls, sizeof(struct sim_call), SIM_CALL_LINES);
    return slot;
}

static void leave_slot(struct sim_caller *c, uint32_t slot)
{
    at(c, slot)->generation++;
    sim_slab_leave(&c->calls, slot);
}

static inline bide_dep *dep_of(const struct sim_caller *c,
                               const struct sim_call *call)
{
    return c->deps[call->process];
}

/* ===== attempts ===== */

/* A key is generated once for each call, or derived from the key of the request
 * that the call serves. */
static uint64_t key_of(const struct sim_caller *c, const struct sim_call *call)
{
    if (!c->keyed)
        return 0;
    if (call->key_came_along)
        return call->operation | 1;
    return bide_rng_hash(call->client, call->number, c->part, 1) | 1;
}

static uint32_t claim_of(const struct sim_call *call, uint32_t attempt)
{
    bide_op op = { .upstream_attempt =
                       call->serves ? call->upstream_attempt : 0 };
    return bide_call_claim(&call->call, &op, attempt, 0).attempt;
}

static void write_request(const struct sim_caller *c,
                          const struct sim_call *call, uint32_t slot,
                          uint32_t attempt, struct sim_request *r)
{
    r->from = &c->sender;
    r->client = call->client;
    r->call = call->number;
    r->attempt = attempt;
    r->slot = slot;
    r->generation = call->generation;
    r->claim = claim_of(call, attempt);
    r->server = 0;
    r->fails = c->queue && sim_queue_fails(c->queue, slot);
    r->operation = call->serves ? call->operation : 0;
    r->key = key_of(c, call);
    r->deadline_ns = bide_call_deadline(&call->call);
}

/* Tells the target that the attempt at index i has been abandoned. */
void sim_caller_tell_off(struct sim_caller *c, struct sim_world *w,
                         uint32_t slot, int i)
{
    if (!c->target->cancel)
        return;
    const struct sim_call *call = at(c, slot);
    struct sim_request r;
    write_request(c, call, slot, call->running[i], &r);
    c->target->cancel(c->target->self, w, &r,
                      call->number_there[i]);
}

void sim_caller_drop(struct sim_caller *c, uint32_t slot, int i)
{
    struct sim_call *call = at(c, slot);
    int last = --call->n_running;
    call->running[i] = call->running[last];
    if (c->target->cancel)
        call->number_there[i] = call->number_there[last];
}

/* The wait before a retry, after so many attempts. */
static void count_wait(struct sim_caller *c, uint32_t attempts, int64_t ns)
{
    uint32_t number = attempts - 1 < SIM_RETRY_NUMBERS ? attempts - 1
                                                       : SIM_RETRY_NUMBERS - 1;
    sim_histogram_add(&c->metrics.wait, ns);
    c->metrics.total.by_number[number]++;
}

static void count_attempt(struct sim_caller *c, const struct sim_call *call,
                          const bide_decision *d)
{
    struct sim_caller_totals *t = &c->metrics.total;
    t->attempts++;
    if (d->attempt == 1 || call->again)
        return;
    if (c->sender.hedges) {
        t->hedges++;
        return;
    }
    t->retries++;
    if (!call->waiting) /* it starts at once */
        count_wait(c, sim_call_counted(call) - 1, 0);
}

static uint32_t choose_server(struct sim_caller *c, const struct sim_world *w,
                              const struct sim_call *call, uint32_t attempt)
{
    uint64_t what = sim_luck_what(SIM_LUCK_SERVER, c->part, attempt);
    struct sim_choosing for_it = {
        .process = call->process,
        .client = call->client,
        .attempt = attempt,
        .random = sim_luck_word(c->seed, call->client, call->number, what),
    };
    return sim_balancer_choose(c->balancer, call->choice, &for_it, w->now_ns);
}

static void launch(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                   const bide_decision *d)
{
    struct sim_call *call = at(c, slot);
    uint32_t i = call->n_running++;
    call->running[i] = d->attempt;
    count_attempt(c, call, d);
    call->again = false;
    if (c->on_try)
        c->on_try(c->self, w, dep_of(c, call), d);
    if (call->sampled)
        sim_marks_sent(c->marks, slot, call->client, d->attempt, w->now_ns);
    if (d->timeout_ns == c->timeouts.length_ns)
        sim_timeouts_add(&c->timeouts, w, slot, call->generation, d->attempt);
    else /* cut short by the deadline of the call */
        sim_world_at(w, sim_ahead(w->now_ns, d->timeout_ns), &c->deadline, slot,
                     call->generation);
    uint32_t number;
    const struct sim_target *target = c->target;
    struct sim_request *r = target->open(target->self, &number);
    write_request(c, call, slot, d->attempt, r);
    if (c->balancer)
        r->server = choose_server(c, w, call, d->attempt);
    target->submit(target->self, w, number);
    if (target->cancel)
        call->number_there[i] = number;
}

/* ===== calls ===== */

static void set_waiting(struct sim_caller *c, struct sim_call *call, bool so)
{
    if (call->waiting != so)
        c->metrics.waiting += so ? 1 : UINT64_MAX;
    call->waiting = so;
}

static void count_end(struct sim_caller *c, const struct sim_call *call,
                      bide_reason reason, int64_t now)
{
    struct sim_caller_totals *t = &c->metrics.total;
    if (call->begin_ns < c->affected_ns)
        c->last_back_ns = now;
    t->by_reason[reason]++;
    if (reason == BIDE_BECAUSE_SUCCESS) {
        t->successes++;
        sim_histogram_add(&c->metrics.latency, now - call->begin_ns);
    } else {
        t->failures++;
    }
}

/* Releases all that a call holds. Its data can still be read until the next
 * call takes its slot. */
static void let_go(struct sim_caller *c, struct sim_world *w, uint32_t slot)
{
    struct sim_call *call = at(c, slot);
    bide_call_end(&call->call, w->now_ns);
    for (int i = 0; i < call->n_running; i++)
        sim_caller_tell_off(c, w, slot, i);
    call->n_running = 0;
    if (c->balancer)
        sim_balancer_leave(c->balancer, call->choice, w->now_ns);
    set_waiting(c, call, false);
    c->metrics.in_progress--;
    leave_slot(c, slot);
}

void sim_caller_finish(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                       const bide_decision *d)
{
    struct sim_call *call = at(c, slot);
    struct sim_answer last = { (enum sim_answer_kind)call->last,
                               call->hinted ? call->hint_ns : 0 };
    if (d->at_ns != BIDE_FOREVER && d->at_ns > w->now_ns)
        last.hint_ns = d->at_ns - w->now_ns;
    count_end(c, call, d->reason, w->now_ns);
    if (call->sampled)
        sim_marks_done(c->marks, slot, call->client,
                       bide_call_attempts(&call->call), d->reason, w->now_ns);
    let_go(c, w, slot);
    if (c->on_done)
        c->on_done(c->self, w, call, d->reason, &last);
}

/* Sets the event for the end of a wait. */
static void set_wait(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                     const bide_decision *d)
{
    struct sim_call *call = at(c, slot);
    bool backs_off = d->reason == BIDE_BECAUSE_BACKOFF ||
                     d->reason == BIDE_BECAUSE_HINT;
    if (backs_off && !call->waiting)
        count_wait(c, sim_call_counted(call), d->at_ns - w->now_ns);
    set_waiting(c, call, backs_off);
    bool queues = d->reason == BIDE_BECAUSE_QUEUED;
    if (queues && !call->queued)
        sim_places_join(&c->places[call->process], slot, call->generation);
    call->queued = queues;
    if (d->at_ns != BIDE_FOREVER && d->at_ns != call->wake_ns) {
        call->wake_ns = d->at_ns;
        sim_world_at(w, d->at_ns, &c->actor, slot, call->generation);
    }
}

/* Asks what to do until there is something to wait for. */
void sim_caller_go_on(struct sim_caller *c, struct sim_world *w, uint32_t slot)
{
    struct sim_call *call = at(c, slot);
    for (;;) {
        sim_caller_lend_luck(c, call, 0);
        bide_decision d = bide_call_next(&call->call, w->now_ns);
        if (d.action == BIDE_DONE) {
            sim_caller_finish(c, w, slot, &d);
            return;
        }
        if (d.action == BIDE_WAIT) {
            set_wait(c, w, slot, &d);
            return;
        }
        launch(c, w, slot, &d);
        set_waiting(c, call, false);
        call->queued = false;
        if (!c->sender.hedges)
            return; /* nothing is due while it runs */
    }
}

/* ===== for queues ===== */

void sim_caller_deliver(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                        uint32_t process, const bide_op *op, uint32_t number,
                        bide_decision *ret)
{
    struct sim_call *call = at(c, slot);
    call->process = process;
    bide_call_begin(&call->call, dep_of(c, call), op, w->now_ns);
    *ret = bide_call_next(&call->call, w->now_ns);
    if (ret->action != BIDE_TRY)
        return;
    bide_decision sent = *ret;
    sent.attempt = number;
    launch(c, w, slot, &sent);
    set_waiting(c, call, false);
}

void sim_caller_requeue(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                        uint32_t attempts, int64_t wait_ns)
{
    struct sim_call *call = at(c, slot);
    bide_call_end(&call->call, w->now_ns);
    if (attempts > 0 && wait_ns > 0)
        count_wait(c, attempts, wait_ns);
    set_waiting(c, call, true);
}

/* ===== from outside ===== */

uint32_t sim_caller_begin(struct sim_caller *c, struct sim_world *w,
                          uint64_t client, uint64_t number,
                          const struct sim_job *job)
{
    uint32_t slot = take_slot(c);
    struct sim_call *call = at(c, slot);
    const bide_op *op = &c->op;
    bide_op served;
    if (job) {
        served = c->op;
        served.upstream_attempt = job->upstream_attempt;
        served.deadline_ns = job->deadline_ns;
        op = &served;
        call->operation = job->operation;
        call->upstream_attempt = job->upstream_attempt;
        call->tag = job->tag;
    }
    call->client = client;
    call->number = number;
    call->begin_ns = w->now_ns;
    call->wake_ns = -1;
    call->n_running = 0;
    call->last = SIM_SAID_OK;
    call->waiting = call->queued = call->again = call->hinted = false;
    call->serves = job != NULL;
    call->sampled = c->marks && sim_marks_has(c->marks, client);
    call->key_came_along = job && job->key_came_along;
    call->process = c->n_deps == 1 ? 0
                    : job          ? job->process
                                   : (uint32_t)(client % c->n_deps);
    if (c->balancer)
        call->choice = sim_balancer_join(c->balancer);
    c->metrics.in_progress++;
    c->metrics.total.calls++;
    if (c->queue) {
        sim_queue_put(c->queue, w, slot);
        return slot;
    }
    bide_call_begin(&call->call, dep_of(c, call), op, w->now_ns);
    sim_caller_go_on(c, w, slot);
    return slot;
}

void sim_caller_cancel(struct sim_caller *c, struct sim_world *w, uint32_t slot)
{
    struct sim_call *call = at(c, slot);
    c->metrics.total.by_reason[BIDE_BECAUSE_CANCELLED]++;
    c->metrics.total.failures++;
    sim_caller_lend_luck(c, call, 1 << 9);
    let_go(c, w, slot);
}
