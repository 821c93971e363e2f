/* From the head of a request with a key to a claim of it. */
#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/tls.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/request.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/upload.h"
#include "proxy/front/client.h"
#include "proxy/front/client_limits.h"
#include "proxy/generation.h"
#include "proxy/once/answers.h"
#include "proxy/once/once.h"
#include "proxy/once/port.h"
#include "proxy/worker.h"

/* ===== what it is ===== */

static bool takes_method(const struct bide__proxy_idempotency *conf,
                         const struct exchange *ex)
{
    const char *method = exchange_bytes(ex) + ex->req.method;
    size_t len = ex->req.method_len;
    for (size_t i = 0; i < conf->n_methods; i++)
        if (strlen(conf->methods[i]) == len &&
            memcmp(conf->methods[i], method, len) == 0)
            return true;
    return false;
}

static void add_text(struct bide__sha256 *sum, const char *text)
{
    if (text)
        bide__sha256_add(sum, text, strlen(text));
    bide__sha256_add(sum, "", 1);
}

/* Keys are per route, and services that share a store do not share keys: the
 * names of the upstream and of the route. Names that were cut short, or that
 * routes have in common, are told apart by a digest of what they match. */
static void write_scope(struct once *o, const struct route *r)
{
    const struct bide__proxy_match *m = &r->conf->match;
    int n = snprintf(o->scope, sizeof o->scope, "%.128s %s",
                     r->service->upstream->name, r->name);
    bool whole = strlen(r->name) < ROUTE_NAME - 8 &&
                 strcmp(r->name, "other") != 0 &&
                 strlen(r->service->upstream->name) <= 128;
    if (whole)
        return;
    struct bide__sha256 sum;
    uint8_t digest[BIDE__SHA256_SIZE];
    bide__sha256_init(&sum);
    add_text(&sum, r->service->upstream->name);
    add_text(&sum, m->host);
    add_text(&sum, m->path);
    add_text(&sum, m->exact);
    add_text(&sum, m->method);
    add_text(&sum, m->header);
    add_text(&sum, m->value);
    bide__sha256_end(&sum, digest);
    for (int i = 0; i < 8; i++)
        n += snprintf(o->scope + n, sizeof o->scope - (size_t)n, "%s%02x",
                      i == 0 ? " #" : "", digest[i]);
}

/* Anybody may send any Host: it tells operations apart, and proves nothing. */
static bool is_by_host(const struct once *o)
{
    return o->conf->caller && strcasecmp(o->conf->caller, "host") == 0;
}

static bool read_owner(struct once *o)
{
    const struct http1_head *req = &o->ex->req;
    const char *bytes = exchange_bytes(o->ex);
    if (!o->conf->caller)
        return true;
    return is_by_host(o)
               ? once_host_read(req, bytes, o->owner)
               : once_caller_read(req, bytes, o->conf->caller, o->owner);
}

/* Whose share of the store it takes: the caller's, if callers have names;
 * otherwise that of the address. Of IPv6, one client has a whole /64 of them
 * (per_client.c): each would get a share. */
static void write_room(struct once *o, const struct client *c)
{
    uint8_t network[16] = { 0 };
    char text[INET6_ADDRSTRLEN];
    if (o->owner[0] && !is_by_host(o)) {
        snprintf(o->room, sizeof o->room, "%s", o->owner);
    } else if (c->address_len == 4) {
        inet_ntop(AF_INET, c->address, o->room, sizeof o->room);
    } else if (c->address_len != 0) {
        memcpy(network, c->address, 8);
        inet_ntop(AF_INET6, network, text, sizeof text);
        snprintf(o->room, sizeof o->room, "%s/64", text);
    }
}

/* Method, path and query; the body follows. None of them holds a NUL. */
static void begin_sum(struct once *o)
{
    const struct exchange *ex = o->ex;
    const struct http1_head *req = &ex->req;
    const char *bytes = exchange_bytes(ex);
    bide__sha256_init(&o->sum);
    bide__sha256_add(&o->sum, bytes + req->method, req->method_len);
    bide__sha256_add(&o->sum, "", 1);
    bide__sha256_add(&o->sum, bytes + req->path, req->path_len);
    bide__sha256_add(&o->sum, "", 1);
    bide__sha256_add(&o->sum, bytes + req->path + req->path_len,
                     req->query_len);
    bide__sha256_add(&o->sum, "", 1);
}

/* For the engine the request carries no key, and is what its method says,
 * whatever a client claims: the origin may not know the key. */
static void set_op(struct exchange *ex)
{
    char method[METHOD_TEXT];
    ex->upgrade = false; /* what follows would be no answer */
    ex->op.one_shot_body = false;
    ex->op.has_key = ex->once->conf->on_unknown == BIDE__UNKNOWN_RETRY;
    ex->op.idempotent = bide_method_idempotent(exchange_method(ex, method));
}

bool once_begin(struct exchange *ex)
{
    const struct bide__proxy_idempotency *conf = &ex->route->conf->idempotency;
    struct once_port *port = ex->worker->once;
    char key[ONCE_KEY + 1];
    if (!takes_method(conf, ex))
        return true;
    enum once_key what = once_key_read(&ex->req, exchange_bytes(ex), key);
    if (what == ONCE_KEY_MISSING && conf->accept == BIDE__ACCEPT_OPTIONAL)
        return true;
    if (what != ONCE_KEY_THERE) {
        once_refuse_key(ex, what);
        return false;
    }
    if (ex->client->is_stream && !client_may_leave(ex->client)) {
        once_refuse_crowd(ex);
        return false;
    }
    bool fits = port && port->store == ex->generation->store;
    struct once *o = fits ? calloc(1, sizeof *o) : NULL;
    if (!o) {
        upload_refuse_memory(ex);
        return false;
    }
    o->ex = ex;
    o->conf = conf;
    o->deadline_ns = BIDE_FOREVER;
    o->port = port;
    once_port_use(port);
    ex->once = o;
    memcpy(o->key, key, sizeof key);
    write_scope(o, ex->route);
    if (!read_owner(o)) {
        once_refuse_key(ex, ONCE_KEY_INVALID);
        return false;
    }
    write_room(o, ex->client);
    begin_sum(o);
    set_op(ex);
    return true;
}

void once_body(struct exchange *ex, const char *data, size_t len)
{
    bide__sha256_add(&ex->once->sum, data, len);
}

/* ===== claiming ===== */

/* A caller with a name needs no other proof: the same key of two is two
 * operations. */
static void fill_claim(struct once *o)
{
    const struct exchange *ex = o->ex;
    o->op = (bide_store_op)BIDE_STORE_OP_INIT;
    o->op.tag = o;
    o->op.scope = o->scope;
    o->op.owner = o->owner;
    o->op.key = o->key;
    o->op.room = o->room;
    o->op.lease_ns = o->conf->lease_ns;
    o->op.keep_ns = o->conf->keep_ns;
    o->op.take_over = o->conf->on_unknown == BIDE__UNKNOWN_RETRY;
    bide__sha256_end(&o->sum, o->op.fingerprint);
    if (!o->owner[0] || is_by_host(o))
        once_binding(&ex->req, exchange_bytes(ex),
                     net_tls_client_certificate(client_socket(ex->client)),
                     o->op.binding);
}

void once_claim(struct exchange *ex)
{
    struct once *o = ex->once;
    if (o->phase != ONCE_READING || ex->upload != UPLOAD_NONE)
        return;
    o->phase = ONCE_CLAIMING;
    fill_claim(o);
    o->waits = once_submit(o, &o->op);
    if (!o->waits) {
        o->op.result = BIDE_STORE_DOWN;
        once_claimed(o);
    }
}

/* Goes on as if the route accepted no keys. */
static void pass(struct once *o)
{
    struct exchange *ex = o->ex;
    count(&ex->worker->counters.idempotency_passed);
    o->phase = ONCE_OVER;
    o->word = "passed";
    exchange_call(ex);
}

static void begin(struct once *o)
{
    struct exchange *ex = o->ex;
    count(&ex->worker->counters.idempotency_claims);
    o->phase = ONCE_OURS;
    o->word = "first";
    once_hold_lease(o);
    exchange_call(ex);
}

void once_called(struct exchange *ex)
{
    struct once *o = ex->once;
    int64_t end = net_after(ex->begin_ns, exchange_conf(ex)->timeouts.request_ns);
    int64_t deadline = bide_call_deadline(&ex->call);
    if (o->phase != ONCE_OURS)
        return;
    o->deadline_ns = deadline < end ? deadline : end;
    exchange_await(ex);
}

/* Once a minute: the store is up, so nobody else says it. */
static void say_full(void)
{
    static _Atomic int64_t next_ns;
    int64_t now = bide_now_ns(), next = atomic_load(&next_ns);
    if (now >= next &&
        atomic_compare_exchange_strong(&next_ns, &next, now + 60 * BIDE_SECOND))
        fprintf(stderr,
                "bide proxy: the store of idempotency records has no room for "
                "new keys (see store.limit, and maxmemory of a Redis)\n");
}

void once_claimed(struct once *o)
{
    bide_store_result result = o->op.result;
    bool failed = result == BIDE_STORE_DOWN || result == BIDE_STORE_FULL;
    if (result == BIDE_STORE_FULL)
        say_full();
    if (result == BIDE_STORE_FIRST)
        begin(o);
    else if (failed && o->conf->on_store_failure == BIDE__STORE_FAILURE_PASS)
        pass(o);
    else
        once_refuse(o);
}
