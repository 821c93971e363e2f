/* How far a request may go: Max-Forwards and Via. */
#include "proxy/exchange/hops.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/text.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum {
    NOT_ONE = -1,
    MOST = 1000000 /* a larger number is passed on as this */
};

void hops_name(struct proxy *p)
{
    uint32_t id;
    if (getrandom(&id, sizeof id, 0) != (ssize_t)sizeof id)
        id = (uint32_t)bide_now_ns();
    snprintf(p->name, sizeof p->name, "bide-%08x", (unsigned)id);
}

/* ===== Max-Forwards ===== */

/* Other methods are not counted (RFC 9110, 7.6.2: "MAY ignore"). */
static bool is_counted(const struct http1_head *req)
{
    return http1_has(req, HTTP1_ID_MAX_FORWARDS) &&
           (req->method_id == HTTP1_TRACE || req->method_id == HTTP1_OPTIONS);
}

static int64_t number_of(const char *digits, size_t len)
{
    int64_t n = len == 0 ? NOT_ONE : 0;
    for (size_t i = 0; i < len; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return NOT_ONE;
        n = n * 10 + (digits[i] - '0');
        n = n > MOST ? MOST : n;
    }
    return n;
}

/* A field that occurs twice is ambiguous. */
static int64_t hops_left(const struct exchange *ex)
{
    const char *bytes = exchange_bytes(ex);
    int64_t left = NOT_ONE;
    bool seen = false;
    for (unsigned i = 0; i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        if (f->id != HTTP1_ID_MAX_FORWARDS)
            continue;
        if (seen)
            return NOT_ONE;
        seen = true;
        left = number_of(bytes + f->value, f->value_len);
    }
    return left;
}

/* A TRACE is not reflected: it may contain cookies and credentials that other
 * hops added, which a page that makes a browser send it must not see. */
static void be_the_last(struct exchange *ex)
{
    if (ex->req.method_id == HTTP1_TRACE)
        own_answer_with(ex, 405, "max_forwards", "Method Not Allowed",
                        "Max-Forwards is 0, and TRACE is not answered here");
    else
        own_answer_with(ex, 204, "max_forwards", "No Content", "");
}

/* ===== Via ===== */

static bool has_been_here(const struct exchange *ex)
{
    const char *bytes = exchange_bytes(ex), *name = ex->worker->proxy->name;
    size_t len = strlen(name);
    for (unsigned i = 0; len != 0 && i < ex->req.n_fields; i++) {
        const struct http1_field *f = &ex->fields[i];
        if (f->id == HTTP1_ID_VIA &&
            memmem(bytes + f->value, f->value_len, name, len))
            return true;
    }
    return false;
}

void hops_put_via(struct text *t, const struct exchange *ex, enum hops_by by)
{
    if (by == HOPS_BY_HTTP2)
        TEXT_LITERAL(t, "Via: 2 ");
    else if (by == HOPS_BY_HTTP11)
        TEXT_LITERAL(t, "Via: 1.1 ");
    else
        TEXT_LITERAL(t, "Via: 1.0 ");
    text_put(t, ex->worker->proxy->name, sizeof "bide-00000000" - 1);
    TEXT_LITERAL(t, "\r\n");
}

/* ===== both ===== */

bool hops_allow(struct exchange *ex)
{
    if (http1_has(&ex->req, HTTP1_ID_VIA) && has_been_here(ex)) {
        own_answer(ex, &(struct own_answer){
                           .status = 508,
                           .problem = "loop",
                           .title = "Loop Detected",
                           .detail = "the request has been here before: an "
                                     "endpoint leads back to this sidecar",
                           .refusal = true,
                           .retry_ns = BIDE_FOREVER });
        return false;
    }
    if (!is_counted(&ex->req))
        return true;
    int64_t left = hops_left(ex);
    if (left > 0)
        return true;
    if (left == 0)
        be_the_last(ex);
    else
        own_answer_with(ex, 400, "max_forwards", "Bad Request",
                        "Max-Forwards is not one plain number");
    return false;
}

uint64_t hops_dropped(const struct exchange *ex)
{
    return is_counted(&ex->req) ? UINT64_C(1) << HTTP1_ID_MAX_FORWARDS : 0;
}

void hops_put(struct text *t, const struct exchange *ex)
{
    if (is_counted(&ex->req)) {
        TEXT_LITERAL(t, "Max-Forwards: ");
        text_number(t, (uint64_t)(hops_left(ex) - 1));
        TEXT_LITERAL(t, "\r\n");
    }
    if (ex->generation->conf->forwarded.via)
        hops_put_via(t, ex,
                     ex->client->is_stream ? HOPS_BY_HTTP2
                     : ex->req.minor       ? HOPS_BY_HTTP11
                                           : HOPS_BY_HTTP10);
}
