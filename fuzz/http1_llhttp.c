/* http1_llhttp.c: a second opinion. Whatever bide's parser accepts, llhttp
 * (which is what Node.js reads HTTP with) in its strict mode accepts too, and
 * sees the same message: method, target, version, header fields, length,
 * framing, body, and above all the same end. bide may refuse more; that is what
 * it is for.
 *
 * The first byte says whether it is a request or which response. Where the two
 * may differ is written down in `excused`, each case with its reason. */
#include "http1_text.h"
#include "net/http1/body.h"

#include <llhttp.h>

enum { MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

/* What one of the two makes of the input. */
struct view {
    unsigned method_len, target_len, status, minor, fields;
    uint64_t length;
    uint64_t names, values, data; /* sums of their bytes */
    size_t end;                   /* of the message, if it is complete */
    bool head, refused, complete, chunked, keep_alive, skip_body;
    bool close_hidden; /* excuses keep_alive */
    bool extended;     /* chunk extensions: excuse bad_size */
    bool bad_size;
};

/* The same for a piece as for its parts. */
static void sum_add(uint64_t *sum, const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        *sum = (*sum ^ (uint8_t)p[i]) * UINT64_C(0x100000001b3);
}

/* ===== bide ===== */

static void our_body(struct view *v, const struct http1_head *h,
                     const char *bytes, size_t len)
{
    struct http1_field fields[HTTP1_TRAILER_FIELDS];
    struct http1_body b;
    struct http1_piece piece;
    size_t at = h->head_len;
    int rc;

    http1_body_init(&b, (enum http1_framing)h->framing, h->content_length);
    http1_body_keep_trailer(&b, fields, HTTP1_TRAILER_FIELDS);
    do {
        rc = http1_body_next(&b, bytes + at, len - at, &piece);
        if (rc < 0) {
            v->refused = true;
            return;
        }
        sum_add(&v->data, bytes + at + piece.data, piece.data_len);
        at += piece.consumed;
    } while (rc == HTTP1_DATA);
    v->complete = rc == HTTP1_END;
    v->end = at;
    v->extended = b.ext_bytes > 0;
}

static void our_fields(struct view *v, const struct http1_head *h,
                       const char *bytes)
{
    for (unsigned i = 0; i < h->n_fields; i++) {
        const struct http1_field *f = &h->fields[i];

        sum_add(&v->names, bytes + f->line, f->name_len);
        sum_add(&v->values, bytes + f->value, f->value_len);
    }
    v->fields = h->n_fields;
}

/* Where llhttp keeps a connection that is to be closed: with "keep-alive,
 * close" in HTTP/1.0, though close wins in RFC 9112, 9.3; and with a tab beside
 * an option, which it takes for a part of it. */
static bool close_hidden(const struct http1_head *h, const char *bytes)
{
    bool tab = false;

    for (unsigned i = 0; i < h->n_fields; i++)
        if (h->fields[i].id == HTTP1_ID_CONNECTION)
            tab |= memchr(bytes + h->fields[i].line, '\t',
                          h->fields[i].line_len) != NULL;
    return tab || (h->minor == 0 && h->close_named);
}

/* 0 if the head was not accepted. */
static int our_view(struct view *v, struct http1_head *h, const char *bytes,
                    size_t len)
{
    if (http1_parse(h, bytes, len) <= 0)
        return 0;
    v->head = true;
    v->method_len = h->method_len;
    v->target_len = h->target_len;
    v->status = h->status;
    v->minor = h->minor;
    v->length = h->content_length;
    v->chunked = http1_has(h, HTTP1_ID_TRANSFER_ENCODING);
    v->keep_alive = h->keep_alive;
    v->close_hidden = close_hidden(h, bytes);
    our_fields(v, h, bytes);
    our_body(v, h, bytes, len);
    return 1;
}

/* ===== llhttp ===== */

static struct view *view_of(llhttp_t *p)
{
    return p->data;
}

static int on_target(llhttp_t *p, const char *at, size_t len)
{
    (void)at;
    view_of(p)->target_len += (unsigned)len;
    return 0;
}

static int on_method(llhttp_t *p, const char *at, size_t len)
{
    (void)at;
    view_of(p)->method_len += (unsigned)len;
    return 0;
}

static int on_name(llhttp_t *p, const char *at, size_t len)
{
    if (!view_of(p)->head)
        sum_add(&view_of(p)->names, at, len);
    return 0;
}

static int on_name_complete(llhttp_t *p)
{
    if (!view_of(p)->head)
        view_of(p)->fields++;
    return 0;
}

/* Blanks at the end of a value are handed on by llhttp; they are left out of
 * the sum when its end is known. */
static char value[MOST];
static size_t value_len;

static int on_value(llhttp_t *p, const char *at, size_t len)
{
    (void)p;
    must(value_len + len <= sizeof value);
    memcpy(value + value_len, at, len);
    value_len += len;
    return 0;
}

static int on_value_complete(llhttp_t *p)
{
    while (value_len > 0 &&
           (value[value_len - 1] == ' ' || value[value_len - 1] == '\t'))
        value_len--;
    if (!view_of(p)->head)
        sum_add(&view_of(p)->values, value, value_len);
    value_len = 0;
    return 0;
}

/* Tells it, as one must, that a response to HEAD has no body. */
static int on_head(llhttp_t *p)
{
    struct view *v = view_of(p);

    v->head = true;
    v->status = p->type == HTTP_RESPONSE ? (unsigned)p->status_code : 0;
    v->minor = p->http_minor;
    v->length = p->content_length;
    v->chunked = (p->flags & F_CHUNKED) != 0;
    return v->skip_body ? 1 : 0;
}

static int on_data(llhttp_t *p, const char *at, size_t len)
{
    sum_add(&view_of(p)->data, at, len);
    return 0;
}

static int on_complete(llhttp_t *p)
{
    view_of(p)->complete = true;
    view_of(p)->keep_alive = llhttp_should_keep_alive(p);
    return HPE_PAUSED;
}

static void their_view(struct view *v, const char *bytes, size_t len,
                       bool request)
{
    llhttp_settings_t settings;
    llhttp_t parser;

    llhttp_settings_init(&settings);
    settings.on_method = on_method;
    settings.on_url = on_target;
    settings.on_header_field = on_name;
    settings.on_header_field_complete = on_name_complete;
    settings.on_header_value = on_value;
    settings.on_header_value_complete = on_value_complete;
    settings.on_headers_complete = on_head;
    settings.on_body = on_data;
    settings.on_message_complete = on_complete;
    value_len = 0;
    llhttp_init(&parser, request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    parser.data = v;
    v->bad_size = llhttp_execute(&parser, bytes, len) == HPE_INVALID_CHUNK_SIZE;
    if (v->complete)
        v->end = (size_t)(llhttp_get_error_pos(&parser) - bytes);
}

/* ===== the two together ===== */

/* Whether the two may differ, and why. */
static bool excused(const struct http1_head *h, bool request)
{
    /* llhttp knows a fixed list of methods; bide takes any token. */
    if (request && h->method_id == HTTP1_METHOD_OTHER)
        return true;
    /* What follows is another protocol; llhttp says so at the request, bide
     * when the other side has agreed. */
    if (h->upgrade || h->method_id == HTTP1_CONNECT ||
        h->framing == HTTP1_TUNNEL)
        return true;
    /* llhttp reads a body behind 1xx, 204 and 304 if one is announced. By RFC
     * 9112, 6.3 there is none. */
    return !request &&
           (h->has_length || http1_has(h, HTTP1_ID_TRANSFER_ENCODING)) &&
           (h->status < 200 || h->status == 204 || h->status == 304);
}

static void compare(const struct view *ours, const struct view *theirs)
{
    must(theirs->head);
    must(ours->method_len == theirs->method_len);
    must(ours->target_len == theirs->target_len);
    must(ours->status == theirs->status);
    must(ours->minor == theirs->minor);
    must(ours->fields == theirs->fields);
    must(ours->names == theirs->names && ours->values == theirs->values);
    must(ours->length == theirs->length || ours->chunked);
    must(ours->chunked == theirs->chunked);
    if (ours->refused) /* the body: llhttp may take it */
        return;
    /* "1;a=b;c": this llhttp does not see the second extension coming. */
    if (ours->extended && theirs->bad_size)
        return;
    must(ours->complete == theirs->complete);
    if (!ours->complete)
        return;
    must(ours->end == theirs->end);
    must(ours->data == theirs->data);
    must(ours->keep_alive == theirs->keep_alive || ours->close_hidden);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http1_field fields[HTTP1_FIELDS];
    struct view ours = { 0 }, theirs = { 0 };
    struct http1_head h;

    if (size < 2 || size > MOST)
        return 0;
    const char *bytes = (const char *)data + 1;
    bool request = data[0] % 4 < 2;
    bool head_asked = data[0] % 4 == 3;
    if (request)
        http1_request_init(&h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
    else
        http1_response_init(&h, fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES,
                            head_asked ? HTTP1_HEAD : HTTP1_GET, false);
    if (!our_view(&ours, &h, bytes, size - 1) || excused(&h, request))
        return 0;
    theirs.skip_body = head_asked;
    their_view(&theirs, bytes, size - 1, request);
    compare(&ours, &theirs);
    return 0;
}
