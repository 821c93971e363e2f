/* The response when the policy has given up: another upstream is asked, then a
 * stale copy looked for, then the route's static response used; each if the
 * route has it, and each at most once.
 *
 * Giving up means: the call ended without success, and there is no response to
 * pass on, or one with a status of 500 or more which the policy classifies as
 * temporary. A 4xx is the client's own problem, 501 and the like say that
 * asking again is useless, and a client that has gone needs no response.
 *
 * No client is told that something was done if that is not known: a static
 * response below 400 is used for GET and HEAD only, and the other upstream is
 * asked only if the engine would allow the request to be sent again.
 *
 * By then the call to the route's own upstream has ended, and has been counted:
 * its breaker, budget and statistics do not see the fallback. */
#include "proxy/exchange/fallback.h"

#include <string.h>

#include "config/proxy/conf.h"
#include "net/conn.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/front/client.h"
#include "proxy/worker.h"

const char *fallback_name(enum fallback_kind kind)
{
    static const char *const names[] = { NULL, "static", "stale", "upstream" };
    return names[kind];
}

static bool is_given_up(const struct exchange *ex, const bide_decision *d,
                        const struct attempt *winner)
{
    const bide_outcome *last = &ex->last;
    bool hopeless = ex->reported && last->cls == BIDE_PERMANENT &&
                    last->fault == BIDE_FAULT_NONE;
    if (d->reason == BIDE_BECAUSE_SUCCESS ||
        d->reason == BIDE_BECAUSE_CANCELLED)
        return false;
    return !winner || (winner->resp.status >= 500 && !hopeless);
}

static bool only_reads(const struct exchange *ex)
{
    return ex->req.method_id == HTTP1_GET || ex->req.method_id == HTTP1_HEAD;
}

/* ===== another upstream ===== */

/* Not for a client that sends no more: it may have gone. The current response
 * is kept, if it is complete, in case the other upstream has none. */
static bool ask_upstream(struct exchange *ex, const bide_decision *d,
                         struct attempt *winner)
{
    const struct route *other = ex->route->fallback;
    if (!other || ex->upgrade || ex->client->conn.hup ||
        !bide_call_repeatable(&ex->call))
        return false;
    ex->gave_up = *d;
    if (winner && attempt_is_complete(winner))
        attempt_save(winner);
    exchange_restart(ex, other);
    return true;
}

/* ===== a static answer ===== */

static bool answer_static(struct exchange *ex, const struct route *r,
                          const bide_decision *d)
{
    const struct bide__proxy_fallback *f = &r->conf->fallback;
    int64_t now = ex->worker->loop.now_ns;
    if (f->status == 0 || (f->status < 400 && !only_reads(ex)))
        return false;
    bool refusal = f->status >= 400 && bide_reason_is_refusal(d->reason);
    count(&ex->worker->counters.fallback_static);
    ex->fallback = FALLBACK_STATIC;
    own_answer(
        ex,
        &(struct own_answer){
            .status = (int)f->status,
            .problem = bide_reason_name(d->reason),
            .title = f->status == 200 ? "OK" : "Fallback",
            .refusal = refusal,
            .retry_ns = refusal && d->at_ns != BIDE_FOREVER && d->at_ns > now
                            ? d->at_ns - now
                            : BIDE_FOREVER,
            .body = f->body ? f->body : "",
            .body_len = f->body ? strlen(f->body) : 0,
            .content_type = f->content_type ? f->content_type : "text/plain",
            .fallback = "static" });
    return true;
}

/* ===== all of them ===== */

bool fallback_take(struct exchange *ex, const bide_decision *d,
                   struct attempt *winner)
{
    const struct route *primary = ex->route->primary;
    struct counters *counters = &ex->worker->counters;
    if (primary && winner && winner->elsewhere)
        ex->fallback = FALLBACK_UPSTREAM;
    if (!is_given_up(ex, d, winner)) {
        if (ex->fallback == FALLBACK_UPSTREAM)
            count(&counters->fallback_upstream);
        else if (winner && ex->route->conf->fallback.stale_ns != 0)
            copy_forget(ex, winner->resp.status);
        return false;
    }
    if (ask_upstream(ex, d, winner))
        return true;
    if (copy_give(ex, primary ? primary : ex->route,
                  primary ? &ex->gave_up : d))
        return true;
    if (answer_static(ex, primary ? primary : ex->route,
                      primary ? &ex->gave_up : d))
        return true;
    count(&counters->fallback_missed);
    return false;
}
