/* Asks the engine, and does what it says: calls, their running attempts, and
 * the queue for a place in flight. */
#include "replay/ask.h"

#include <stdlib.h>

#include "replay/driver.h"

void replay_tell(struct replay *r, struct replay_row *row)
{
    row->now_ns = r->now_ns;
    r->user->tell(r->ctx, row);
}

/* ===== calls ===== */

struct replay_call *replay_make_call(struct replay *r)
{
    struct replay_call *c = r->free;
    if (c) {
        r->free = c->next_free;
    } else {
        c = calloc(1, sizeof *c);
        if (!c)
            return NULL;
        c->next_made = r->made;
        r->made = c;
    }
    c->serial = ++r->serial;
    c->had_outcome = false;
    c->ask_at_ns = BIDE_FOREVER;
    c->n_running = 0;
    c->queued = false;
    c->unhedged = false;
    c->last = (bide_decision){ BIDE_TRY, BIDE_BECAUSE_FIRST, 0, 0, 0 };
    return c;
}

static void join_queue(struct replay *r, struct replay_call *c)
{
    if (c->queued)
        return;
    c->queued = true;
    c->after = NULL;
    c->before = r->queue_last;
    *(c->before ? &c->before->after : &r->queue_first) = c;
    r->queue_last = c;
}

static void leave_queue(struct replay *r, struct replay_call *c)
{
    if (!c->queued)
        return;
    c->queued = false;
    *(c->before ? &c->before->after : &r->queue_first) = c->after;
    *(c->after ? &c->after->before : &r->queue_last) = c->before;
}

static void add_timer(struct replay *r, struct replay_call *c, int64_t at_ns,
                      uint32_t attempt)
{
    struct replay_timer timer = { at_ns, 0, c, c->serial, attempt };
    if (!replay_timers_add(&r->timers, timer))
        r->error = BIDE_ENOMEM;
}

/* ===== attempts ===== */

struct replay_attempt *replay_find_running(struct replay_call *c,
                                           uint32_t attempt)
{
    struct replay_attempt *found = NULL;
    for (unsigned i = 0; i < c->n_running; i++) {
        struct replay_attempt *a = &c->running[i];
        if (attempt ? a->attempt == attempt
                    : !found || a->attempt < found->attempt)
            found = a;
    }
    return found;
}

void replay_expect(struct replay *r, struct replay_call *c,
                   struct replay_attempt *a,
                   const struct replay_outcome *outcome)
{
    int64_t timeout_at = replay_later(a->start_ns, a->timeout_ns);
    int64_t at = timeout_at;
    a->timed_out = true;
    if (outcome && outcome->latency_ns >= 0) {
        int64_t comes = replay_later(a->start_ns, outcome->latency_ns);
        a->timed_out = comes > timeout_at;
        a->outcome = *outcome;
        if (!a->timed_out)
            at = comes > r->now_ns ? comes : r->now_ns;
    }
    if (at != BIDE_FOREVER)
        add_timer(r, c, at, a->attempt);
    a->due_seq = at != BIDE_FOREVER ? r->timers.seq : 0;
}

static void start(struct replay *r, struct replay_call *c,
                  const bide_decision *d)
{
    struct replay_attempt *a = &c->running[c->n_running++];
    struct replay_outcome outcome;
    *a = (struct replay_attempt){ .attempt = d->attempt,
                                  .start_ns = r->now_ns,
                                  .timeout_ns = d->timeout_ns };
    r->in_flight++;
    bool known = r->user->outcome(r->ctx, c, d->attempt, &outcome);
    replay_expect(r, c, a, known ? &outcome : NULL);
}

/* ===== asking ===== */

static void end_call(struct replay *r, struct replay_call *c,
                     struct replay_row *row)
{
    for (unsigned i = 0; i < c->n_running; i++)
        row->stopped[row->n_stopped++] = c->running[i].attempt;
    r->in_flight -= c->n_running;
    r->open--;
    c->n_running = 0;
    leave_queue(r, c);
    bide_call_end(&c->call, r->now_ns);
}

static void set_ask_timer(struct replay *r, struct replay_call *c,
                          int64_t at_ns)
{
    if (at_ns == c->ask_at_ns)
        return;
    c->ask_at_ns = at_ns;
    if (at_ns != BIDE_FOREVER)
        add_timer(r, c, at_ns, 0);
}

/* A wait that says nothing new: it was printed before, or is implied. */
static bool is_news(const struct replay_call *c, enum replay_cause cause,
                    const bide_decision *d)
{
    if (cause == REPLAY_STARTED)
        return d->at_ns != BIDE_FOREVER;
    if (cause == REPLAY_RESULT || cause == REPLAY_TIMEOUT)
        return true;
    return c->last.action != d->action || c->last.reason != d->reason ||
           c->last.at_ns != d->at_ns;
}

/* Why a hedge that has become due is not sent, once. */
static bide_reason why_unhedged(struct replay_call *c)
{
    bide_reason why = bide_call_hedge_refused(&c->call);
    if (why == BIDE_BECAUSE_SUCCESS || c->unhedged)
        return BIDE_BECAUSE_SUCCESS;
    c->unhedged = true;
    return why;
}

void replay_ask(struct replay *r, struct replay_call *c, struct replay_row row)
{
    row.call = c;
    row.decided = true;
    for (;;) {
        bide_decision d = bide_call_next(&c->call, r->now_ns);
        row.unhedged = d.action == BIDE_WAIT ? why_unhedged(c)
                                             : BIDE_BECAUSE_SUCCESS;
        bool news = d.action != BIDE_WAIT || is_news(c, row.cause, &d) ||
                    row.unhedged != BIDE_BECAUSE_SUCCESS;
        row.decision = c->last = d;
        if (d.action == BIDE_TRY) {
            leave_queue(r, c);
            start(r, c, &d);
        } else if (d.action == BIDE_WAIT) {
            if (d.reason == BIDE_BECAUSE_QUEUED)
                join_queue(r, c);
            set_ask_timer(r, c, d.at_ns);
        } else {
            end_call(r, c, &row);
        }
        if (++r->decisions > r->decisions_max)
            r->error = BIDE_ESTATE;
        if (news)
            replay_tell(r, &row);
        if (d.action == BIDE_DONE) {
            c->serial = 0;
            c->next_free = r->free;
            r->free = c;
            return;
        }
        if (d.action == BIDE_WAIT || r->error)
            return;
        row = (struct replay_row){ .cause = REPLAY_STARTED,
                                   .call = c,
                                   .decided = true };
    }
}

/* Serves the queue in order, for as long as there are places. */
static void serve_queue(struct replay *r)
{
    while (r->place_free && r->queue_first && !r->error) {
        struct replay_call *c = r->queue_first;
        struct replay_row row = { .cause = REPLAY_PLACE };
        r->place_free = false;
        replay_ask(r, c, row);
        if (r->queue_first != c)
            r->place_free = true; /* there may be room for the next */
    }
    r->place_free = false;
}

int replay_ask_and_serve(struct replay *r, struct replay_call *c,
                         const struct replay_row *row)
{
    replay_ask(r, c, *row);
    serve_queue(r);
    return r->error;
}
