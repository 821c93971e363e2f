/* The engine on virtual time: a driver like any other, except that waits cost
 * nothing and the outcomes are known beforehand.
 *
 * One rule of its own: an attempt whose outcome is unknown, or would come too
 * late, times out when the engine says so, after it was sent. */
#include "replay/driver.h"

#include <assert.h>
#include <stdlib.h>

#include "replay/ask.h"

/* ===== outcomes of attempts ===== */

static bide_outcome classify(const struct replay *r,
                             const struct replay_call *c,
                             const struct replay_outcome *o)
{
    bide_response response = {
        .status = o->status,
        .fault = o->fault,
        .not_sent = o->not_sent,
        .is_grpc = o->is_grpc,
        .grpc_status = o->grpc,
        .method = c->method,
        .headers = o->headers,
        .n_headers = o->n_headers,
        .body = o->body,
        .body_len = o->body_len,
        .wall_s = r->wall_s ? r->wall_s + r->now_ns / BIDE_SECOND : 0,
    };
    return bide_classify(r->dep, &response);
}

static int report(struct replay *r, struct replay_call *c,
                  struct replay_attempt *a, enum replay_cause cause,
                  const struct replay_outcome *raw)
{
    static const struct replay_outcome late = { .fault = BIDE_FAULT_TIMEOUT };
    struct replay_outcome o = cause == REPLAY_TIMEOUT ? late : *raw;
    bide_outcome outcome = classify(r, c, &o);
    uint32_t attempt = a->attempt;

    *a = c->running[--c->n_running];
    r->in_flight--;
    bide_call_report(&c->call, attempt, &outcome, r->now_ns);
    c->had_outcome = true;
    c->last_class = outcome.cls;
    struct replay_row row = {
        .cause = cause, .of = attempt, .outcome = &outcome, .raw = &o
    };
    return replay_ask_and_serve(r, c, &row);
}

/* ===== time ===== */

static void fire(struct replay *r, const struct replay_timer *t)
{
    struct replay_call *c = t->call;
    if (c->serial != t->serial)
        return;
    if (t->attempt == 0) {
        struct replay_row row = { .cause = REPLAY_DUE };
        if (c->ask_at_ns != t->at_ns)
            return;
        c->ask_at_ns = BIDE_FOREVER;
        replay_ask_and_serve(r, c, &row);
        return;
    }
    struct replay_attempt *a = replay_find_running(c, t->attempt);
    if (a && a->due_seq == t->seq)
        report(r, c, a, a->timed_out ? REPLAY_TIMEOUT : REPLAY_RESULT,
               &a->outcome);
}

int replay_advance(struct replay *r, int64_t at_ns)
{
    while (!r->error && replay_timers_due(&r->timers, at_ns)) {
        struct replay_timer t = replay_timers_take(&r->timers);
        r->now_ns = t.at_ns;
        fire(r, &t);
    }
    if (!r->error && at_ns > r->now_ns)
        r->now_ns = at_ns;
    return r->error;
}

/* Whatever the script was: all that began has ended, and nothing is held. */
static void check_ends(const struct replay *r)
{
    bide_stats s;
    bide_dep_stats(r->dep, r->now_ns, &s);
    assert(r->open == 0 && r->in_flight == 0 && !r->queue_first);
    assert(s.in_flight == 0 && s.queued == 0 && s.calls == r->serial);
    (void)s;
}

int replay_finish(struct replay *r)
{
    while (!r->error && r->timers.n != 0)
        replay_advance(r, r->timers.heap[0].at_ns);
    for (struct replay_call *c = r->made; c && !r->error; c = c->next_made) {
        struct replay_row row = { .cause = REPLAY_END };
        if (c->serial == 0)
            continue;
        r->unfinished++;
        bide_call_cancel(&c->call);
        replay_ask(r, c, row);
    }
    /* The queue was not served meanwhile: calls that waited there end as
     * well. */
    if (!r->error)
        check_ends(r);
    return r->error;
}

/* ===== events ===== */

/* The first call draws what `explain` and `schedule` draw with this seed; each
 * of the others draws something else. */
static uint64_t seed_of(const struct replay *r, const struct replay_call *c)
{
    return c->serial == 1 ? r->seed : bide_rng_hash(r->seed, c->serial, 0, 0);
}

int replay_begin(struct replay *r, const bide_op *op, const char *method,
                 uint64_t user, struct replay_call **ret_call)
{
    if (r->error)
        return r->error;
    struct replay_call *c = replay_make_call(r);
    if (!c)
        return r->error = BIDE_ENOMEM;
    bide_op own = *op;
    if (op->deadline_ns > 0)
        own.deadline_ns = replay_later(r->now_ns, op->deadline_ns);
    c->method = method;
    c->user = user;
    c->begin_ns = r->now_ns;
    c->first_attempt = op->attempts_made + 1;
    c->rng = bide_rng_seed(&c->drawn, seed_of(r, c));
    own.rng = &c->rng;
    r->open++;
    bide_call_begin(&c->call, r->dep, &own, r->now_ns);
    *ret_call = c;
    struct replay_row row = { .cause = REPLAY_BEGIN };
    return replay_ask_and_serve(r, c, &row);
}

int replay_result(struct replay *r, struct replay_call *c, uint32_t attempt,
                  const struct replay_outcome *outcome)
{
    if (r->error)
        return r->error;
    struct replay_attempt *a = c ? replay_find_running(c, attempt) : NULL;
    if (!a) {
        struct replay_row row = { .cause = REPLAY_UNUSED,
                                  .call = c,
                                  .of = attempt };
        r->unused++;
        replay_tell(r, &row);
        return 0;
    }
    if (outcome->latency_ns < 0)
        return report(r, c, a, REPLAY_RESULT, outcome);
    replay_expect(r, c, a, outcome);
    return r->error;
}

int replay_cancel(struct replay *r, struct replay_call *c)
{
    struct replay_row row = { .cause = REPLAY_CANCEL };
    if (r->error || !c)
        return r->error;
    bide_call_cancel(&c->call);
    return replay_ask_and_serve(r, c, &row);
}

int replay_tick(struct replay *r)
{
    struct replay_row row = { .cause = REPLAY_TICK };
    replay_tell(r, &row);
    for (struct replay_call *c = r->made; c && !r->error; c = c->next_made)
        if (c->serial != 0)
            replay_ask_and_serve(r, c, &row);
    return r->error;
}

int replay_force(struct replay *r, bide_breaker_mode mode)
{
    struct replay_row row = { .cause = REPLAY_FORCED, .mode = mode };
    bide_dep_force_breaker(r->dep, mode);
    replay_tell(r, &row);
    return r->error;
}

int replay_start(struct replay *r, const struct replay_start *start)
{
    struct replay_row row = { .cause = REPLAY_START };
    if (r->error)
        return r->error;
    r->wrong_start = replay_start_set(r, start);
    if (r->wrong_start)
        return r->error = BIDE_EINVAL;
    bide_breaker_view view;
    bide_dep_breaker_view(r->dep, r->now_ns, &view);
    row.to = view.state;
    row.until_ns = view.open_until_ns;
    replay_tell(r, &row);
    return 0;
}

/* ===== from init to done ===== */

static void on_breaker(void *ctx, const bide_dep *dep, bide_breaker_state from,
                       bide_breaker_state to, int64_t now_ns)
{
    struct replay *r = ctx;
    bide_breaker_view view;
    struct replay_row row = { .cause = REPLAY_BREAKER, .from = from, .to = to };
    if (to == BIDE_BREAKER_OPEN &&
        bide_dep_breaker_view(dep, now_ns, &view) == 0)
        row.until_ns = view.open_until_ns;
    replay_tell(r, &row);
}

static void on_place(void *ctx, const bide_dep *dep)
{
    struct replay *r = ctx;
    (void)dep;
    r->place_free = true;
}

int replay_init(struct replay *r, const struct replay_settings *settings,
                const struct replay_user *user, void *ctx)
{
    bide_policy_conf own = *settings->conf;
    bide_host host = { .ctx = r,
                       .seed = &settings->seed,
                       .on_breaker = on_breaker,
                       .on_place = on_place };
    own.lanes = 1; /* there is one thread, on whichever core */
    *r = (struct replay){ .user = user,
                          .ctx = ctx,
                          .seed = settings->seed,
                          .decisions_max = settings->decisions_max };
    return bide_dep_new_in(&r->dep, "replay", &own, &host);
}

void replay_done(struct replay *r)
{
    while (r->made) {
        struct replay_call *next = r->made->next_made;
        free(r->made);
        r->made = next;
    }
    replay_timers_done(&r->timers);
    bide_dep_free(r->dep);
    r->dep = NULL;
}
