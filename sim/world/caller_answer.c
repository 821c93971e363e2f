/* What comes back to a caller: responses, timeouts, the ends of waits. */
#include "sim/world/caller_answer.h"

#include "sim/world/caller.h"
#include "sim/world/queue.h"

/* ===== for the target ===== */

static bool waits(const void *self, const struct sim_request *r)
{
    const struct sim_call *call = sim_caller_at(self, r->slot);
    return call->generation == r->generation &&
           sim_call_find(call, r->attempt) >= 0;
}

static void fetch_call(const void *self, const struct sim_request *r)
{
    sim_caller_fetch(self, r->slot);
}

/* ===== answers ===== */

static enum sim_mark_kind mark_of(enum sim_answer_kind kind)
{
    return kind == SIM_SAID_OK     ? SIM_MARK_OK
           : kind == SIM_TIMED_OUT ? SIM_MARK_TIMEOUT
                                   : SIM_MARK_ERROR;
}

/* What its server made of an attempt. */
static void judge_server(struct sim_caller *c, const struct sim_world *w,
                         const struct sim_call *call, uint32_t attempt,
                         enum sim_answer_kind kind)
{
    static const int status[] = {
#define X(name, code, fault, no) [name] = (code),
        SIM_ANSWERS(X)
#undef X
    };
    bide_outcome seen = c->known[kind];
    if (seen.cls != BIDE_SUCCESS)
        seen = bide_call_blame(&call->call, attempt, &seen, w->now_ns);
    seen = bide__server_outcome(&seen, status[kind]);
    sim_balancer_ended(c->balancer, call->choice, attempt, &seen, w->now_ns);
}

static void report_to_engine(struct sim_caller *c, struct sim_call *call,
                             uint32_t attempt, const bide_outcome *out,
                             int64_t now)
{
    uint32_t before = bide_call_missed(&call->call);
    bide_call_report(&call->call, attempt, out, now);
    call->again = bide_call_missed(&call->call) != before;
    c->metrics.total.unreached += call->again;
}

static void report(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                   int i, const struct sim_answer *a)
{
    static const bide_decision done = { .action = BIDE_DONE,
                                        .reason = BIDE_BECAUSE_SUCCESS,
                                        .at_ns = BIDE_FOREVER };
    struct sim_call *call = sim_caller_at(c, slot);
    uint32_t attempt = call->running[i];
    bide_outcome out = c->known[a->kind];
    if (a->hint_ns > 0 && out.cls != BIDE_SUCCESS) {
        out.hinted = true;
        out.hint_ns = a->hint_ns;
    }
    call->last = (uint8_t)a->kind;
    call->hinted = a->hint_ns != 0;
    if (call->hinted)
        call->hint_ns = a->hint_ns;
    sim_caller_drop(c, slot, i);
    if (call->sampled)
        sim_marks_ended(c->marks, slot, attempt, mark_of(a->kind), w->now_ns);
    c->metrics.total.hedge_wins += c->sender.hedges &&
                                   out.cls == BIDE_SUCCESS &&
                                   attempt - bide_call_missed(&call->call) > 1;
    if (c->balancer)
        judge_server(c, w, call, attempt, a->kind);
    sim_caller_lend_luck(c, call, 1 << 8);
    if (c->queue) {
        sim_queue_ended(c->queue, w, slot, &out);
        return;
    }
    report_to_engine(c, call, attempt, &out, w->now_ns);
    if (out.cls == BIDE_SUCCESS) /* the engine's answer is known */
        sim_caller_finish(c, w, slot, &done);
    else
        sim_caller_go_on(c, w, slot);
}

static void answer(void *self, struct sim_world *w, const struct sim_request *r,
                   const struct sim_answer *a)
{
    struct sim_caller *c = self;
    const struct sim_call *call = sim_caller_at(c, r->slot);
    if (call->generation != r->generation)
        return; /* it has been abandoned */
    int i = sim_call_find(call, r->attempt);
    if (i >= 0)
        report(c, w, r->slot, i, a);
}

static void give_up(struct sim_caller *c, struct sim_world *w, uint32_t slot,
                    int i)
{
    static const struct sim_answer none = { SIM_TIMED_OUT, 0 };
    c->metrics.total.timeouts++;
    sim_caller_tell_off(c, w, slot, i);
    report(c, w, slot, i, &none);
}

void sim_caller_expired(struct sim_caller *c, struct sim_world *w,
                        const struct sim_timeout *t)
{
    const struct sim_call *call = sim_caller_at(c, t->slot);
    give_up(c, w, t->slot, sim_call_find(call, t->attempt));
}

/* The deadline has come: all running attempts are over. */
static void out_of_time(struct sim_actor *self, struct sim_world *w,
                        uint32_t slot, uint32_t generation)
{
    const struct sim_call *call = sim_caller_at(self->self, slot);
    while (call->generation == generation && call->n_running > 0 &&
           w->now_ns >= bide_call_deadline(&call->call))
        give_up(self->self, w, slot, 0);
}

static void fetch(const struct sim_actor *self, uint32_t slot,
                  uint32_t generation, bool soon)
{
    (void)generation;
    if (!soon)
        sim_caller_fetch(self->self, slot);
}

static void wake(struct sim_actor *self, struct sim_world *w, uint32_t slot,
                 uint32_t generation)
{
    struct sim_call *call = sim_caller_at(self->self, slot);
    if (call->generation != generation || call->wake_ns != w->now_ns)
        return;
    call->wake_ns = -1;
    sim_caller_go_on(self->self, w, slot);
}

/* ===== luck ===== */

/* The engine's draws for a call are keyed by who, what and how often. */
static uint64_t draw(void *state)
{
    struct sim_caller *c = state;
    const struct sim_call *call = c->asked;
    uint64_t what = sim_luck_what(SIM_LUCK_ENGINE, c->part,
                                  bide_call_attempts(&call->call));
    uint64_t draws = (uint64_t)c->draws++ << SIM_LUCK_DRAWS;
    return sim_luck_word(c->seed, call->client, call->number, what + draws);
}

void sim_caller_connect(struct sim_caller *c)
{
    c->sender.self = c;
    c->sender.answer = answer;
    c->sender.waits = waits;
    c->sender.fetch = fetch_call;
    c->actor = (struct sim_actor){ .act = wake, .self = c, .fetch = fetch };
    c->deadline = (struct sim_actor){ .act = out_of_time, .self = c };
    c->timeouts.caller = c;
    c->rng = (bide_rng){ draw, c };
}
