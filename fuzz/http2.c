/* http2.c: what a peer sends, any bytes, to either role; cut into pieces in
 * different ways.
 *
 * The first byte says which role and how the owner behaves, the second where to
 * cut. All ways of cutting come to the same bytes; what is written is whole
 * frames; heads that were accepted are what HTTP/1.1's parser would accept, too;
 * the connection never holds more than it may; and when all has ended it holds
 * nothing. */
#include <stdlib.h>
#include <string.h>

#include "net/http2/drain.h"
#include "net/http2/frame.h"
#include "net/http2/put.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STREAMS = 8, MOST = 1 << 16, BUF = 1024 };

enum {
    CLIENT = 1,  /* bits of the first byte */
    HOLD = 2,    /* consumes nothing */
    EARLY = 4,   /* answers before the request is complete */
    LARGE = 8,   /* ... with much */
    CANCEL = 16, /* releases as soon as there is something */
    SHUT = 32,   /* shuts down in the middle */
    TINY = 64,   /* writes a few bytes at a time */
    SLOW = 128,  /* writes only at the end */
};

struct item {
    struct http2_stream stream; /* first */
    struct item *next;
    bool answered, ended;
};

struct world {
    struct http2_conn c;
    struct net_bufs bufs;
    struct http2_shared shared;
    struct item *items;
    uint8_t mode;
    uint64_t hash;
    size_t written;
    uint8_t head[9]; /* of the frame that is being written */
    size_t in_head, in_body;
};

static char body[40000];

static void must(int truth)
{
    if (!truth)
        abort();
}

/* ===== the owner ===== */

static void drop(struct world *w, struct item *i, enum http2_code code)
{
    struct item **at = &w->items;

    while (*at != i)
        at = &(*at)->next;
    *at = i->next;
    http2_release(&i->stream, code);
    free(i);
}

static void answer(struct world *w, struct item *i)
{
    if (i->answered || i->stream.flags & HTTP2_DEAD)
        return;
    i->answered = true;
    http2_head_begin(&i->stream);
    http2_put_status(&i->stream, 200);
    http2_put(&i->stream, "x-a", 3, body, w->mode & LARGE ? 3000 : 3);
    if (http2_head_end(&i->stream, false) == 0)
        http2_send(&i->stream, body, w->mode & LARGE ? sizeof body : 5, true);
}

static void check_fields(const struct http2_head *h)
{
    unsigned at = h->head->fields_at;

    for (unsigned i = 0; i < h->head->n_fields; i++) {
        const struct http1_field *f = &h->head->fields[i];

        must(f->line == at);
        must(h->text[f->line + f->name_len] == ':');
        must(f->id == http1_name_id(h->text + f->line, f->name_len));
        must(!memchr(h->text + f->line, '\r', f->line_len - 2u));
        must(!memchr(h->text + f->line, '\n', f->line_len - 2u));
        must(!memchr(h->text + f->line, '\0', f->line_len));
        at += f->line_len;
    }
    must(h->error || at + 2u == h->head->head_len);
}

static void check_request(const struct http2_head *h)
{
    struct http1_field fields[101];
    struct http1_head again;

    check_fields(h);
    if (h->error || h->protocol || !h->end ||
        http1_has(h->head, HTTP1_ID_EXPECT))
        return; /* HTTP/1.1 frames bodies, tunnels and expectations itself */
    http1_request_init(&again, fields, 101, HTTP1_HEAD_MOST);
    must(http1_parse(&again, h->text, h->head->head_len) == h->head->head_len);
    must(again.n_fields == h->head->n_fields);
    must(again.seen == h->head->seen);
    must(again.host == h->head->host || h->head->form == HTTP1_AUTHORITY);
    must(again.path == h->head->path && again.path_len == h->head->path_len);
}

static void add(struct world *w, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w->hash = (w->hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

static void on_request(struct http2_conn *c, const struct http2_head *h)
{
    struct world *w = c->user;
    struct item *i;

    check_request(h);
    add(w, h->text, h->head->head_len);
    if (h->head->method_len == 6) /* DELETE */
        return;
    i = calloc(1, sizeof *i);
    must(i != NULL);
    i->next = w->items;
    w->items = i;
    http2_accept(c, &i->stream);
    i->ended = h->end;
    if (h->end || h->error || w->mode & EARLY)
        answer(w, i);
}

static void on_response(struct http2_stream *s, const struct http2_head *h)
{
    struct world *w = s->conn->user;

    must(h->error || (h->head->status >= 100 && h->head->status != 101));
    check_fields(h);
    add(w, h->text, h->head->head_len);
}

static void on_trailers(struct http2_stream *s, const struct http2_head *h)
{
    struct world *w = s->conn->user;

    check_fields(h);
    add(w, h->text, h->head->head_len);
    if (w->c.role == HTTP2_SERVER)
        answer(w, (struct item *)s);
}

static void on_data(struct http2_stream *s, const char *bytes, size_t n,
                    bool end)
{
    struct world *w = s->conn->user;

    add(w, bytes, n);
    must(w->c.unconsumed <= w->c.conf->memory_bytes);
    if (!(w->mode & HOLD))
        http2_consumed(s, s->unconsumed);
    if (w->mode & CANCEL)
        drop(w, (struct item *)s, HTTP2_CANCEL);
    else if (end && w->c.role == HTTP2_SERVER)
        answer(w, (struct item *)s);
}

static void on_taken(struct http2_stream *s, size_t n)
{
    struct world *w = s->conn->user;

    (void)n;
    if (s->piece_len == 0 && http2_is_over(s))
        drop(w, (struct item *)s, HTTP2_NO_ERROR);
}

static void on_closed(struct http2_stream *s, enum http2_end how, uint32_t code,
                      bool unprocessed)
{
    struct world *w = s->conn->user;
    uint8_t what[3] = { (uint8_t)how, (uint8_t)code, unprocessed };

    if (!(w->mode & SLOW))
        add(w, what, 2);
    if (!(w->mode & HOLD))
        drop(w, (struct item *)s, HTTP2_CANCEL);
}

static const struct http2_calls calls = {
    .request = on_request,
    .response = on_response,
    .data = on_data,
    .trailers = on_trailers,
    .taken = on_taken,
    .closed = on_closed,
};

/* ===== what it writes ===== */

/* Frames, each no longer than any peer takes. */
static void check_written(struct world *w, const uint8_t *p, size_t n)
{
    while (n > 0) {
        if (w->in_body > 0) {
            size_t some = n < w->in_body ? n : w->in_body;

            w->in_body -= some;
            p += some;
            n -= some;
            continue;
        }
        w->head[w->in_head++] = *p++;
        n--;
        if (w->in_head == 9) {
            struct http2_frame f = http2__get_frame(w->head);

            must(f.len <= 16384 && f.type <= HTTP2__CONTINUATION);
            w->in_body = f.len;
            w->in_head = 0;
        }
    }
}

static void write_all(struct world *w)
{
    struct iovec iov[HTTP2_IOV];
    int n;

    while ((n = http2_fill(&w->c, iov)) > 0) {
        size_t put = 0, most = w->mode & TINY ? 7 : SIZE_MAX;

        for (int i = 0; i < n && put < most; i++) {
            size_t some = iov[i].iov_len;

            if (some > most - put)
                some = most - put;
            must(iov[i].iov_len > 0);
            check_written(w, iov[i].iov_base, some);
            put += some;
        }
        w->written += put;
        http2_written(&w->c, put);
    }
    must(w->c.n_refs == 0);
}

/* ===== one way of cutting ===== */

static void ask(struct world *w)
{
    for (int k = 0; k < 3 && http2_may_open(&w->c) > 0; k++) {
        struct item *i = calloc(1, sizeof *i);

        must(i != NULL);
        must(http2_open(&w->c, &i->stream));
        i->next = w->items;
        w->items = i;
        http2_head_begin(&i->stream);
        http2_put_request(&i->stream, &(struct http2_request){
                                          .method = k == 1 ? "HEAD" : "POST",
                                          .method_len = 4,
                                          .scheme = "http",
                                          .path = "/",
                                          .path_len = 1,
                                          .authority = "a",
                                          .authority_len = 1 });
        http2_head_end(&i->stream, k == 1);
        if (k == 2)
            http2_send(&i->stream, body, 5000, true);
    }
}

static void begin(struct world *w, uint8_t mode)
{
    static const char settings[] = "\0\0\0\4\0\0\0\0\0"
                                   "\0\0\0\4\1\0\0\0\0";
    static const struct http2_conf conf = HTTP2_CONF_INIT;

    memset(w, 0, sizeof *w);
    w->mode = mode;
    w->hash = 14695981039346656037u;
    net_bufs_init(&w->bufs, BUF, 0);
    http2_shared_init(&w->shared, &w->bufs, conf.headers, conf.header_bytes);
    must(http2_init(&w->c, mode & CLIENT ? HTTP2_CLIENT : HTTP2_SERVER, &conf,
                    &calls, &w->shared, 1));
    w->c.user = w;
    if (mode & CLIENT)
        w->in_body = HTTP2_PREFACE;
    else
        must(http2_receive(&w->c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                           HTTP2_PREFACE, 1) == 0);
    must(http2_receive(&w->c, settings, sizeof settings - 1, 1) == 0);
    write_all(w);
    if (mode & CLIENT)
        ask(w);
}

static void end(struct world *w)
{
    write_all(w);
    must(w->c.broken || (w->in_head == 0 && w->in_body == 0));
    http2_lost(&w->c);
    while (w->items)
        drop(w, w->items, HTTP2_CANCEL);
    http2_done(&w->c);
    must(w->bufs.n_taken == 0 && w->shared.heads.n_taken == 0);
    http2_shared_done(&w->shared);
    net_bufs_done(&w->bufs);
}

static uint64_t play(uint8_t mode, const uint8_t *data, size_t size, size_t cut)
{
    struct world w;
    size_t at = 0;

    begin(&w, mode);
    while (at < size) {
        size_t n = cut && cut < size - at ? cut : size - at;
        char *exact = malloc(n);

        must(exact != NULL);
        memcpy(exact, data + at, n);
        at += n;
        if (http2_receive(&w.c, exact, n, 1) < 0)
            at = size;
        free(exact);
        if (!(mode & SLOW))
            write_all(&w);
        if (mode & SHUT && at > size / 2)
            http2_shutdown(&w.c, 1);
    }
    end(&w);
    return w.hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t whole;

    if (size < 2 || size > MOST)
        return 0;
    memset(body, 'b', sizeof body);
    whole = play(data[0], data + 2, size - 2, 0);
    /* When it is written decides when streams end: only SLOW is the same. */
    if ((data[0] & (SLOW | SHUT | CANCEL)) == SLOW && size < 4096) {
        must(play(data[0], data + 2, size - 2, 1) == whole);
        must(play(data[0], data + 2, size - 2, 1 + data[1] % 40u) == whole);
    } else {
        play(data[0], data + 2, size - 2, 1 + data[1] % 40u);
    }
    return 0;
}
