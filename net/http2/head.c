/* net/http2/head.c: fields of a head (RFC 9113, 8.2), checked and made text. */
#include "net/http2/head.h"

#include <string.h>

#include "net/http1/scan.h"
#include "net/http1/target.h"
#include "net/http2/frame.h"
#include "net/http2/head_pseudo.h"

uint32_t http2__partial_size(unsigned max_headers, unsigned max_bytes)
{
    /* A buffer's bytes may begin anywhere; `host` may come twice; the text ends
     * in an empty line. */
    return (uint32_t)(_Alignof(struct http2_partial) +
                      sizeof(struct http2_partial) +
                      (max_headers + 1) * sizeof(struct http1_field) +
                      2 * ((size_t)max_bytes + 16));
}

static struct http2_partial *place(struct net_buf *buf)
{
    uintptr_t align = _Alignof(struct http2_partial);
    uintptr_t off = (uintptr_t)buf->data % align;

    return (struct http2_partial *)(void *)(buf->data +
                                            (off ? align - off : 0));
}

bool http2__partial_begin(struct http2_conn *c, enum http2__kind kind,
                          bool asked_head)
{
    struct net_buf *buf = net_buf_take(&c->shared->heads);
    unsigned max_headers = c->conf->headers;
    struct http2_partial *p;

    if (!buf)
        return false;
    p = place(buf);
    memset(p, 0, sizeof *p);
    p->buf = buf;
    p->id = c->frame.id;
    p->kind = (uint8_t)kind;
    p->end = c->frame.flags & HTTP2__END_STREAM;
    p->lined = kind == HTTP2__TRAILER_HEAD;
    p->max_bytes = c->conf->header_bytes;
    p->text = (char *)(p->fields + max_headers + 1);
    p->values = p->text + p->max_bytes + 16;
    p->head.fields = p->fields;
    p->head.max_fields = (uint16_t)max_headers;
    p->head.minor = 1;
    p->head.keep_alive = true;
    p->head.asked = asked_head ? HTTP1_HEAD : HTTP1_METHOD_OTHER;
    c->partial = p;
    return true;
}

void http2__partial_drop(struct http2_conn *c)
{
    if (c->partial)
        net_buf_give(&c->shared->heads, c->partial->buf);
    c->partial = NULL;
}

/* ===== fields ===== */

static bool name_is_valid(const char *name, size_t len, bool *ret_underscore)
{
    *ret_underscore = false;
    if (len == 0 || http1__skip_token(name, 0, len, ret_underscore) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            return false;
    return true;
}

/* No control characters but tabs, and no outer blanks. */
static bool value_is_valid(const char *value, size_t len)
{
    const char *end = value + len;

    if (len == 0)
        return true;
    return value[0] != ' ' && value[0] != '\t' && end[-1] != ' ' &&
           end[-1] != '\t' && http1__skip_value(value, 0, len) == len;
}

/* A plain number, once; the same again says nothing new, but some would add
 * them up. */
static enum http2_why take_length(struct http1_head *h, const char *s, size_t n)
{
    uint64_t x = 0;

    if (h->has_length || n == 0 || n > 18)
        return HTTP2_WHY_LENGTH;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return HTTP2_WHY_LENGTH;
        x = x * 10 + (uint64_t)(s[i] - '0');
    }
    h->content_length = x;
    h->has_length = true;
    return HTTP2_WHY_NONE;
}

/* What the fields mean that have to do with the message as such. */
static enum http2_why check_known(struct http2_partial *p, unsigned id,
                                  const char *value, size_t len)
{
    struct http1_head *h = &p->head;

    if (p->kind == HTTP2__TRAILER_HEAD && http1__flags[id] & HTTP1_HEAD_ONLY)
        return HTTP2_WHY_TRAILER;
    switch (id) {
    case HTTP1_ID_CONNECTION:
    case HTTP1_ID_KEEP_ALIVE:
    case HTTP1_ID_PROXY_CONNECTION:
    case HTTP1_ID_TRANSFER_ENCODING:
    case HTTP1_ID_UPGRADE:
        return HTTP2_WHY_CONNECTION;
    case HTTP1_ID_TE:
        return HTTP1_IS_WORD(value, len, "trailers") ? HTTP2_WHY_NONE
                                                     : HTTP2_WHY_TE;
    case HTTP1_ID_CONTENT_LENGTH:
        return take_length(h, value, len);
    case HTTP1_ID_EXPECT:
        h->expect_continue = HTTP1_IS_WORD(value, len, "100-continue");
        return HTTP2_WHY_NONE;
    default:
        return HTTP2_WHY_NONE;
    }
}

static bool same_folded(const char *a, const char *b, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char x = a[i], y = b[i];

        if (x >= 'A' && x <= 'Z')
            x |= 0x20;
        if (y >= 'A' && y <= 'Z')
            y |= 0x20;
        if (x != y)
            return false;
    }
    return true;
}

/* True: it says what :authority does, and is left out. */
static bool is_host_again(struct http2_partial *p, const char *value,
                          size_t len)
{
    struct http1_head *h = &p->head;

    if (!http1__authority_valid(value, len, false))
        p->why = HTTP2_WHY_AUTHORITY;
    else if (p->named_host)
        p->why = HTTP2_WHY_HOST;
    p->named_host = 1;
    if (h->host_len == 0 || p->why)
        return false;
    if (h->host_len != len || !same_folded(p->text + h->host, value, len))
        p->why = HTTP2_WHY_HOST;
    return true;
}

/* RFC 9113, 8.2.3: pieces of a cookie are one field again. Nearly always they
 * follow each other; what is between moves. */
static void join_cookie(struct http2_partial *p, const char *value, size_t len)
{
    struct http1_field *f = &p->fields[p->cookie - 1];
    uint32_t at = (uint32_t)(f->value + f->value_len);
    uint32_t more = (uint32_t)len + 2;

    if (p->len + more + 2 > p->max_bytes) {
        p->error = HTTP1_EHEAD;
        return;
    }
    memmove(p->text + at + more, p->text + at, p->len - at);
    memcpy(p->text + at, "; ", 2);
    memcpy(p->text + at + 2, value, len);
    f->value_len = (uint16_t)(f->value_len + more);
    f->line_len = (uint16_t)(f->line_len + more);
    for (unsigned i = p->cookie; i < p->head.n_fields; i++) {
        p->fields[i].line = (uint16_t)(p->fields[i].line + more);
        p->fields[i].value = (uint16_t)(p->fields[i].value + more);
    }
    if (p->head.host >= at)
        p->head.host = (uint16_t)(p->head.host + more);
    p->len += more;
}

static void add_line(struct http2_partial *p, const char *name, size_t name_len,
                     const char *value, size_t value_len, unsigned id)
{
    struct http1_head *h = &p->head;
    char *to = p->text + p->len;
    size_t line_len = name_len + value_len + 4;

    if (h->n_fields == h->max_fields)
        p->error = HTTP1_EFIELDS;
    else if (p->len + line_len + 2 > p->max_bytes)
        p->error = HTTP1_EHEAD;
    if (p->error)
        return;
    h->fields[h->n_fields++] = (struct http1_field){
        .line = (uint16_t)p->len,
        .line_len = (uint16_t)line_len,
        .name_len = (uint16_t)name_len,
        .value = (uint16_t)(p->len + name_len + 2),
        .value_len = (uint16_t)value_len,
        .id = (uint8_t)id,
        .hop = http1__flags[id] & HTTP1_HOP,
    };
    h->seen |= UINT64_C(1) << id;
    memcpy(to, name, name_len);
    memcpy(to + name_len, ": ", 2);
    memcpy(to + name_len + 2, value, value_len);
    memcpy(to + name_len + 2 + value_len, "\r\n", 2);
    p->len += (uint32_t)line_len;
}

static void regular(struct http2_partial *p, const char *name, size_t name_len,
                    const char *value, size_t value_len)
{
    bool underscore;
    unsigned id;

    if (!name_is_valid(name, name_len, &underscore))
        p->why = HTTP2_WHY_NAME;
    else if (!value_is_valid(value, value_len))
        p->why = HTTP2_WHY_VALUE;
    if (!p->why && !p->lined)
        http2__first_line(p);
    if (p->why || p->error)
        return;
    id = underscore ? HTTP1_ID_UNDERSCORE : http1__known_id(name, name_len);
    p->why = (uint8_t)check_known(p, id, value, value_len);
    if (p->why)
        return;
    if (id == HTTP1_ID_HOST && p->kind == HTTP2__REQUEST_HEAD &&
        is_host_again(p, value, value_len))
        return;
    if (id == HTTP1_ID_COOKIE && p->cookie) {
        join_cookie(p, value, value_len);
        return;
    }
    if (p->why)
        return;
    add_line(p, name, name_len, value, value_len, id);
    if (p->error)
        return;
    if (id == HTTP1_ID_COOKIE) {
        p->cookie = p->head.n_fields;
    } else if (id == HTTP1_ID_HOST && p->kind == HTTP2__REQUEST_HEAD) {
        p->head.host = p->fields[p->head.n_fields - 1].value;
        p->head.host_len = (uint16_t)value_len;
    }
}

void http2__partial_field(struct http2_partial *p, const char *name,
                          size_t name_len, const char *value, size_t value_len)
{
    if (p->why || p->error || p->kind == HTTP2__NO_HEAD)
        return;
    if (name_len > 0 && name[0] == ':') {
        if (value_is_valid(value, value_len))
            http2__pseudo(p, name, name_len, value, value_len);
        else
            p->why = HTTP2_WHY_VALUE;
        return;
    }
    regular(p, name, name_len, value, value_len);
}

/* ===== the end ===== */

/* How long the body is (RFC 9113, 8.1.1). */
static void frame_body(struct http2_partial *p)
{
    struct http1_head *h = &p->head;
    bool response = p->kind == HTTP2__RESPONSE_HEAD;
    bool bodiless = response && (h->asked == HTTP1_HEAD || h->status == 304 ||
                                 h->status == 204 || h->status < 200);

    if (p->end && h->has_length && h->content_length > 0 && !bodiless)
        p->why = HTTP2_WHY_LENGTH_LIES;
    if (p->end && response && h->status < 200)
        p->why = HTTP2_WHY_STATUS;
    h->framing = p->end || bodiless      ? HTTP1_NO_BODY
                 : !h->has_length        ? HTTP1_CHUNKED
                 : h->content_length > 0 ? HTTP1_LENGTH
                                         : HTTP1_NO_BODY;
}

void http2__partial_finish(struct http2_partial *p)
{
    struct http1_head *h = &p->head;

    if (p->kind == HTTP2__NO_HEAD || p->why)
        return;
    if (!p->lined && !p->error)
        http2__first_line(p);
    if (p->why || p->error)
        return;
    if (p->kind == HTTP2__REQUEST_HEAD && h->host_len == 0)
        p->why = HTTP2_WHY_PSEUDO_MISSING;
    memcpy(p->text + p->len, "\r\n", 2);
    p->len += 2;
    h->head_len = (uint16_t)p->len;
    if (p->kind != HTTP2__TRAILER_HEAD && !p->why)
        frame_body(p);
}
