/* http2_nghttp2.c: nghttp2's session as a second opinion on our connection, with
 * traffic that is well formed, either side being either.
 *
 * The input says which requests are made: their fields, how long their bodies
 * are, padding, how the bytes are cut. Each is answered with its own fields and
 * as long a body, some with trailers. Neither side may find anything wrong, and
 * all of it must arrive. */
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http2/frame.h"
#include "net/http2/put.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 24, TEXT = 4096, BODY = 1 << 17 };

/* A request, as both sides see it. */
struct call {
    struct http2_stream stream; /* of ours; first */
    int32_t id;                 /* of nghttp2's stream */
    uint32_t body;              /* bytes that are asked with */
    uint32_t sent;              /* ... by nghttp2 */
    uint32_t taken;             /* ... by ours */
    uint32_t back;              /* bytes that came back */
    char sum[64];               /* of the fields asked with ... */
    char got[64];               /* ... and of those answered with */
    bool trailers, trailed;
    bool opened, complete, over, answered;
    uint64_t asked; /* bytes of the request that the server has seen */
};

struct world {
    const uint8_t *data;
    size_t size, at;
    struct http2_conn c;
    struct net_bufs bufs;
    struct http2_shared shared;
    nghttp2_session *session;
    struct call calls[CALLS];
    unsigned n_calls;
    bool ours_asks;
    uint8_t pad, cut;
};

static char bytes[BODY];

static void must(int truth)
{
    if (!truth)
        abort();
}

static unsigned next(struct world *w)
{
    return w->at < w->size ? w->data[w->at++] : 0;
}

/* A field whose value depends on what is asked: it comes back as it went. */
static void sum_field(char *sum, const char *name, size_t name_len,
                      const char *value, size_t len)
{
    uint64_t h = 14695981039346656037u;

    if (name_len != 3 || memcmp(name, "x-f", 3) != 0)
        return;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (uint8_t)value[i]) * 1099511628211u;
    snprintf(sum + strlen(sum), 64 - strlen(sum), "%u.", (unsigned)(h % 1000));
}

static size_t make_value(struct world *w, char *to)
{
    size_t n = next(w) % 60, k;

    if (n == 59)
        n = 900;
    for (k = 0; k < n; k++)
        to[k] = (char)(0x21 + next(w) % 94);
    return n;
}

/* ===== our side ===== */

static struct call *call_of(struct http2_stream *s)
{
    return (struct call *)s;
}

/* Sends what is left of a body, a piece at a time. */
static void send_some(struct call *k, uint32_t left)
{
    uint32_t n = left < 20000 ? left : 20000;

    http2_send(&k->stream, bytes, n, n == left && !k->trailers);
}

static void our_answer(struct call *k, const struct http2_head *h)
{
    k->answered = true;
    http2_head_begin(&k->stream);
    http2_put_status(&k->stream, 200);
    if (k->stream.id & 2)
        http2_put_lines(&k->stream, h->text + h->head->fields_at,
                        (size_t)(h->head->head_len - h->head->fields_at));
    for (unsigned i = 0; !(k->stream.id & 2) && i < h->head->n_fields; i++)
        http2_put_field(&k->stream, &h->head->fields[i], h->text);
    must(http2_head_end(&k->stream, k->body == 0 && !k->trailers) == 0);
}

static void our_end(struct call *k)
{
    http2_head_begin(&k->stream);
    http2_put(&k->stream, "x-t", 3, "1", 1);
    must(http2_head_end(&k->stream, true) == 0);
}

static void our_over(struct call *k)
{
    if (http2_is_over(&k->stream) && k->stream.conn) {
        k->over = true;
        http2_release(&k->stream, HTTP2_NO_ERROR);
    }
}

static void on_request(struct http2_conn *c, const struct http2_head *h)
{
    struct world *w = c->user;
    uint32_t id = (w->c.asking - 1) / 2;
    struct call *k = &w->calls[id];

    must(id < w->n_calls && !h->error);
    http2_accept(c, &k->stream);
    for (unsigned i = 0; i < h->head->n_fields; i++)
        sum_field(k->got, h->text + h->head->fields[i].line,
                  h->head->fields[i].name_len,
                  h->text + h->head->fields[i].value,
                  h->head->fields[i].value_len);
    must(strcmp(k->got, k->sum) == 0);
    k->got[0] = '\0';
    our_answer(k, h);
    if (k->body > 0)
        send_some(k, k->body);
    else if (k->trailers)
        our_end(k);
    our_over(k);
}

static void on_response(struct http2_stream *s, const struct http2_head *h)
{
    struct call *k = call_of(s);

    must(h->head->status == 200 && !h->error);
    for (unsigned i = 0; i < h->head->n_fields; i++)
        sum_field(k->got, h->text + h->head->fields[i].line,
                  h->head->fields[i].name_len,
                  h->text + h->head->fields[i].value,
                  h->head->fields[i].value_len);
    k->complete = h->end;
    our_over(k);
}

static void on_data(struct http2_stream *s, const char *got, size_t n, bool end)
{
    struct call *k = call_of(s);

    (void)got;
    k->asked += n;
    k->back += s->conn->role == HTTP2_CLIENT ? (uint32_t)n : 0;
    http2_consumed(s, n);
    k->complete |= end;
    our_over(k);
}

static void on_trailers(struct http2_stream *s, const struct http2_head *h)
{
    struct call *k = call_of(s);

    must(h->head->n_fields == 1);
    k->trailed = s->conn->role == HTTP2_CLIENT;
    k->complete = true;
    our_over(k);
}

static void on_taken(struct http2_stream *s, size_t n)
{
    struct call *k = call_of(s);

    k->taken += (uint32_t)n;
    if (s->piece_len == 0 && !(s->flags & HTTP2_OUT_ENDED)) {
        if (k->taken < k->body)
            send_some(k, k->body - k->taken);
        else if (k->trailers)
            our_end(k);
    }
    our_over(k);
}

static void on_closed(struct http2_stream *s, enum http2_end how, uint32_t code,
                      bool unprocessed)
{
    (void)s;
    (void)how;
    (void)code;
    (void)unprocessed;
    abort();
}

static const struct http2_calls calls = {
    .request = on_request,
    .response = on_response,
    .data = on_data,
    .trailers = on_trailers,
    .taken = on_taken,
    .closed = on_closed,
};

static void our_ask(struct world *w, struct call *k)
{
    char value[1024];
    unsigned fields = next(w) % 12;

    must(http2_open(&w->c, &k->stream));
    http2_head_begin(&k->stream);
    http2_put_request(
        &k->stream, &(struct http2_request){ .method = k->body ? "POST" : "GET",
                                             .method_len = k->body ? 4 : 3,
                                             .scheme = "https",
                                             .path = "/x?y",
                                             .path_len = 4,
                                             .authority = "a.b:1",
                                             .authority_len = 5 });
    for (unsigned i = 0; i < fields; i++) {
        size_t n = make_value(w, value);

        sum_field(k->sum, "x-f", 3, value, n);
        http2_put(&k->stream, "x-f", 3, value, n);
    }
    must(http2_head_end(&k->stream, k->body == 0 && !k->trailers) == 0);
    if (k->body > 0)
        send_some(k, k->body);
    else if (k->trailers)
        our_end(k);
}

/* ===== nghttp2's ===== */

static struct call *call_by_id(struct world *w, int32_t id)
{
    must(id > 0 && (unsigned)(id - 1) / 2 < w->n_calls);
    return &w->calls[(id - 1) / 2];
}

static ssize_t their_body(nghttp2_session *session, int32_t id, uint8_t *to,
                          size_t room, uint32_t *flags,
                          nghttp2_data_source *source, void *user)
{
    struct call *k = source->ptr;
    size_t n = k->body - k->sent < room ? k->body - k->sent : room;

    (void)user;
    memcpy(to, bytes, n);
    k->sent += (uint32_t)n;
    if (k->sent < k->body)
        return (ssize_t)n;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (k->trailers) {
        nghttp2_nv t = { (uint8_t *)"x-t", (uint8_t *)"1", 3, 1, 0 };

        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        must(nghttp2_submit_trailer(session, id, &t, 1) == 0);
    }
    return (ssize_t)n;
}

static int their_header(nghttp2_session *session, const nghttp2_frame *frame,
                        const uint8_t *name, size_t name_len,
                        const uint8_t *value, size_t len, uint8_t flags,
                        void *user)
{
    struct world *w = user;
    struct call *k = call_by_id(w, frame->hd.stream_id);

    (void)session;
    (void)flags;
    if (name_len == 3 && memcmp(name, "x-t", 3) == 0)
        k->trailed = !w->ours_asks;
    sum_field(k->got, (const char *)name, name_len, (const char *)value, len);
    return 0;
}

static int their_chunk(nghttp2_session *session, uint8_t flags, int32_t id,
                       const uint8_t *got, size_t len, void *user)
{
    struct world *w = user;
    struct call *k = call_by_id(w, id);

    (void)session;
    (void)flags;
    (void)got;
    k->back += w->ours_asks ? 0 : (uint32_t)len;
    return 0;
}

static void their_answer(struct world *w, struct call *k, int32_t id)
{
    nghttp2_nv nv[2] = {
        { (uint8_t *)":status", (uint8_t *)"200", 7, 3, 0 },
        { (uint8_t *)"x-g", (uint8_t *)k->got, 3, strlen(k->got), 0 },
    };
    nghttp2_data_provider body = { .source.ptr = k,
                                   .read_callback = their_body };

    must(strcmp(k->got, k->sum) == 0);
    must(nghttp2_submit_response(w->session, id, nv, 2,
                                 k->body || k->trailers ? &body : NULL) == 0);
}

static int their_frame(nghttp2_session *session, const nghttp2_frame *frame,
                       void *user)
{
    struct world *w = user;
    struct call *k;

    (void)session;
    must(frame->hd.type != NGHTTP2_RST_STREAM &&
         frame->hd.type != NGHTTP2_GOAWAY);
    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
        return 0;
    k = call_by_id(w, frame->hd.stream_id);
    k->complete = true;
    if (w->ours_asks)
        their_answer(w, k, frame->hd.stream_id);
    return 0;
}

static int their_invalid(nghttp2_session *session, const nghttp2_frame *frame,
                         int error, void *user)
{
    (void)session;
    (void)frame;
    (void)error;
    (void)user;
    abort();
}

static ssize_t their_padding(nghttp2_session *session,
                             const nghttp2_frame *frame, size_t most,
                             void *user)
{
    struct world *w = user;
    size_t n = frame->hd.length + w->pad;

    (void)session;
    return (ssize_t)(n < most ? n : most);
}

static void their_ask(struct world *w, struct call *k)
{
    static char values[16][1024];
    nghttp2_nv nv[20] = {
        { (uint8_t *)":method", (uint8_t *)"POST", 7, 4, 0 },
        { (uint8_t *)":scheme", (uint8_t *)"http", 7, 4, 0 },
        { (uint8_t *)":path", (uint8_t *)"/", 5, 1, 0 },
        { (uint8_t *)":authority", (uint8_t *)"a", 10, 1, 0 },
    };
    nghttp2_data_provider body = { .source.ptr = k,
                                   .read_callback = their_body };
    unsigned fields = next(w) % 12;

    for (unsigned i = 0; i < fields; i++) {
        size_t n = make_value(w, values[i]);

        sum_field(k->sum, "x-f", 3, values[i], n);
        nv[4 + i] = (nghttp2_nv){ (uint8_t *)"x-f", (uint8_t *)values[i], 3, n,
                                  (uint8_t)(next(w) & 1) };
    }
    k->id = nghttp2_submit_request(w->session, NULL, nv, 4 + fields,
                                   k->body || k->trailers ? &body : NULL, NULL);
    must(k->id > 0);
}

/* ===== both ===== */

static bool ours_to_theirs(struct world *w)
{
    struct iovec iov[HTTP2_IOV];
    bool any = false;
    int n;

    while ((n = http2_fill(&w->c, iov)) > 0) {
        size_t most = w->cut ? w->cut : iov[0].iov_len;
        size_t some = iov[0].iov_len < most ? iov[0].iov_len : most;

        must(nghttp2_session_mem_recv(w->session, iov[0].iov_base, some) ==
             (ssize_t)some);
        http2_written(&w->c, some);
        any = true;
    }
    return any;
}

static bool theirs_to_ours(struct world *w)
{
    const uint8_t *p;
    bool any = false;
    ssize_t n;

    while ((n = nghttp2_session_mem_send(w->session, &p)) > 0) {
        for (ssize_t at = 0; at < n;) {
            ssize_t some = w->cut && w->cut < n - at ? w->cut : n - at;

            must(http2_receive(&w->c, (const char *)p + at, (size_t)some, 1) ==
                 0);
            at += some;
        }
        any = true;
    }
    must(n == 0);
    return any;
}

static void pump(struct world *w)
{
    bool more = true;

    while (more) {
        more = ours_to_theirs(w);
        more |= theirs_to_ours(w);
    }
}

static void begin(struct world *w)
{
    static const struct http2_conf conf = HTTP2_CONF_INIT;
    nghttp2_session_callbacks *cb;
    nghttp2_settings_entry set[2] = {
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 + next(w) * 300u },
        { NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, next(w) * 20u },
    };

    w->ours_asks = next(w) & 1;
    w->pad = (uint8_t)next(w);
    w->cut = (uint8_t)next(w);
    net_bufs_init(&w->bufs, 1024, 0);
    http2_shared_init(&w->shared, &w->bufs, conf.headers, conf.header_bytes);
    must(http2_init(&w->c, w->ours_asks ? HTTP2_CLIENT : HTTP2_SERVER, &conf,
                    &calls, &w->shared, 1));
    w->c.user = w;
    must(nghttp2_session_callbacks_new(&cb) == 0);
    nghttp2_session_callbacks_set_on_header_callback(cb, their_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, their_chunk);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, their_frame);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(cb,
                                                                 their_invalid);
    nghttp2_session_callbacks_set_select_padding_callback(cb, their_padding);
    must((w->ours_asks ? nghttp2_session_server_new
                       : nghttp2_session_client_new)(&w->session, cb, w) == 0);
    nghttp2_session_callbacks_del(cb);
    must(nghttp2_submit_settings(w->session, 0, set, 2) == 0);
    pump(w);
}

static void check(const struct world *w)
{
    for (unsigned i = 0; i < w->n_calls; i++) {
        const struct call *k = &w->calls[i];

        must(k->complete && k->over && k->back == k->body);
        must(k->trailed == k->trailers);
        must(w->ours_asks || strcmp(k->sum, k->got) == 0);
    }
    must(w->c.n_streams == 0 && w->bufs.n_taken == 0);
    for (unsigned i = 1; i < HTTP2_WHYS_N; i++)
        must(w->shared.counts[i] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world w;

    memset(&w, 0, sizeof w);
    w.data = data;
    w.size = size;
    begin(&w);
    while (w.at < w.size && w.n_calls < CALLS) {
        struct call *k = &w.calls[w.n_calls++];
        unsigned how = next(&w);

        k->body = how & 1 ? next(&w) * 400u : how & 2 ? next(&w) : 0;
        k->trailers = how & 4;
        if (w.ours_asks)
            our_ask(&w, k);
        else
            their_ask(&w, k);
        if (how & 8)
            pump(&w);
    }
    pump(&w);
    check(&w);
    http2_lost(&w.c);
    http2_done(&w.c);
    http2_shared_done(&w.shared);
    nghttp2_session_del(w.session);
    return 0;
}
