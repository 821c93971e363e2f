/* A request whose head has been read: what it says about retrying, which route
 * takes it, and whether it can be served at all. */
#include "proxy/exchange/request.h"

#include <string.h>
#include <strings.h>

#include "bide/claim.h"
#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/http1/media.h"
#include "net/http1/path.h"
#include "proxy/back/request_counts.h"
#include "proxy/back/service.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/hops.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/upload.h"
#include "proxy/front/client.h"
#include "proxy/front/client_limits.h"
#include "proxy/generation.h"
#include "proxy/grpc/grpc.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

static int64_t now_of(const struct exchange *ex)
{
    return ex->worker->loop.now_ns;
}

static bide_dep *dep_of(const struct exchange *ex)
{
    return ex->route->service->dep;
}

/* ===== what the request specifies ===== */

static bool field_is(const struct exchange *ex, const struct http1_field *f,
                     const char *text)
{
    return f->value_len == strlen(text) &&
           memcmp(exchange_bytes(ex) + f->value, text, f->value_len) == 0;
}

/* A whole number; -1 if it is not one. */
static int64_t field_number(const struct exchange *ex, enum http1_id id)
{
    const struct http1_field *f = http1_find(&ex->req, id);
    const char *text = exchange_bytes(ex);
    int64_t n = 0;
    if (!f || f->value_len == 0 || f->value_len > 15)
        return -1;
    for (unsigned i = 0; i < f->value_len; i++) {
        char c = text[f->value + i];
        if (c < '0' || c > '9')
            return -1;
        n = n * 10 + (c - '0');
    }
    return n;
}

/* An empty key does not count, nor does one that Connection names. */
static bool key_travels(const struct http1_head *req)
{
    const struct http1_field *f = http1_find(req, HTTP1_ID_IDEMPOTENCY_KEY);
    return f && !f->hop && f->value_len > 0;
}

/* What only trusted clients may set. */
static void heed_overrides(struct exchange *ex, bide_op *op)
{
    const struct http1_field *f =
        http1_find(&ex->req, HTTP1_ID_X_BIDE_IDEMPOTENT);
    uint32_t attempts = bide_dep_policy(dep_of(ex))->attempts;
    int64_t most = field_number(ex, HTTP1_ID_X_BIDE_ATTEMPTS_MAX);
    if (f && field_is(ex, f, "true"))
        op->idempotent = true;
    if (f && field_is(ex, f, "false"))
        op->idempotent = false;
    if (most >= 1 && most < attempts)
        op->attempts_made = attempts - (uint32_t)most;
}

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

void exchange_make_key(struct exchange *ex)
{
    bide_op *op = &ex->op;
    if (!op->idempotent && !op->has_key && !ex->once &&
        bide_dep_policy(dep_of(ex))->idempotency_key == BIDE_KEY_GENERATE)
        op->has_key = bide_key_new(ex->key) == 0;
}

/* What the request says about the retries and deadlines of layers above. From
 * anybody: it can only take attempts and time from this very request. */
static void read_claim(struct exchange *ex)
{
    const bide_trust_conf *trust = &bide_dep_policy(dep_of(ex))->trust;
    const uint64_t ours =
        BIT(X_BIDE_ATTEMPT) | BIT(X_BIDE_TIMEOUT_MS) | BIT(BAGGAGE);
    const uint64_t others = BIT(OTHER) | BIT(GRPC_TIMEOUT) |
                            BIT(GRPC_PREVIOUS_RPC_ATTEMPTS);
    const char *text = exchange_bytes(ex);
    bool all = trust->envoy || trust->grpc || trust->aws;
    int64_t wall_ms = ex->req.seen & BIT(BAGGAGE) ? bide_wall_ms() : 0;
    bide_claim above = BIDE_CLAIM_INIT;

    if (!(ex->req.seen & ours) && !all)
        return;
    for (unsigned i = 0; i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        bide_header h = { text + f->line, f->name_len, text + f->value,
                          f->value_len };
        if (ours >> f->id & 1 || (all && others >> f->id & 1))
            bide_claim_header(&above, &h, trust, wall_ms);
    }
    bide_claim_apply(&above, &ex->op, now_of(ex));
}

static void read_op(struct exchange *ex)
{
    bide_op *op = &ex->op;
    const uint64_t seen = ex->req.seen;
    const uint64_t special = BIT(X_BIDE_IDEMPOTENT) | BIT(X_BIDE_ATTEMPTS_MAX) |
                             BIT(X_BIDE_FAULT);
    char method[METHOD_TEXT];

    op->idempotent = ex->route->conf->idempotent ||
                     bide_method_idempotent(exchange_method(ex, method));
    op->has_key = seen & BIT(IDEMPOTENCY_KEY) && key_travels(&ex->req);
    op->one_shot_body = ex->upgrade;
    if (ex->route->conf->priority.header)
        op->priority = priority_of(ex);
    exchange_make_key(ex);
    read_claim(ex);
    if (!(seen & special))
        return;
    if (ex->client->trusted)
        heed_overrides(ex, op);
    ex->faults = fault_asked(ex);
}

/* An empty id does not count, nor does one that endpoints do not see because
 * Connection names it. */
const char *exchange_request_id(const struct exchange *ex, size_t *ret_len)
{
    const struct http1_field *f = http1_find(&ex->req, HTTP1_ID_X_REQUEST_ID);
    *ret_len = f && !f->hop ? f->value_len : 0;
    if (*ret_len)
        return exchange_bytes(ex) + f->value;
    *ret_len = strlen(ex->request_id);
    return *ret_len ? ex->request_id : NULL;
}

static void give_id(struct exchange *ex)
{
    size_t len;
    if (!exchange_request_id(ex, &len) && bide_key_new(ex->request_id) < 0)
        ex->request_id[0] = '\0';
}

/* Whether it asks for HTTP/2 without TLS (h2c). That would be a tunnel in which
 * requests bypass all routes, so it stays an HTTP/1.1 request. */
static bool asks_for_http2(const struct exchange *ex)
{
    const char *text = exchange_bytes(ex);
    for (unsigned i = 0; i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        for (unsigned k = 0;
             f->id == HTTP1_ID_UPGRADE && k + 3u <= f->value_len; k++)
            if (strncasecmp(text + f->value + k, "h2c", 3) == 0)
                return true;
    }
    return false;
}

/* ===== beginning ===== */

static bool route(struct exchange *ex)
{
    if (ex->req.method_id == HTTP1_CONNECT) {
        ex->close_after = true; /* what follows would not be HTTP */
        own_answer_with(ex, 405, "connect", "Method Not Allowed",
                        "this is a reverse proxy: it makes no tunnels");
        return false;
    }
    ex->use = ex->worker->use;
    ex->use->n_exchanges++;
    ex->generation = ex->use->generation;
    ex->route = route_find(ex->generation, &ex->req, exchange_bytes(ex));
    if (ex->route)
        return true;
    own_answer_with(ex, 404, "no_route", "Not Found",
                    "no route takes this request");
    return false;
}

/* In place, before it is used: routes match what endpoints get. */
static bool path_fits(struct exchange *ex)
{
    struct worker *w = ex->worker;
    if (w->conf->paths == BIDE__PATHS_AS_SENT ||
        http1_normalize(&ex->req, net_buf_at(ex->client->in)))
        return true;
    count(&w->counters.refused);
    own_answer_with(ex, 400, "path", "Bad Request",
                    "the path climbs above the root, or has an escape or a "
                    "character that is not valid");
    return false;
}

/* Little is added on the way, except for what repeats the host name. */
static bool fits(struct exchange *ex)
{
    enum { ADDED = 1024 };
    const char *certificate = exchange_certificate(ex);
    size_t added = ADDED + (certificate ? strlen(certificate) : 0);
    if (ex->req.head_len + 2u * ex->req.host_len + added <=
        ex->worker->bufs.size)
        return true;
    own_answer_with(ex, 431, "head_grows", "Request Header Fields Too Large",
                    "with what is added on the way the head is too long");
    return false;
}

void exchange_begin(struct exchange *ex)
{
    struct client *c = ex->client;
    count(&ex->worker->counters.requests);
    ex->in_end = c->in->begin + ex->req.head_len;
    ex->close_after = !ex->req.keep_alive;
    /* Until the body has been read, what follows the head is not a request. */
    if (ex->req.framing != HTTP1_NO_BODY)
        ex->upload = UPLOAD_KEEPING;
    ex->grpc = http1_is_grpc(&ex->req, exchange_bytes(ex));
    ex->eager = ex->grpc && ex->upload != UPLOAD_NONE;
    ex->grpc_status = GRPC_NO_STATUS;
    ex->upgrade =
        ex->req.upgrade && ex->upload == UPLOAD_NONE && !asks_for_http2(ex);
    if (!client_may_ask(c) || !path_fits(ex) || !hops_allow(ex) || !route(ex) ||
        !fits(ex))
        return;
    read_op(ex);
    if (ex->grpc && !grpc_begin(ex))
        return;
    if (ex->generation->conf->request_id == BIDE__ID_GENERATE)
        give_id(ex);
    event_begin(ex);
    count(&ex->route->counts->of[ex->worker->index].requests);
    if (ex->route->conf->idempotency.accept != BIDE__ACCEPT_OFF &&
        !once_begin(ex))
        return;
    if (ex->once) { /* there is no call before the key is claimed */
        if (ex->req.framing == HTTP1_NO_BODY || upload_begin(ex))
            exchange_step(ex);
        return;
    }
    bide_call_begin(&ex->call, dep_of(ex), &ex->op, now_of(ex));
    exchange_move(ex, EXCHANGE_CALL);
    if (ex->req.framing == HTTP1_NO_BODY || upload_begin(ex))
        exchange_step(ex);
}
