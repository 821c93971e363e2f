/* What becomes of a claim: the answer is held, kept and let go; or nothing was
 * done, and the key is free again. */
#include "proxy/exchange/answer.h"
#include "proxy/exchange/answer_body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/route.h"
#include "proxy/back/service.h"
#include "proxy/once/once.h"
#include "proxy/once/port.h"
#include "proxy/once/record.h"
#include "proxy/worker.h"

#include <stdlib.h>

/* ===== attempts ===== */

void once_judge(struct attempt *a, bide_outcome *out)
{
    struct once *o = a->ex->once;
    if (out->fault == BIDE_FAULT_NONE &&
        bide__releases(o->conf, a->resp.status))
        out->not_processed = true;
    a->no_effect = out->not_processed;
    if (!out->not_processed)
        o->maybe_done = true;
}

void once_lost(struct exchange *ex)
{
    ex->once->maybe_done = true;
}

/* A sent attempt is seen to its end, even if it is a long one: then for an hour,
 * if the policy sets no limit. */
int64_t once_timeout(const struct exchange *ex, int64_t timeout_ns)
{
    const int64_t longest = 3600 * BIDE_SECOND;
    int64_t full = bide_dep_policy(ex->route->service->dep)->attempt_timeout_ns;
    if (ex->once->phase != ONCE_OURS)
        return timeout_ns;
    if (full == BIDE_FOREVER)
        full = longest;
    return full > timeout_ns ? full : timeout_ns;
}

/* ===== the claim ends ===== */

static void release(struct once *o)
{
    count(&o->ex->worker->counters.idempotency_released);
    once_drop_lease(o);
    o->phase = ONCE_OVER;
    o->word = "released";
    o->op.verb = BIDE_STORE_RELEASE;
    if (once_submit(o, &o->op)) /* the store sees to it, now or later */
        bide_store_forget(o->port->port, &o->op);
}

/* Nobody renews it any more. */
static void leave(struct once *o)
{
    count(&o->ex->worker->counters.idempotency_lost);
    once_drop_lease(o);
    o->phase = ONCE_OVER;
    o->word = "unknown";
}

void once_end(struct once *o)
{
    if (o->phase == ONCE_OURS && o->maybe_done)
        leave(o);
    else if (o->phase == ONCE_OURS)
        release(o);
    if (o->waits) /* a claim is undone, an answer is written */
        bide_store_forget(o->port->port, &o->op);
    o->waits = false;
    o->phase = ONCE_OVER;
}

void once_free(struct once *o)
{
    if (!o)
        return;
    once_end(o);
    once_drop_lease(o);
    bide_store_op_done(&o->op);
    once_port_leave(o->port);
    free(o);
}

/* ===== the answer ===== */

/* Another attempt may have done what this answer says was not done. An origin that
 * knows the key does it once all the same. */
static bool is_outlived(const struct once *o, const struct attempt *answer)
{
    return answer->no_effect && o->maybe_done &&
           o->conf->on_unknown == BIDE__UNKNOWN_REFUSE;
}

bool once_outlived(const struct exchange *ex, const struct attempt *saved)
{
    return ex->once->phase == ONCE_OURS && is_outlived(ex->once, saved);
}

void once_settled(struct exchange *ex, struct attempt *winner)
{
    struct once *o = ex->once;
    if (o->phase != ONCE_OURS || !winner->no_effect)
        return;
    if (is_outlived(o, winner))
        leave(o);
    else
        release(o);
}

bool once_holds(const struct exchange *ex)
{
    const struct once *o = ex->once;
    return o->phase == ONCE_KEEPING || (o->phase == ONCE_OURS && ex->winner);
}

static bool is_too_large(const struct attempt *a)
{
    return !a->record || a->record->too_large;
}

static void keep(struct once *o, struct attempt *a, bool too_large)
{
    bide_store_op *op = &o->op;
    o->phase = ONCE_KEEPING;
    op->verb = BIDE_STORE_COMPLETE;
    op->status = a->resp.status;
    op->too_large = too_large;
    op->data = too_large ? NULL : a->record->bytes;
    op->len = too_large ? 0 : a->record->len;
    if (attempt_is_complete(a) && a->link && a->sending >= SENT_ALL)
        attempt_unlink(a);
    o->waits = once_submit(o, op);
    if (!o->waits) {
        op->result = BIDE_STORE_DOWN;
        once_kept(o);
    }
}

/* Bounded, since others wait for this thread, too. */
enum { ROUNDS = 16 };

void once_pump(struct exchange *ex)
{
    struct once *o = ex->once;
    struct attempt *a = ex->winner;
    if (o->phase == ONCE_KEEPING)
        return;
    for (int i = 0; i < ROUNDS; i++) {
        if (is_too_large(a) || attempt_is_complete(a)) {
            keep(o, a, is_too_large(a));
            return;
        }
        if (!answer_read(ex))
            return;
    }
    exchange_later(ex, TODO_PUMP);
}

void once_no_room(struct exchange *ex)
{
    struct once *o = ex->once;
    if (o->phase == ONCE_OURS && ex->winner && ex->winner->record)
        ex->winner->record->too_large = true;
    if (o->phase == ONCE_OURS && ex->winner)
        exchange_later(ex, TODO_PUMP);
}

void once_kept(struct once *o)
{
    struct exchange *ex = o->ex;
    struct counters *c = &ex->worker->counters;
    if (o->op.result == BIDE_STORE_DOWN)
        count(&c->idempotency_unwritten);
    else if (o->op.result == BIDE_STORE_LOST)
        count(&c->idempotency_lost);
    else
        count(&c->idempotency_kept);
    once_drop_lease(o);
    o->phase = ONCE_OVER;
    if (ex->winner)
        once_record_free(ex->winner);
    answer_pump(ex);
}
