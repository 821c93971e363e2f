/* The response: held back while another attempt may replace it, then delivered
 * or dropped; a good one that is too long to hold is streamed. */
#include "curl/answer.h"

#include <stdlib.h>
#include <string.h>

#include "curl/classify.h"
#include "curl/request.h"
#include "curl/transfer.h"

enum { HEAD_MAX = 64 * 1024, HOLD_MAX = 1024 * 1024, FIRST_CAP = 512 };

/* ===== bytes ===== */

static bool grow(struct bide__bytes *b, size_t len)
{
    size_t cap = b->cap ? b->cap : FIRST_CAP;
    while (cap < len)
        cap *= 2;
    char *at = realloc(b->lent ? NULL : b->at, cap);
    if (!at)
        return false;
    if (b->lent)
        memcpy(at, b->at, b->len);
    b->at = at;
    b->cap = cap;
    b->lent = false;
    return true;
}

static bool append(struct bide__bytes *b, const char *data, size_t len)
{
    if (len > b->cap - b->len && !grow(b, b->len + len))
        return false;
    memcpy(b->at + b->len, data, len);
    b->len += len;
    return true;
}

static void trim(struct bide__bytes *b)
{
    bool slack = b->len && b->len < b->cap && !b->lent;
    char *at = slack ? realloc(b->at, b->len) : NULL;
    if (at) {
        b->at = at;
        b->cap = b->len;
    }
}

static void release(struct bide__bytes *b)
{
    if (b->at && !b->lent)
        free(b->at);
}

void bide__answer_trim(struct bide__answer *a)
{
    trim(&a->head);
    trim(&a->body);
}

void bide__answer_free(struct bide__answer *a)
{
    release(&a->head);
    release(&a->body);
    *a = (struct bide__answer){ .head = { 0 } };
}

/* ===== handing over ===== */

static bool give_body(struct bide__curl_call *c, char *data, size_t len)
{
    const struct bide__handle *h = &c->handle;
    while (len > 0) { /* in pieces no larger than libcurl's own */
        size_t n = len < CURL_MAX_WRITE_SIZE ? len : CURL_MAX_WRITE_SIZE;
        if (h->write(data, 1, n, h->write_ctx) != n)
            return false;
        data += n;
        len -= n;
    }
    return true;
}

/* Line by line, like libcurl. */
static bool give_head(struct bide__curl_call *c, const struct bide__bytes *b)
{
    char *at = b->at, *end = b->at + b->len;
    while (at < end) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((newline ? newline + 1 : end) - at);
        if (c->handle.header(at, 1, n, c->handle.header_ctx) != n)
            return false;
        at += n;
    }
    return true;
}

bool bide__answer_deliver(struct bide__curl_call *c,
                          const struct bide__answer *a)
{
    return (a->head.len == 0 || give_head(c, &a->head)) &&
           (a->body.len == 0 || give_body(c, a->body.at, a->body.len));
}

/* ===== taking in ===== */

/* Returns whether the response that has begun is the call's last unless it
 * breaks off, judging by its status and header alone. */
static bool is_last_word(struct bide__transfer *t)
{
    bide__note_method(t);
    const struct bide__facts facts = { .method = t->call->method,
                                       .status_only = true };
    bide_outcome out = bide__curl_classify(t->call->dep, t->easy, CURLE_OK,
                                           &facts);
    return out.cls == BIDE_SUCCESS || out.cls == BIDE_PERMANENT;
}

/* From here on it is the call's only transfer: one that runs beside it is
 * stopped; one that did the same before has won. */
static bool pass_on(struct bide__transfer *t)
{
    struct bide__curl_call *c = t->call;
    if (c->committed)
        return false;
    c->committed = t;
    t->passing = true;
    if (c->wake)
        c->wake(c);
    bool taken = bide__answer_deliver(c, &t->answer);
    bide__answer_free(&t->answer);
    return taken;
}

static size_t hold_max(const struct bide__curl_call *c)
{
    return c->opts->hold_max ? c->opts->hold_max : HOLD_MAX;
}

static size_t hold(struct bide__transfer *t, char *data, size_t len)
{
    if (append(&t->answer.body, data, len))
        return len;
    t->starved = true;
    return 0;
}

size_t bide__answer_write(char *data, size_t size, size_t n, void *transfer)
{
    struct bide__transfer *t = transfer;
    size_t len = size * n, room = hold_max(t->call) - t->answer.body.len;
    if (t->cut)
        return len;
    if (!t->passing && len <= room)
        return hold(t, data, len);
    if (!t->passing && !is_last_word(t)) {
        t->cut = true;
        return hold(t, data, room) == room ? len : 0;
    }
    if (!t->passing && !pass_on(t))
        return 0;
    return give_body(t->call, data, len) ? len : 0;
}

/* Responses that lead to another request (a redirect, a 100) are passed on as
 * well; as much of all of them is kept as fits. */
static size_t hold_line(struct bide__transfer *t, char *data, size_t len,
                        bool first)
{
    struct bide__bytes *head = &t->answer.head;
    if (first && head->len > HEAD_MAX / 2)
        head->len = 0;
    if (head->len + len > HEAD_MAX || append(head, data, len))
        return len;
    t->starved = true;
    return 0;
}

/* Of "HTTP/1.1 503 Busy" or "HTTP/2 503"; 0 if it does not look like that. */
static int status_of(const char *line, size_t len)
{
    size_t at = line[6] == '.' ? 9 : 7;
    int status = 0;
    if (len < at + 4 || line[at - 1] != ' ')
        return 0;
    for (size_t i = at; i < at + 3; i++) {
        if (line[i] < '0' || line[i] > '9')
            return 0;
        status = status * 10 + (line[i] - '0');
    }
    return status;
}

/* A status line, or the first line of a protocol without one. On a connection
 * that was opened after the request was sent it is a proxy's response to
 * CONNECT, which says nothing about the request. */
static void begin_head(struct bide__transfer *t, const char *line, size_t len)
{
    t->in_head = len > 6 && memcmp(line, "HTTP/", 5) == 0;
    t->status = t->in_head ? status_of(line, len) : 0;
    bool interim = t->status >= 100 && t->status < 200;
    if (!interim && bide__curl_connects(t->easy) == t->connects)
        t->answered = true;
    if (t->status < 200 || t->status > 299)
        bide__note_method(t);
}

size_t bide__answer_header(char *data, size_t size, size_t n, void *transfer)
{
    struct bide__transfer *t = transfer;
    size_t len = size * n;
    bool first = !t->in_head && t->status < 200; /* else a trailer */
    if (first)
        begin_head(t, data, len);
    else if (data[0] == '\r' || data[0] == '\n')
        t->in_head = false;
    const struct bide__handle *h = &t->call->handle;
    if (!h->header)
        return len;
    if (!t->passing && h->takes_body) /* else the body would come first */
        return hold_line(t, data, len, first);
    return h->header(data, 1, len, h->header_ctx);
}
