/* Making copies of responses as they pass, and serving them when the policy has
 * given up.
 *
 * A copy is begun with the head of a response, filled as its body arrives, and
 * kept if the response was complete and was sent to the client; otherwise it is
 * dropped. It is stored without chunk framing. */
#include <string.h>
#include <strings.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/cacheable.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/fallback.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/stale.h"
#include "proxy/exchange/text.h"
#include "proxy/exchange/vary.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

/* A newer copy than this is not replaced: a route that gets a thousand requests
 * a second for the same copies one of them. */
#define NEW_NS BIDE_SECOND

enum { CHUNKED_ROOM = 4096 };

/* ===== keys ===== */

/* Scheme, host and target; and the upstream, since routes may distinguish
 * requests by other fields. NULL: no memory. */
static struct net_buf *key_of(const struct exchange *ex)
{
    const struct http1_head *req = &ex->req;
    const char *bytes = exchange_bytes(ex);
    const struct route *r = ex->route->primary ? ex->route->primary : ex->route;
    struct net_buf *b = net_buf_take(&ex->worker->bufs);
    if (!b)
        return NULL;
    struct text t = text_in(b);
    text_string(&t, ex->client->tls ? "https\n" : "http\n");
    text_string(&t, r->service->upstream->name);
    TEXT_LITERAL(&t, "\n");
    text_lower(&t, bytes + req->host, req->host_len);
    TEXT_LITERAL(&t, "\n");
    if (req->path_len == 0)
        TEXT_LITERAL(&t, "/");
    text_put(&t, bytes + req->path, (size_t)req->path_len + req->query_len);
    if (text_done(&t, b))
        return b;
    net_buf_give(&ex->worker->bufs, b);
    return NULL;
}

static struct stale *cache_of(const struct exchange *ex)
{
    return ex->worker->proxy->stale;
}

/* ===== making a copy ===== */

/* The endpoint knows the client by a certificate: from here, or, if a trusted
 * client says so, from further up. */
static bool is_certified(const struct exchange *ex)
{
    return exchange_certificate(ex) ||
           http1_has(&ex->req, HTTP1_ID_X_FORWARDED_CLIENT_CERT);
}

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

/* The lines of the head as they will be sent again; Age will differ. */
static void write_lines(struct text *t, const struct attempt *a)
{
    const uint64_t dropped = BIT(CONTENT_LENGTH) | BIT(TRAILER) |
                             BIT(X_BIDE_ATTEMPTS) | BIT(X_BIDE_REASON) |
                             BIT(X_BIDE_RETRY);
    const char *bytes = net_buf_at(a->in);
    for (unsigned i = 0; i < a->resp.n_fields; i++) {
        const struct http1_field *f = &a->fields[i];
        if (f->hop || dropped >> f->id & 1 ||
            (f->name_len == 3 && strncasecmp(bytes + f->line, "age", 3) == 0))
            continue;
        text_put(t, bytes + f->line, f->line_len);
    }
}

static bool is_new(const struct stale_copy *c, const void *ctx)
{
    const struct exchange *ex = ctx;
    return ex->worker->loop.now_ns - c->stored_ns < NEW_NS && vary_fits(c, ex);
}

/* How much room the body needs; 0: none or not known. False: too much. */
static bool body_room(const struct attempt *a, size_t *ret)
{
    const struct http1_head *resp = &a->resp;
    size_t most = a->ex->generation->conf->limits.stale_answer_bytes;
    *ret = resp->framing == HTTP1_CHUNKED ? CHUNKED_ROOM : 0;
    if (resp->framing == HTTP1_LENGTH)
        *ret = resp->content_length > most ? most + 1
                                           : (size_t)resp->content_length;
    return resp->framing <= HTTP1_CHUNKED && *ret <= most;
}

/* Assembles key, fields and lines, and makes room after them. */
static struct stale_copy *make(struct attempt *a, const struct net_buf *key,
                               const struct cacheable *says, size_t room)
{
    struct exchange *ex = a->ex;
    struct net_buf *b = net_buf_take(&ex->worker->bufs);
    struct stale_copy *c = NULL;
    if (!b)
        return NULL;
    struct text t = text_in(b);
    struct stale_shape shape = { .key_len = key->end };
    bool known = vary_write(&t, a);
    shape.vary_len = (uint32_t)(t.at - b->data);
    write_lines(&t, a);
    shape.lines_len = (uint32_t)(t.at - b->data) - shape.vary_len;
    if (known && !t.full)
        c = stale_copy_new(cache_of(ex), &shape, room);
    if (c) {
        memcpy(c->bytes, key->data, key->end);
        memcpy(c->bytes + key->end, b->data, shape.vary_len + shape.lines_len);
        c->is_public = says->is_public;
        c->stored_ns = ex->worker->loop.now_ns;
        c->age_ns = says->age_ns;
        c->fresh_ns = says->fresh_ns;
        c->if_error_ns = says->if_error_ns;
    }
    net_buf_give(&ex->worker->bufs, b);
    return c;
}

/* A response that must not be stored replaces one that might be. */
void copy_begin(struct attempt *a)
{
    struct exchange *ex = a->ex;
    size_t room;
    if (ex->req.method_id != HTTP1_GET)
        return;
    struct cacheable says =
        cacheable_read(&a->resp, net_buf_at(a->in), bide_wall_s());
    struct net_buf *key = key_of(ex);
    if (!key)
        return;
    if (!says.may_keep) {
        stale_forget(cache_of(ex), key->data, key->end);
    } else if (cacheable_for(&says, &ex->req, exchange_bytes(ex),
                             is_certified(ex)) &&
               body_room(a, &room)) {
        struct stale_copy *had =
            stale_get(cache_of(ex), key->data, key->end, is_new, ex);
        if (!had)
            a->copy = make(a, key, &says, room);
        stale_unref(had);
    }
    net_buf_give(&ex->worker->bufs, key);
}

static bool make_room(struct attempt *a, size_t len)
{
    struct stale_copy *c = a->copy;
    size_t most = a->ex->generation->conf->limits.stale_answer_bytes;
    size_t need = c->shape.body_len + len;
    size_t before =
        sizeof *c + c->shape.key_len + c->shape.vary_len + c->shape.lines_len;
    size_t room = c->room - before;
    if (need > most)
        return false;
    if (need <= room)
        return true;
    room = 2 * room > need ? 2 * room : need;
    c = stale_copy_grow(c, room < most ? room : most);
    if (c)
        a->copy = c;
    return c != NULL;
}

void copy_add(struct attempt *a, const char *data, size_t len)
{
    if (!make_room(a, len)) {
        stale_copy_drop(a->copy);
        a->copy = NULL;
        return;
    }
    memcpy(stale_body(a->copy) + a->copy->shape.body_len, data, len);
    a->copy->shape.body_len += (uint32_t)len;
}

void copy_end(struct attempt *a)
{
    const struct exchange *ex = a->ex;
    if (attempt_is_complete(a) && a->phase == ATTEMPT_PASSED_ON &&
        ex->reason == BIDE_BECAUSE_SUCCESS)
        stale_put(a->copy);
    else
        stale_copy_drop(a->copy);
    a->copy = NULL;
}

/* ===== serving it ===== */

struct wanted {
    const struct exchange *ex;
    int64_t stale_ns; /* how far past its freshness it may be */
    bool certified;   /* only what is public */
};

static int64_t age_of(const struct stale_copy *c, int64_t now_ns)
{
    return net_after(now_ns - c->stored_ns, c->age_ns);
}

static bool may_give(const struct stale_copy *c, const void *ctx)
{
    const struct wanted *w = ctx;
    int64_t past = c->if_error_ns < w->stale_ns ? c->if_error_ns : w->stale_ns;
    return (c->is_public || !w->certified) &&
           age_of(c, w->ex->worker->loop.now_ns) <=
               net_after(c->fresh_ns, past) &&
           vary_fits(c, w->ex);
}

bool copy_give(struct exchange *ex, const struct route *r,
               const bide_decision *d)
{
    struct wanted w = { ex, r->conf->fallback.stale_ns, is_certified(ex) };
    if (w.stale_ns == 0 || !cacheable_asks(&ex->req, exchange_bytes(ex)))
        return false;
    struct net_buf *key = key_of(ex);
    struct stale_copy *c =
        key ? stale_get(cache_of(ex), key->data, key->end, may_give, &w) : NULL;
    net_buf_give(&ex->worker->bufs, key);
    if (!c)
        return false;
    count(&ex->worker->counters.fallback_stale);
    ex->fallback = FALLBACK_STALE;
    ex->copy = c;
    own_answer(ex,
               &(struct own_answer){
                   .status = 200,
                   .problem = bide_reason_name(d->reason),
                   .title = "OK",
                   .retry_ns = BIDE_FOREVER,
                   .body = stale_body(c),
                   .body_len = c->shape.body_len,
                   .lines = stale_lines(c),
                   .lines_len = c->shape.lines_len,
                   .age_s = age_of(c, ex->worker->loop.now_ns) / BIDE_SECOND,
                   .fallback = "stale" });
    return true;
}

/* A change to a resource invalidates its copies (RFC 9111, 4.4). */
void copy_forget(struct exchange *ex, int status)
{
    uint8_t method = ex->req.method_id;
    bool reads = method == HTTP1_GET || method == HTTP1_HEAD;
    bool safe = reads || method == HTTP1_OPTIONS || method == HTTP1_TRACE;
    if (!(reads && (status == 404 || status == 410)) &&
        !(!safe && status >= 200 && status < 400))
        return;
    struct net_buf *key = key_of(ex);
    if (key)
        stale_forget(cache_of(ex), key->data, key->end);
    net_buf_give(&ex->worker->bufs, key);
}
