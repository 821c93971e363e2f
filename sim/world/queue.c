/* Taking messages and deciding what becomes of them, as the worker does
 * (queue/turn.c, queue/start.c). */
#include "sim/world/queue.h"

#include <stdlib.h>

#include "base/queue_verdict.h"
#include "sim/model/memory.h"

/* Sets whose luck the engine draws, and from which draw on. */
static void lend_luck(struct sim_queue *q, uint32_t slot, uint16_t draw)
{
    const struct sim_call *call = sim_caller_at(q->caller, slot);
    q->luck.client = call->client;
    q->luck.call = call->number;
    q->luck.attempt = q->messages[slot].deliveries;
    q->luck.draw = draw;
}

/* ===== lines ===== */

static bool before(const struct sim_due *a, const struct sim_due *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void push(struct sim_line *l, struct sim_due d)
{
    if (l->n == l->room)
        l->list = sim_grow(l->list, l->n, &l->room, sizeof *l->list);
    uint32_t i = l->n++;
    for (; i > 0 && before(&d, &l->list[(i - 1) / 2]); i = (i - 1) / 2)
        l->list[i] = l->list[(i - 1) / 2];
    l->list[i] = d;
}

static uint32_t pop(struct sim_line *l)
{
    uint32_t slot = l->list[0].slot, i = 0, child;
    struct sim_due last = l->list[--l->n];
    while ((child = 2 * i + 1) < l->n) {
        if (child + 1 < l->n && before(&l->list[child + 1], &l->list[child]))
            child++;
        if (!before(&l->list[child], &last))
            break;
        l->list[i] = l->list[child];
        i = child;
    }
    l->list[i] = last;
    return slot;
}

static bool has_due(const struct sim_line *l, int64_t now)
{
    return l->n > 0 && l->list[0].at_ns <= now;
}

static void wait_in_line(struct sim_queue *q, uint32_t slot)
{
    const struct sim_message *m = &q->messages[slot];
    push(m->attempts > 0 ? &q->retries : &q->fresh,
         (struct sim_due){ m->due_ns, q->order++, slot });
}

/* ===== what becomes of a message ===== */

static void begin_pause(struct sim_queue *q, struct sim_queue_worker *worker,
                        int64_t now)
{
    q->total.pauses++;
    worker->paused_ns = now;
}

static void end_pause(struct sim_queue *q, struct sim_queue_worker *worker,
                      int64_t now)
{
    if (worker->paused_ns >= 0)
        q->total.paused_ns += now - worker->paused_ns;
    worker->paused_ns = -1;
}

/* What the handler's answer says about the handler. */
static void keep_pace(struct sim_queue *q, struct sim_queue_worker *worker,
                      const struct queue_verdict *v, int64_t started,
                      int64_t now)
{
    if (!q->conf.pauses)
        return;
    if (v->down) {
        if (queue_pace_down(&worker->pace, started, v->not_before_ns, &q->rng,
                            now))
            begin_pause(q, worker, now);
    } else if (queue_pace_good(&worker->pace, started, now)) {
        end_pause(q, worker, now);
    }
}

static void finish(struct sim_queue *q, struct sim_world *w, uint32_t slot,
                   bide_reason reason)
{
    const struct sim_call *call = sim_caller_at(q->caller, slot);
    bide_decision d = { .action = BIDE_DONE,
                        .reason = reason,
                        .at_ns = BIDE_FOREVER };
    if (reason != BIDE_BECAUSE_SUCCESS) {
        q->total.dead++;
        q->total.dead_ns += (double)(w->now_ns - call->begin_ns);
    }
    sim_caller_finish(q->caller, w, slot, &d);
}

static void settle(struct sim_queue *q, struct sim_world *w, uint32_t slot,
                   const struct queue_verdict *v)
{
    struct sim_message *m = &q->messages[slot];
    m->attempts += v->counts;
    if (v->how == BROKER_DONE) {
        finish(q, w, slot, BIDE_BECAUSE_SUCCESS);
    } else if (v->how == BROKER_DEAD) {
        finish(q, w, slot, v->reason);
    } else {
        sim_caller_requeue(q->caller, w, slot, m->attempts, v->delay_ns);
        if (v->delay_ns > 0) /* given back at once, it keeps its place */
            m->due_ns = sim_ahead(w->now_ns, v->delay_ns);
        if (v->counts)
            m->wait_ns = v->delay_ns;
        wait_in_line(q, slot);
    }
}

/* A worker that does not tell apart whether the message or the handler is the
 * trouble: each failure is an attempt, and when there are none left, that is it. */
static struct queue_verdict unforgiving(struct queue_verdict v,
                                        const struct sim_message *m,
                                        uint32_t most)
{
    if (v.how != BROKER_AGAIN || v.counts)
        return v;
    v.counts = true;
    if (m->attempts + 1 >= most) {
        v.how = BROKER_DEAD;
        v.reason = BIDE_BECAUSE_ATTEMPTS;
    }
    return v;
}

static struct queue_verdict judge(const struct sim_queue *q, bide_call *call,
                                  const struct sim_message *m,
                                  const bide_outcome *out, int64_t now)
{
    const bide_policy_conf *policy = bide_dep_policy(q->caller->deps[0]);
    struct queue_verdict v = queue_verdict(call, out, policy, m->probe, now);
    return q->conf.forgives ? v : unforgiving(v, m, policy->attempts);
}

bool sim_queue_fails(const struct sim_queue *q, uint32_t slot)
{
    const struct sim_call *call = sim_caller_at(q->caller, slot);
    const struct sim_message *m = &q->messages[slot];
    uint64_t what = sim_luck_what(SIM_LUCK_ERROR, q->caller->part, 0);
    double unit = sim_luck_unit(
        sim_luck_word(q->luck.seed, call->client, call->number, what));
    return unit < q->conf.poison ||
           (m->attempts == 0 && 1 - unit < q->conf.fails_first);
}

/* ===== taking ===== */

/* As worker_counted() in the worker: what was started before a pause began must
 * not keep a probe from being made. */
static uint32_t counted(const struct sim_queue *q,
                        const struct sim_queue_worker *worker)
{
    uint32_t n = 0;
    if (worker->pace.state == QUEUE_FLOWING)
        return worker->n_running;
    for (uint32_t i = 0; i < worker->n_running; i++)
        n += q->messages[worker->running[i]].begun_ns >= worker->pace.since_ns;
    return n;
}

static uint32_t room(struct sim_queue *q, struct sim_queue_worker *worker,
                     int64_t now)
{
    uint32_t free_ones = q->conf.at_once - worker->n_running;
    uint32_t may = queue_pace_room(&worker->pace, counted(q, worker), now);
    return may < free_ones ? may : free_ones;
}

static void count_take(struct sim_queue *q, const struct sim_message *m,
                       int64_t now)
{
    struct sim_queue_totals *t = &q->total;
    int64_t waited = now - m->due_ns;
    if (waited > t->oldest_ns)
        t->oldest_ns = waited;
    if (m->deliveries == 0) {
        t->firsts++;
        t->first_wait_ns += (double)waited;
    } else if (m->attempts > 0 && m->wait_ns > 0) {
        double by = (double)(waited + m->wait_ns) / (double)m->wait_ns;
        t->retry_wait = by > t->retry_wait ? by : t->retry_wait;
    }
}

static void drop_running(struct sim_queue_worker *worker, uint32_t slot)
{
    for (uint32_t i = 0; i < worker->n_running; i++)
        if (worker->running[i] == slot) {
            worker->running[i] = worker->running[--worker->n_running];
            return;
        }
}

/* The engine did not let it through. */
static void refuse(struct sim_queue *q, struct sim_world *w, uint32_t slot,
                   struct sim_queue_worker *worker, const bide_decision *d)
{
    struct queue_verdict v = queue_verdict_refused(d, w->now_ns);
    keep_pace(q, worker, &v, w->now_ns, w->now_ns);
    if (v.how == BROKER_AGAIN && !q->conf.pauses) /* it would ask at once again */
        v.delay_ns = d->at_ns > w->now_ns && d->at_ns != BIDE_FOREVER
                         ? d->at_ns - w->now_ns
                         : BIDE_SECOND;
    settle(q, w, slot, &v);
}

static void start(struct sim_queue *q, struct sim_world *w, uint32_t number,
                  uint32_t slot)
{
    struct sim_queue_worker *worker = &q->workers[number];
    struct sim_message *m = &q->messages[slot];
    bide_op op = q->caller->op;
    bide_decision d;
    count_take(q, m, w->now_ns);
    op.attempts_made = m->attempts;
    op.rng = &q->rng;
    m->begun_ns = w->now_ns;
    m->deliveries++;
    m->probe = queue_pace_probe(&worker->pace, w->now_ns);
    lend_luck(q, slot, 0);
    sim_caller_deliver(q->caller, w, slot, number, &op, m->deliveries, &d);
    if (d.action != BIDE_TRY) {
        refuse(q, w, slot, worker, &d);
        return;
    }
    m->engine_attempt = d.attempt;
    q->total.probes += m->probe != QUEUE_NO_PROBE;
    if (m->attempts + 1 > q->total.most_attempts)
        q->total.most_attempts = m->attempts + 1;
    worker->running[worker->n_running++] = slot;
}

/* Retries up to their share, then others, then further retries. */
static bool take(struct sim_queue *q, uint32_t *share, int64_t now,
                 uint32_t *ret_slot)
{
    bool retry = has_due(&q->retries, now), fresh = has_due(&q->fresh, now);
    if (!retry && !fresh)
        return false;
    if (retry && (*share > 0 || !fresh)) {
        *share -= *share > 0;
        *ret_slot = pop(&q->retries);
    } else {
        *ret_slot = pop(&q->fresh);
    }
    return true;
}

static void fill(struct sim_queue *q, struct sim_world *w, uint32_t number)
{
    struct sim_queue_worker *worker = &q->workers[number];
    uint32_t most = room(q, worker, w->now_ns), slot;
    if (most == 0 ||
        (!has_due(&q->fresh, w->now_ns) && !has_due(&q->retries, w->now_ns)))
        return;
    uint32_t share = queue_pace_retries(&worker->pace, most);
    queue_pace_took(&worker->pace, most);
    enum queue_pace_state state = worker->pace.state;
    for (; most > 0 && worker->pace.state == state &&
           take(q, &share, w->now_ns, &slot);
         most--)
        start(q, w, number, slot);
}

/* ===== waking ===== */

static int64_t earliest(const struct sim_line *l, int64_t at)
{
    return l->n > 0 && l->list[0].at_ns < at ? l->list[0].at_ns : at;
}

/* When a message becomes due, or a worker may take more. */
static void set_wake(struct sim_queue *q, struct sim_world *w)
{
    int64_t at = earliest(&q->fresh, earliest(&q->retries, BIDE_FOREVER));
    if (at <= w->now_ns) /* it waits for a place */
        at = BIDE_FOREVER;
    for (uint32_t i = 0; i < q->conf.workers; i++) {
        int64_t next = queue_pace_next(&q->workers[i].pace,
                                       counted(q, &q->workers[i]));
        if (next > w->now_ns && next < at)
            at = next;
    }
    if (at == BIDE_FOREVER || (q->wake_ns >= 0 && q->wake_ns <= at))
        return;
    q->wake_ns = at;
    sim_world_at(w, at, &q->wake, 0, 0);
}

static void fill_all(struct sim_queue *q, struct sim_world *w)
{
    uint32_t first = q->turn++;
    for (uint32_t i = 0; i < q->conf.workers; i++)
        fill(q, w, (first + i) % q->conf.workers);
    set_wake(q, w);
}

static void wake(struct sim_actor *self, struct sim_world *w, uint32_t a,
                 uint32_t b)
{
    struct sim_queue *q = self->self;
    (void)a;
    (void)b;
    if (q->wake_ns != w->now_ns)
        return;
    q->wake_ns = -1;
    fill_all(q, w);
}

/* ===== from outside ===== */

void sim_queue_put(struct sim_queue *q, struct sim_world *w, uint32_t slot)
{
    if (slot >= q->n_messages) {
        uint32_t room_for = q->n_messages;
        q->messages = sim_grow(q->messages, slot, &room_for,
                               sizeof *q->messages);
        q->n_messages = room_for;
    }
    q->messages[slot] = (struct sim_message){ .due_ns = w->now_ns };
    wait_in_line(q, slot);
    if (q->caller->metrics.in_progress > q->total.most)
        q->total.most = q->caller->metrics.in_progress;
    fill_all(q, w);
}

void sim_queue_ended(struct sim_queue *q, struct sim_world *w, uint32_t slot,
                     const bide_outcome *out)
{
    struct sim_call *call = sim_caller_at(q->caller, slot);
    const struct sim_message *m = &q->messages[slot];
    struct sim_queue_worker *worker = &q->workers[call->process];
    lend_luck(q, slot, 1 << 8);
    bide_call_report(&call->call, m->engine_attempt, out, w->now_ns);
    struct queue_verdict v = judge(q, &call->call, m, out, w->now_ns);
    drop_running(worker, slot);
    if (v.down || out->cls != BIDE_IGNORED)
        keep_pace(q, worker, &v, m->begun_ns, w->now_ns);
    if (v.down)
        queue_pace_errs(&worker->pace, v.answered, w->now_ns);
    settle(q, w, slot, &v);
    fill_all(q, w);
}

uint64_t sim_queue_due(const struct sim_queue *q, int64_t now)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < q->fresh.n; i++)
        n += q->fresh.list[i].at_ns <= now;
    for (uint32_t i = 0; i < q->retries.n; i++)
        n += q->retries.list[i].at_ns <= now;
    return n;
}

int64_t sim_queue_oldest(const struct sim_queue *q, int64_t now)
{
    int64_t first = earliest(&q->fresh, earliest(&q->retries, now));
    return now - first;
}

double sim_queue_paused(const struct sim_queue *q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->conf.workers; i++)
        n += q->workers[i].paused_ns >= 0;
    return (double)n / q->conf.workers;
}

struct sim_queue_totals sim_queue_totals(const struct sim_queue *q, int64_t now)
{
    struct sim_queue_totals t = q->total;
    int64_t oldest = sim_queue_oldest(q, now);
    for (uint32_t i = 0; i < q->conf.workers; i++)
        if (q->workers[i].paused_ns >= 0)
            t.paused_ns += now - q->workers[i].paused_ns;
    t.oldest_ns = oldest > t.oldest_ns ? oldest : t.oldest_ns;
    return t;
}

void sim_queue_restart(struct sim_queue *q, int64_t now)
{
    q->total = (struct sim_queue_totals){
        .most = q->caller->metrics.in_progress
    };
    for (uint32_t i = 0; i < q->conf.workers; i++)
        if (q->workers[i].paused_ns >= 0)
            q->workers[i].paused_ns = now;
}

/* ===== beginning and end ===== */

void sim_queue_init(struct sim_queue *q, struct sim_world *w)
{
    q->workers = sim_new(q->conf.workers, sizeof *q->workers);
    for (uint32_t i = 0; i < q->conf.workers; i++) {
        queue_pace_init(&q->workers[i].pace, q->conf.at_once);
        q->workers[i].running =
            sim_new(q->conf.at_once, sizeof *q->workers[i].running);
        q->workers[i].paused_ns = -1;
    }
    q->wake = (struct sim_actor){ .act = wake, .self = q };
    q->wake_ns = -1;
    q->luck = (struct sim_luck){ .seed = w->seed,
                                 .part = (uint16_t)q->caller->part };
    q->rng = sim_luck_rng(&q->luck);
}

void sim_queue_done(struct sim_queue *q)
{
    for (uint32_t i = 0; i < q->conf.workers && q->workers; i++)
        free(q->workers[i].running);
    free(q->workers);
    free(q->messages);
    free(q->fresh.list);
    free(q->retries.list);
}
