/* Lines of the access log. */
#include "proxy/access_line.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/hex.h"
#include "proxy/access_log.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/service.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/fallback.h"
#include "proxy/exchange/request.h"
#include "proxy/exchange/route.h"
#include "proxy/front/client.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

/* The maximum size of each text in a line, in escaped bytes. */
enum {
    METHOD_MOST = 64,
    HOST_MOST = 256,
    PATH_MOST = 1024,
    ID_MOST = 128,
    NAME_MOST = 128, /* of upstreams and policies */
    URL_MOST = 384,
    FIELD_MOST = 512, /* Referer, User-Agent */
    REST_MOST = 1024  /* numbers, names, separators */
};

_Static_assert(METHOD_MOST + HOST_MOST + PATH_MOST + ID_MOST + 2 * NAME_MOST +
                       URL_MOST + REST_MOST <=
                   ACCESS_LINE,
               "a line of JSON fits");
_Static_assert(METHOD_MOST + PATH_MOST + 2 * FIELD_MOST + REST_MOST <=
                   ACCESS_LINE,
               "a line of the common format fits");

/* ===== time ===== */

void access_time_look(struct access_time *t)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    t->ms = (unsigned)(now.tv_nsec / 1000000);
    if (now.tv_sec == t->second)
        return;
    t->second = now.tv_sec;
    bide__date_text(now.tv_sec, t->iso);
    bide__date_common_text(now.tv_sec, t->common);
}

/* ===== what is logged ===== */

/* Bytes without a terminating NUL; at is NULL: none. */
struct piece {
    const char *at;
    size_t len;
};

static struct piece piece_of(const char *text)
{
    return (struct piece){ text, strlen(text) };
}

static struct piece field_of(const struct exchange *ex, enum http1_id id)
{
    const struct http1_field *f = http1_find(&ex->req, id);
    return f ? (struct piece){ exchange_bytes(ex) + f->value, f->value_len }
             : (struct piece){ NULL, 0 };
}

/* A field that is not used otherwise, and has no id. */
static struct piece field_named(const struct exchange *ex, const char *name)
{
    const char *bytes = exchange_bytes(ex);
    size_t len = strlen(name);

    for (unsigned i = 0; i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        if (f->name_len == len && strncasecmp(bytes + f->line, name, len) == 0)
            return (struct piece){ bytes + f->value, f->value_len };
    }
    return (struct piece){ NULL, 0 };
}

static void put_address(struct text *t, const struct client *c)
{
    char address[INET6_ADDRSTRLEN] = "unix";
    if (c->address_len)
        inet_ntop(c->address_len == 4 ? AF_INET : AF_INET6, c->address, address,
                  sizeof address);
    text_string(t, address);
}

static const char *reason_of(const struct exchange *ex)
{
    if (ex->problem && ex->reason != BIDE_BECAUSE_CUT_SHORT)
        return ex->problem;
    return bide_reason_name((bide_reason)ex->reason);
}

/* ===== JSON ===== */

/* One that needs no escaping. */
static void put_word(struct text *t, const char *name, const char *word)
{
    text_string(t, name);
    TEXT_LITERAL(t, "\"");
    text_string(t, word);
    TEXT_LITERAL(t, "\"");
}

static void put_count(struct text *t, const char *name, uint64_t n)
{
    text_string(t, name);
    text_number(t, n);
}

static void put_ms(struct text *t, const char *name, int64_t ns)
{
    uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
    put_count(t, name, us / 1000);
    text_thousandths(t, (unsigned)(us % 1000));
}

static void put_text(struct text *t, const char *name, struct piece p,
                     size_t most)
{
    if (!p.at)
        return;
    text_string(t, name);
    text_json(t, p.at, p.len, most);
}

static void put_request(struct text *t, const struct exchange *ex)
{
    const struct http1_head *req = &ex->req;
    const char *bytes = exchange_bytes(ex);

    if (req->head_len == 0)
        return; /* it was none */
    if (req->host_len)
        put_text(t, ",\"host\":",
                 (struct piece){ bytes + req->host, req->host_len }, HOST_MOST);
    put_text(t, ",\"method\":",
             (struct piece){ bytes + req->method, req->method_len },
             METHOD_MOST);
    put_text(t,
             ",\"path\":", (struct piece){ bytes + req->path, req->path_len },
             PATH_MOST);
    if (ex->client->is_stream)
        TEXT_LITERAL(t, ",\"protocol\":\"HTTP/2\"");
    struct piece id;
    id.at = exchange_request_id(ex, &id.len);
    put_text(t, ",\"request_id\":", id, ID_MOST);
}

static void put_decisions(struct text *t, const struct exchange *ex)
{
    int64_t now = ex->worker->loop.now_ns;
    put_count(t, ",\"status\":", ex->status);
    put_count(t, ",\"attempts\":", ex->tries);
    put_ms(t, ",\"waited_ms\":", ex->waited_ns);
    put_word(t, ",\"reason\":", reason_of(ex));
    put_ms(t, ",\"took_ms\":", now - ex->begin_ns);
    if (ex->first_byte_ns)
        put_ms(t, ",\"first_byte_ms\":", ex->first_byte_ns - ex->begin_ns);
    put_count(t, ",\"bytes_in\":", ex->body_bytes);
    put_count(t, ",\"bytes_out\":", ex->out_bytes);
    if (!ex->route)
        return;
    const struct service *s = ex->route->service;
    put_text(t, ",\"upstream\":", piece_of(s->upstream->name), NAME_MOST);
    put_text(t, ",\"policy\":", piece_of(s->policy_name), NAME_MOST);
    if (ex->endpoint)
        put_text(t, ",\"endpoint\":", piece_of(ex->endpoint->url), URL_MOST);
    if (ex->fallback)
        put_word(t, ",\"fallback\":",
                 fallback_name((enum fallback_kind)ex->fallback));
    if (ex->grpc && ex->grpc_status >= 0)
        put_word(t, ",\"grpc_status\":", bide_grpc_name(ex->grpc_status));
    if (ex->once && ex->once->word)
        put_word(t, ",\"idempotency\":", ex->once->word);
    if (ex->injected)
        TEXT_LITERAL(t, ",\"injected\":true");
    if (ex->fault)
        put_word(t, ",\"fault\":", bide_fault_name((bide_fault)ex->fault));
    if (ex->fault && ex->broke)
        put_word(t, ",\"stream\":", ex->broke);
}

void access_line_json(struct text *t, const struct exchange *ex,
                      const struct access_time *time)
{
    TEXT_LITERAL(t, "{\"time\":\"");
    text_string(t, time->iso);
    text_thousandths(t, time->ms);
    TEXT_LITERAL(t, "Z\",\"client\":\"");
    put_address(t, ex->client);
    TEXT_LITERAL(t, "\"");
    put_request(t, ex);
    put_decisions(t, ex);
    TEXT_LITERAL(t, "}\n");
}

/* ===== common log format ===== */

/* Escaped as in Apache and nginx: what is not printable ASCII as \xHH. */
static void put_escaped(struct text *t, struct piece p, size_t most)
{
    const char *end = t->at + most;

    for (size_t i = 0; i < p.len && end - t->at >= 4; i++) {
        unsigned char c = (unsigned char)p.at[i];
        const char hex[] = { '\\', 'x', bide__hex_lower[c >> 4],
                             bide__hex_lower[c & 15] };
        const char quoted[] = { '\\', (char)c };
        if (c == '"' || c == '\\')
            text_put(t, quoted, sizeof quoted);
        else if (c < 0x20 || c >= 0x7f)
            text_put(t, hex, sizeof hex);
        else
            text_put(t, p.at + i, 1);
    }
}

/* The query is left out, as in JSON: it may contain secrets. */
static void put_request_line(struct text *t, const struct exchange *ex)
{
    const struct http1_head *req = &ex->req;
    const char *bytes = exchange_bytes(ex);

    if (req->head_len == 0) {
        TEXT_LITERAL(t, "-");
        return;
    }
    put_escaped(t, (struct piece){ bytes + req->method, req->method_len },
                METHOD_MOST);
    TEXT_LITERAL(t, " ");
    if (req->path_len)
        put_escaped(t, (struct piece){ bytes + req->path, req->path_len },
                    PATH_MOST);
    else
        TEXT_LITERAL(t, "*");
    text_string(t, ex->client->is_stream ? " HTTP/2.0"
                   : req->minor          ? " HTTP/1.1"
                                         : " HTTP/1.0");
}

static void put_field(struct text *t, struct piece p)
{
    TEXT_LITERAL(t, " \"");
    if (p.at)
        put_escaped(t, p, FIELD_MOST);
    else
        TEXT_LITERAL(t, "-");
    TEXT_LITERAL(t, "\"");
}

/* Without its query, like the request's: it may contain secrets. */
static struct piece referer_of(const struct exchange *ex)
{
    struct piece p = field_named(ex, "referer");
    const char *query = p.at ? memchr(p.at, '?', p.len) : NULL;
    if (query)
        p.len = (size_t)(query - p.at);
    return p;
}

void access_line_common(struct text *t, const struct exchange *ex,
                        const struct access_time *time, bool combined)
{
    bool whole = ex->req.head_len != 0;
    struct piece none = { NULL, 0 };

    put_address(t, ex->client);
    TEXT_LITERAL(t, " - - [");
    text_string(t, time->common);
    TEXT_LITERAL(t, "] \"");
    put_request_line(t, ex);
    put_count(t, "\" ", ex->status);
    TEXT_LITERAL(t, " ");
    if (ex->out_bytes)
        text_number(t, ex->out_bytes);
    else
        TEXT_LITERAL(t, "-");
    if (combined) {
        put_field(t, whole ? referer_of(ex) : none);
        put_field(t, whole ? field_of(ex, HTTP1_ID_USER_AGENT) : none);
    }
    TEXT_LITERAL(t, "\n");
}
