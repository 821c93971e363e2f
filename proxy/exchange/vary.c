/* Vary: which requests a copy of a response fits. */
#include "proxy/exchange/vary.h"

#include <string.h>
#include <strings.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/attempt_io.h"
#include "proxy/exchange/cacheable.h"
#include "proxy/exchange/exchange.h"
#include "proxy/generation.h"

enum { NAMES_MAX = 16 };

/* ===== what the endpoint saw ===== */

/* Fields that are written or changed on the way: their values do not follow
 * from what the client sent. One that ends in - is a prefix. */
static bool is_ours(const struct exchange *ex, const char *name, size_t len)
{
    static const char *const ours[] = {
        "x-forwarded-", "x-bide-",     "forwarded",   "via",
        "x-request-id", "traceparent", "tracestate",  "idempotency-key",
        "connection",   "upgrade",     "max-forwards", "baggage"
    };
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        size_t n = strlen(ours[i]);
        if ((len == n || (len > n && ours[i][n - 1] == '-')) &&
            strncasecmp(name, ours[i], n) == 0)
            return true;
    }
    return !ex->generation->conf->forwarded.keep_host && len == 4 &&
           strncasecmp(name, "host", 4) == 0;
}

/* "accept-encoding: gzip\n": a field of the request that a copy depends on. A
 * field that is not passed on counts as absent. */
static void put_line(struct text *t, const struct exchange *ex,
                     const char *name, size_t len)
{
    const char *bytes = exchange_bytes(ex), *before = " ";
    const struct http1_field *f = NULL;
    uint64_t drop = request_dropped(ex);
    text_lower(t, name, len);
    TEXT_LITERAL(t, ":");
    while ((f = cacheable_field(&ex->req, bytes, name, len, f))) {
        if (f->hop || (f->id && drop >> f->id & 1))
            continue;
        text_string(t, before);
        text_put(t, bytes + f->value, f->value_len);
        before = ", ";
    }
    TEXT_LITERAL(t, "\n");
}

bool vary_write(struct text *t, const struct attempt *a)
{
    const char *bytes = net_buf_at(a->in), *name;
    const struct http1_field *f = NULL;
    unsigned n = 0;
    size_t len;
    while ((f = cacheable_field(&a->resp, bytes, "vary", 4, f))) {
        const char *at = bytes + f->value;
        while (cacheable_member(&at, bytes + f->value + f->value_len, &name,
                                &len)) {
            if (*name == '*' || is_ours(a->ex, name, len) || ++n > NAMES_MAX)
                return false;
            put_line(t, a->ex, name, len);
        }
    }
    return !t->full;
}

/* ===== whom it fits ===== */

static bool line_fits(const struct exchange *ex, const char *line, size_t len)
{
    char now[1024];
    struct text t = { now, now + sizeof now, false };
    const char *colon = memchr(line, ':', len);
    put_line(&t, ex, line, colon ? (size_t)(colon - line) : len);
    return !t.full && (size_t)(t.at - now) == len &&
           memcmp(now, line, len) == 0;
}

bool vary_fits(const struct stale_copy *c, const struct exchange *ex)
{
    const char *at = stale_vary(c), *end = at + c->shape.vary_len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = newline ? (size_t)(newline + 1 - at) : (size_t)(end - at);
        if (!line_fits(ex, at, len))
            return false;
        at += len;
    }
    return true;
}
