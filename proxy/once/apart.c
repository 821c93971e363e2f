/* An exchange whose attempt goes on without its client.
 *
 * A client that leaves, or has no more time, does not cancel what was sent: the
 * exchange, with the request that it holds, moves to a client that is nobody
 * (client_nobody), and there takes its usual course. What that client is sent is
 * dropped. It counts as a client, so a worker that drains waits for it. */
#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "proxy/exchange/attempt.h"
#include "proxy/front/client.h"
#include "proxy/front/client_limits.h"
#include "proxy/once/answers.h"
#include "proxy/once/apart.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

static int64_t now_of(const struct exchange *ex)
{
    return ex->worker->loop.now_ns;
}

/* Whether an attempt may have an effect that nobody knows of yet. */
static bool is_sent(const struct exchange *ex)
{
    if (ex->once->phase != ONCE_OURS)
        return false;
    for (const struct attempt *a = ex->running; a; a = a->next)
        if (a == ex->winner ||
            (a->sending != SENT_NOTHING && a->phase < ATTEMPT_JUDGED))
            return true;
    return false;
}

static bool can_go_on(const struct exchange *ex)
{
    return !ex->client->nobody && !ex->worker->over && is_sent(ex);
}

/* No attempt follows the one that runs. */
static void move(struct exchange *ex, struct client *nobody)
{
    struct client *c = ex->client;
    count(&ex->worker->counters.idempotency_detached);
    nobody->in = c->in;
    nobody->ex = ex;
    ex->client = nobody;
    ex->close_after = true;
    ex->once->deadline_ns = BIDE_FOREVER;
    c->in = NULL;
    c->ex = NULL;
    if (exchange_is_called(ex))
        bide_call_no_more(&ex->call);
}

bool once_goes_on(struct exchange *ex)
{
    struct client *nobody = can_go_on(ex) ? client_nobody(ex->client) : NULL;
    if (!nobody)
        return false;
    if (!ex->client->is_stream) { /* that is its connection's */
        nobody->place = ex->client->place; /* its address has it until then */
        ex->client->place = 0;
    } else {
        client_follow(nobody); /* takes another */
    }
    move(ex, nobody);
    return true;
}

/* ===== with another answer ===== */

/* The head, for the log, and what the client sent after this request. */
static struct net_buf *copy_rest(const struct exchange *ex)
{
    const struct net_buf *in = ex->client->in;
    struct net_buf *b = net_buf_take(&ex->worker->bufs);
    if (!b)
        return NULL;
    uint32_t head = ex->req.head_len, rest = in->end - ex->in_end;
    memcpy(b->data, in->data + in->begin, head);
    memcpy(b->data + head, in->data + ex->in_end, rest);
    b->end = head + rest;
    return b;
}

/* As much of it as an answer of our own needs. */
static struct exchange *stand_in(struct exchange *ex, struct net_buf *in)
{
    struct exchange *other = exchange_new(ex->client);
    if (!other)
        return NULL;
    other->use = ex->use;
    other->use->n_exchanges++;
    other->generation = ex->generation;
    other->route = ex->route;
    other->req = ex->req;
    other->req.fields = other->fields;
    memcpy(other->fields, ex->fields,
           ex->req.n_fields * sizeof ex->fields[0]);
    other->in_end = in->begin + ex->req.head_len;
    other->rest = ex->rest;
    ex->rest = NULL;
    other->body_bytes = ex->body_bytes;
    other->close_after = ex->close_after;
    other->tries = ex->tries;
    other->endpoint = ex->endpoint;
    other->begin_ns = ex->begin_ns;
    other->waited_ns = ex->waited_ns;
    memcpy(other->request_id, ex->request_id, sizeof ex->request_id);
    return other;
}

/* Not if that would make more clients than there may be: a client could ask for
 * it, with short deadlines. It then waits for its answer. */
struct exchange *once_aside(struct exchange *ex)
{
    struct worker *w = ex->worker;
    struct client *c = ex->client;
    if (!can_go_on(ex) || !client_may_leave(c))
        return ex;
    struct net_buf *in = copy_rest(ex);
    struct exchange *other = in ? stand_in(ex, in) : NULL;
    struct client *nobody = other ? client_nobody(c) : NULL;
    if (!nobody) {
        if (other) {
            ex->rest = other->rest;
            other->rest = NULL;
            exchange_free(other);
        }
        net_buf_give(&w->bufs, in);
        return ex;
    }
    ex->once->told = true;
    client_follow(nobody);
    move(ex, nobody);
    c->in = in;
    c->ex = other;
    return other;
}

bool once_late(struct exchange *ex)
{
    struct once *o = ex->once;
    if (o->phase == ONCE_OVER || o->deadline_ns > now_of(ex))
        return false;
    o->deadline_ns = BIDE_FOREVER;
    if (o->phase != ONCE_OURS) { /* the store answers in a moment */
        exchange_await(ex);
        return true;
    }
    struct exchange *other = once_aside(ex);
    if (other != ex)
        once_refuse_late(other, true);
    else if (is_sent(ex))
        exchange_await(ex);
    else
        once_refuse_late(ex, false);
    return true;
}
