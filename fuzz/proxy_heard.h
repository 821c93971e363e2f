/* proxy_heard.h: what the two sides of the sidecar hear must be HTTP.
 *
 *     struct heard client;
 *     heard_begin(&client, most_bytes, most_fields);   // of a request's head
 *     heard_client_says(&client, text, n);     // whatever it likes
 *     heard_client_hears(&client, bytes, n);   // aborts where it must not
 *
 * Of a client: each answer is well-formed by the strict parser, there is one for
 * each request and in its order, one more for what is no request, and nothing
 * behind an answer that closes. Of an endpoint: each request is well-formed, and
 * is not begun before the one before has been answered.
 *
 * What was said is read by the very parser that the sidecar has. Whether that is
 * right is for fuzz/http1.c to find out; here it is a ruler.
 *
 * Threads: owned. */
#ifndef BIDE_FUZZ_PROXY_HEARD_H
#define BIDE_FUZZ_PROXY_HEARD_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "net/http1/body.h"

enum {
    HEARD_BYTES = 1 << 17,
    HEARD_FIELDS = 300, /* as many as there may be, and what the sidecar adds */
    HEARD_REQUESTS = 512
};

/* Messages one behind the other. */
struct heard_stream {
    enum { HEARD_HEAD, HEARD_BODY, HEARD_OPAQUE } phase;
    bool broken;      /* no message, from here on */
    bool last;        /* the connection ends with the one that was read last */
    bool begun;       /* the head that is being read */
    unsigned heads, whole;
    size_t len;       /* bytes that are not used yet */
    struct http1_head head;
    struct http1_body body;
    struct http1_field fields[HEARD_FIELDS];
    char bytes[HEARD_BYTES];
};

/* One connection, from its other end. */
struct heard {
    struct heard_stream asked, told;
    unsigned most_bytes, most_fields; /* of a request's head */
    uint8_t method[HEARD_REQUESTS], minor[HEARD_REQUESTS];
    bool upgrade[HEARD_REQUESTS];
};

static void heard_must(bool truth)
{
    if (!truth)
        abort();
}

static void heard_stream_begin(struct heard_stream *s)
{
    s->phase = HEARD_HEAD;
    s->broken = s->last = s->begun = false;
    s->heads = s->whole = 0;
    s->len = 0;
}

static void heard_begin(struct heard *h, unsigned most_bytes,
                        unsigned most_fields)
{
    heard_stream_begin(&h->asked);
    heard_stream_begin(&h->told);
    h->most_bytes = most_bytes;
    h->most_fields = most_fields;
}

static void heard_use(struct heard_stream *s, size_t n)
{
    memmove(s->bytes, s->bytes + n, s->len - n);
    s->len -= n;
}

/* True: a whole body has been used. */
static bool heard_body(struct heard_stream *s)
{
    for (;;) {
        struct http1_piece piece;
        int rc = http1_body_next(&s->body, s->bytes, s->len, &piece);
        if (rc < 0) {
            s->broken = true;
            return false;
        }
        heard_use(s, piece.consumed);
        if (rc != HTTP1_DATA)
            return rc == HTTP1_END;
    }
}

/* True: a head has been read; `len` says how long it is. */
static bool heard_head(struct heard_stream *s, size_t *len)
{
    int rc = s->len ? http1_parse(&s->head, s->bytes, s->len) : 0;
    s->broken = rc < 0;
    *len = rc > 0 ? (size_t)rc : 0;
    return rc > 0;
}

static void heard_to_body(struct heard_stream *s, size_t head_len)
{
    s->phase = s->head.framing == HTTP1_TUNNEL ? HEARD_OPAQUE : HEARD_BODY;
    http1_body_init(&s->body, (enum http1_framing)s->head.framing,
                    s->head.content_length);
    heard_use(s, head_len);
}

/* True: a message is over, and another may begin. */
static bool heard_end_of_body(struct heard_stream *s)
{
    if (!heard_body(s))
        return false;
    s->phase = HEARD_HEAD;
    s->begun = false;
    s->last = !s->head.keep_alive;
    s->whole++;
    return true;
}

/* ===== requests ===== */

static void heard_note_request(struct heard *h)
{
    const struct http1_head *head = &h->asked.head;
    unsigned k = h->asked.heads++;
    heard_must(k < HEARD_REQUESTS);
    h->method[k] = head->method_id;
    h->minor[k] = head->minor;
    h->upgrade[k] = head->upgrade;
}

static void heard_requests(struct heard *h)
{
    struct heard_stream *s = &h->asked;
    size_t len;
    for (;;) {
        if (s->phase == HEARD_HEAD && !s->begun && s->len) {
            s->begun = true;
            http1_request_init(&s->head, s->fields, h->most_fields,
                               h->most_bytes);
        }
        if (s->phase == HEARD_HEAD) {
            if (!heard_head(s, &len))
                return;
            heard_note_request(h);
            heard_to_body(s, len);
        }
        if (s->phase == HEARD_OPAQUE || !heard_end_of_body(s))
            return;
    }
}

/* ===== answers ===== */

/* Which request it is for; a request that was none looks like GET. */
static void heard_begin_answer(struct heard *h)
{
    unsigned k = h->told.whole;
    bool known = k < h->asked.heads;
    h->told.begun = true;
    http1_response_init(
        &h->told.head, h->told.fields, HEARD_FIELDS, HTTP1_HEAD_MOST,
        known ? (enum http1_method)h->method[k] : HTTP1_GET,
        known && h->upgrade[k]);
}

static void heard_answers(struct heard *h)
{
    struct heard_stream *s = &h->told;
    size_t len;
    for (;;) {
        if (s->phase == HEARD_HEAD && !s->begun && s->len)
            heard_begin_answer(h);
        if (s->phase == HEARD_HEAD) {
            if (!heard_head(s, &len))
                return;
            if (s->head.status < 200 && s->head.status != 101) {
                heard_use(s, len);
                s->begun = false;
                continue;
            }
            s->heads++;
            heard_to_body(s, len);
        }
        if (s->phase == HEARD_OPAQUE || !heard_end_of_body(s))
            return;
    }
}

static void heard_add(struct heard_stream *s, const char *bytes, size_t n)
{
    heard_must(n <= sizeof s->bytes - s->len);
    memcpy(s->bytes + s->len, bytes, n);
    s->len += n;
}

/* ===== a client's end ===== */

/* It says something: what it likes. */
static void heard_client_says(struct heard *h, const char *bytes, size_t n)
{
    if (h->asked.broken || h->asked.phase == HEARD_OPAQUE)
        return;
    heard_add(&h->asked, bytes, n);
    heard_requests(h);
}

/* The head that has just been read. */
static void heard_check_answer(const struct heard *h)
{
    const struct http1_head *head = &h->told.head;
    unsigned k = h->told.heads - 1;
    heard_must(k <= h->asked.heads);
    if (k == h->asked.heads)
        heard_must(!head->keep_alive && head->status >= 400);
    else if (h->minor[k] == 0)
        heard_must(head->framing != HTTP1_CHUNKED);
}

static void heard_client_hears(struct heard *h, const char *bytes, size_t n)
{
    struct heard_stream *s = &h->told;
    unsigned before = s->heads;
    if (s->phase == HEARD_OPAQUE)
        return;
    heard_must(!s->last);
    heard_add(s, bytes, n);
    heard_answers(h);
    heard_must(!s->broken);
    heard_must(s->phase != HEARD_HEAD || !s->last || s->len == 0);
    if (s->heads != before)
        heard_check_answer(h);
}

/* ===== an endpoint's end ===== */

static void heard_endpoint_says(struct heard *h, const char *bytes, size_t n)
{
    if (h->told.broken || h->told.phase == HEARD_OPAQUE)
        return;
    heard_add(&h->told, bytes, n);
    if (h->asked.heads > 0) /* otherwise nobody asked */
        heard_answers(h);
}

static void heard_endpoint_hears(struct heard *h, const char *bytes, size_t n)
{
    struct heard_stream *s = &h->asked;
    unsigned before = s->heads;
    if (h->told.phase == HEARD_OPAQUE)
        return;
    heard_add(s, bytes, n);
    heard_requests(h);
    heard_must(!s->broken);
    /* One at a time, and only behind an answer that leaves the connection in a
     * known state. */
    heard_must(s->heads + (s->begun && s->phase == HEARD_HEAD) <= before + 1);
    if (s->heads != before && before > 0)
        heard_must(h->told.whole >= before && !h->told.broken &&
                   !h->told.last);
}

#endif
