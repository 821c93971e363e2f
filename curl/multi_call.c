/* One call in the multi driver: from decision to decision. */
#include <stdlib.h>

#include "curl/multi.h"

/* ===== the queue for a place in flight =====
 *
 * A place that a call of this driver releases goes to the first call here that
 * waits for one of the same dependency. A place that is released elsewhere is
 * found by polling. */

enum { LOOK_NS = 5 * 1000 * 1000, LOOK_AT_ONCE = 100 };

static void queue_enter(struct bide__multi_call *mc)
{
    bide_curl_multi *m = mc->multi;
    mc->queued = true;
    mc->before = m->last;
    mc->after = NULL;
    *(m->last ? &m->last->after : &m->first) = mc;
    m->last = mc;
    m->n_queued++;
}

static void queue_leave(struct bide__multi_call *mc)
{
    bide_curl_multi *m = mc->multi;
    if (!mc->queued)
        return;
    *(mc->before ? &mc->before->after : &m->first) = mc->after;
    *(mc->after ? &mc->after->before : &m->last) = mc->before;
    mc->queued = false;
    m->n_queued--;
}

static void offer_place(bide_curl_multi *m, const bide_dep *dep)
{
    struct bide__multi_call *mc = m->first;
    while (mc && mc->base.dep != dep)
        mc = mc->after;
    if (mc)
        bide__wheel_set(&m->wheel, &mc->timer, 0);
}

/* The more calls there are, the less often each polls. */
static int64_t next_look(const bide_curl_multi *m, int64_t now, int64_t at)
{
    int64_t in = LOOK_NS * (int64_t)(1 + m->n_queued / LOOK_AT_ONCE);
    return at - now > in ? now + in : at;
}

/* ===== transfers ===== */

static void remove_transfer(struct bide__multi_call *mc,
                            struct bide__transfer *t)
{
    struct bide__transfer **at = &mc->running;
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    curl_multi_remove_handle(mc->multi->curl, t->easy);
}

static void free_transfer(struct bide__multi_call *mc, struct bide__transfer *t)
{
    if (t->easy != mc->base.easy)
        curl_easy_cleanup(t->easy);
    free(t);
}

/* Stops all but the one whose response is being streamed. Those stopped are not
 * reported: the engine counts them as ignored when the call ends. */
static void stop_others(struct bide__multi_call *mc,
                        const struct bide__transfer *winner)
{
    struct bide__transfer *t, *next;
    for (t = mc->running; t; t = next) {
        next = t->next;
        if (t == winner)
            continue;
        remove_transfer(mc, t);
        bide__transfer_drop(t);
        free_transfer(mc, t);
    }
}

/* The application's own handle if it is free, or a copy of it. */
static CURL *free_handle(struct bide__multi_call *mc)
{
    for (struct bide__transfer *t = mc->running; t; t = t->next)
        if (t->easy == mc->base.easy)
            return curl_easy_duphandle(mc->base.easy);
    return mc->base.easy;
}

static void could_not_start(struct bide__multi_call *mc, const bide_decision *d,
                            int64_t now)
{
    struct bide__curl_call *c = &mc->base;
    bide_outcome out = { .cls = BIDE_TRANSIENT, .fault = BIDE_FAULT_LOCAL,
                         .not_processed = true };
    c->tried = true;
    c->result.code = CURLE_OUT_OF_MEMORY;
    c->result.status = 0;
    c->result.last = out;
    bide_call_report(&c->call, d->attempt, &out, now);
}

static void start(struct bide__multi_call *mc, const bide_decision *d,
                  int64_t now)
{
    struct bide__transfer *t = malloc(sizeof *t);
    CURL *easy = t ? free_handle(mc) : NULL;
    if (!easy) {
        free(t);
        could_not_start(mc, d, now);
        return;
    }
    bide__transfer_start(t, &mc->base, easy, d);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, t);
    t->next = mc->running;
    mc->running = t;
    if (curl_multi_add_handle(mc->multi->curl, easy) == CURLM_OK)
        return;
    mc->running = t->next;
    free_transfer(mc, t);
    could_not_start(mc, d, now);
}

/* ===== decisions ===== */

/* The caller's function runs last, after the call has been removed from
 * here. */
static void finish(struct bide__multi_call *mc, bide_reason reason, int64_t now)
{
    bide_curl_multi *m = mc->multi;
    stop_others(mc, NULL);
    queue_leave(mc);
    bide__wheel_cancel(&m->wheel, &mc->timer);
    bide__table_remove(&m->calls, mc);
    if (mc->base.opts->cancel)
        m->n_cancellable--;
    bide__curl_finish(&mc->base, reason, now);
    curl_easy_setopt(mc->base.easy, CURLOPT_PRIVATE, mc->private_was);
    offer_place(m, mc->base.dep);
    if (mc->done)
        mc->done(mc->ctx, mc->base.easy, &mc->base.result);
    free(mc);
}

static void wait(struct bide__multi_call *mc, const bide_decision *d,
                 int64_t now)
{
    int64_t at = d->at_ns;
    if (d->reason == BIDE_BECAUSE_QUEUED) {
        if (!mc->queued)
            queue_enter(mc);
        at = next_look(mc->multi, now, at);
    } else {
        queue_leave(mc);
        if (!mc->running)
            bide__answer_trim(&mc->base.answer);
    }
    bide__wheel_set(&mc->multi->wheel, &mc->timer, at);
}

void bide__multi_step(struct bide__multi_call *mc, int64_t now)
{
    if (mc->base.committed && !bide_cancelled(mc->base.opts->cancel) &&
        !mc->base.given_up) {
        stop_others(mc, mc->base.committed);
        return;
    }
    for (;;) {
        bide_decision d = bide__curl_decide(&mc->base, now);
        if (d.action == BIDE_DONE) {
            finish(mc, d.reason, now);
            return;
        }
        if (d.action == BIDE_WAIT) {
            wait(mc, &d, now);
            return;
        }
        queue_leave(mc);
        start(mc, &d, now);
    }
}

/* A loser that ends before it was stopped is ignored. */
void bide__multi_ended(bide_curl_multi *m, CURL *easy, CURLcode code)
{
    char *private = NULL;
    int64_t now = bide_now_ns();
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
    struct bide__transfer *t = (struct bide__transfer *)(void *)private;
    struct bide__multi_call *mc = (struct bide__multi_call *)t->call;
    bool lost = mc->base.committed && mc->base.committed != t;

    remove_transfer(mc, t);
    if (lost)
        bide__transfer_drop(t);
    else
        bide__transfer_end(t, code, now);
    free_transfer(mc, t);
    offer_place(m, mc->base.dep);
    if (!lost)
        bide__multi_step(mc, now);
}

void bide__multi_abandon(struct bide__multi_call *mc, int64_t now)
{
    bide__curl_give_up(&mc->base);
    finish(mc, bide_call_next(&mc->base.call, now).reason, now);
}
