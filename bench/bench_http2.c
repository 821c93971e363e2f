/* HTTP/2 without I/O: what a request costs, and what an idle connection holds,
 * ours beside a session of nghttp2's in the same run.
 *
 * The requests are those of h2load, 32 at once, each answered with four fields and
 * a few bytes; the bar is to need less of either than nghttp2. */
#include "bench.h"

#include <malloc.h>
#include <nghttp2/nghttp2.h>

#include "net/http2/put.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"

enum { BATCH = 32, BATCHES = 300, CONNS = 200, FRAMES = 64, ROOM = 1 << 21 };

static uint8_t requests[BATCHES][8192]; /* of a connection, batch by batch */
static size_t requests_len[BATCHES];
static uint8_t upload[ROOM];
static size_t upload_len;
static const char ok[] = "hello\n";

/* ===== ours ===== */

struct item {
    struct http2_stream stream;
    struct item *next;
};

static struct item *spare;
static struct net_bufs bufs;
static struct http2_shared shared;
static const struct http2_conf conf = HTTP2_CONF_INIT;

static void on_request(struct http2_conn *c, const struct http2_head *h)
{
    struct item *i = spare;

    if (i)
        spare = i->next;
    else
        i = malloc(sizeof *i);
    memset(i, 0, sizeof *i);
    http2_accept(c, &i->stream);
    if (!h->end)
        return;
    http2_head_begin(&i->stream);
    http2_put_status(&i->stream, 200);
    http2_put(&i->stream, "server", 6, "nginx", 5);
    http2_put(&i->stream, "date", 4, "Mon, 16 Nov 2026 08:00:00 GMT", 29);
    http2_put(&i->stream, "content-type", 12, "text/plain", 10);
    http2_put(&i->stream, "content-length", 14, "6", 1);
    http2_head_end(&i->stream, false);
    http2_send(&i->stream, ok, 6, true);
}

static void give_back(struct http2_stream *s)
{
    struct item *i = (struct item *)s;

    http2_release(s, HTTP2_NO_ERROR);
    i->next = spare;
    spare = i;
}

static void on_data(struct http2_stream *s, const char *bytes, size_t n,
                    bool end)
{
    (void)bytes;
    http2_consumed(s, n);
    if (end)
        give_back(s);
}

static void on_taken(struct http2_stream *s, size_t n)
{
    (void)n;
    if (http2_is_over(s))
        give_back(s);
}

static void on_closed(struct http2_stream *s, enum http2_end how, uint32_t code,
                      bool unprocessed)
{
    (void)how;
    (void)code;
    (void)unprocessed;
    give_back(s);
}

static void on_trailers(struct http2_stream *s, const struct http2_head *h)
{
    (void)s;
    (void)h;
}

static const struct http2_calls calls = {
    .request = on_request,
    .data = on_data,
    .trailers = on_trailers,
    .taken = on_taken,
    .closed = on_closed,
};

static void our_drain(struct http2_conn *c)
{
    struct iovec iov[HTTP2_IOV];
    int n;

    while ((n = http2_fill(c, iov)) > 0) {
        size_t sum = 0;

        for (int i = 0; i < n; i++)
            sum += iov[i].iov_len;
        http2_written(c, sum);
    }
}

static void our_feed(struct http2_conn *c, const uint8_t *p, size_t n)
{
    if (http2_receive(c, (const char *)p, n, 1) < 0)
        abort();
    our_drain(c);
}

static double our_requests(void)
{
    struct http2_conn c;
    int64_t start = bench_clock_ns();

    if (!http2_init(&c, HTTP2_SERVER, &conf, &calls, &shared, 1))
        abort();
    for (int i = 0; i < BATCHES; i++)
        our_feed(&c, requests[i], requests_len[i]);
    http2_done(&c);
    return (double)(bench_clock_ns() - start) / (BATCH * BATCHES);
}

static double our_upload(void)
{
    struct http2_conn c;
    int64_t start = bench_clock_ns();

    if (!http2_init(&c, HTTP2_SERVER, &conf, &calls, &shared, 1))
        abort();
    for (size_t at = 0; at < upload_len; at += 16384)
        our_feed(&c, upload + at,
                 upload_len - at < 16384 ? upload_len - at : 16384);
    http2_done(&c);
    return (double)(bench_clock_ns() - start) / (double)upload_len;
}

/* ===== nghttp2's ===== */

static nghttp2_session_callbacks *callbacks;

static ssize_t their_body(nghttp2_session *session, int32_t id, uint8_t *to,
                          size_t room, uint32_t *flags,
                          nghttp2_data_source *source, void *user)
{
    (void)session;
    (void)id;
    (void)room;
    (void)source;
    (void)user;
    memcpy(to, ok, 6);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    return 6;
}

static int their_header(nghttp2_session *session, const nghttp2_frame *frame,
                        const uint8_t *name, size_t name_len,
                        const uint8_t *value, size_t len, uint8_t flags,
                        void *user)
{
    (void)session;
    (void)frame;
    (void)name_len;
    (void)len;
    (void)flags;
    (void)user;
    bench_use(name);
    bench_use(value);
    return 0;
}

#define NV(name, value)                                                        \
    {                                                                          \
        (uint8_t *)name, (uint8_t *)value, sizeof(name) - 1,                   \
            sizeof(value) - 1,                                                 \
            NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE       \
    }

static int their_frame(nghttp2_session *session, const nghttp2_frame *frame,
                       void *user)
{
    static nghttp2_nv nv[] = { NV(":status", "200"), NV("server", "nginx"),
                               NV("date", "Mon, 16 Nov 2026 08:00:00 GMT"),
                               NV("content-type", "text/plain"),
                               NV("content-length", "6") };
    nghttp2_data_provider body = { .read_callback = their_body };

    (void)user;
    if (frame->hd.type == NGHTTP2_HEADERS &&
        frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        nghttp2_submit_response(session, frame->hd.stream_id, nv, 5, &body);
    return 0;
}

static int their_chunk(nghttp2_session *session, uint8_t flags, int32_t id,
                       const uint8_t *got, size_t len, void *user)
{
    (void)session;
    (void)flags;
    (void)id;
    (void)len;
    (void)user;
    bench_use(got);
    return 0;
}

static nghttp2_session *their_new(void)
{
    nghttp2_settings_entry set = { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                   100 };
    nghttp2_session *session;

    if (nghttp2_session_server_new(&session, callbacks, NULL) != 0)
        abort();
    nghttp2_submit_settings(session, 0, &set, 1);
    return session;
}

static void their_feed(nghttp2_session *session, const uint8_t *p, size_t n)
{
    const uint8_t *out;

    if (nghttp2_session_mem_recv(session, p, n) != (ssize_t)n)
        abort();
    while (nghttp2_session_mem_send(session, &out) > 0)
        bench_use(out);
}

static double their_requests(void)
{
    int64_t start = bench_clock_ns();
    nghttp2_session *session = their_new();

    for (int i = 0; i < BATCHES; i++)
        their_feed(session, requests[i], requests_len[i]);
    nghttp2_session_del(session);
    return (double)(bench_clock_ns() - start) / (BATCH * BATCHES);
}

static double their_upload(void)
{
    int64_t start = bench_clock_ns();
    nghttp2_session *session = their_new();

    for (size_t at = 0; at < upload_len; at += 16384)
        their_feed(session, upload + at,
                   upload_len - at < 16384 ? upload_len - at : 16384);
    nghttp2_session_del(session);
    return (double)(bench_clock_ns() - start) / (double)upload_len;
}

/* ===== what is fed ===== */

static size_t put_frame(uint8_t *p, size_t n, uint8_t type, uint8_t flags,
                        uint32_t id)
{
    const uint8_t head[9] = { (uint8_t)(n >> 16),
                              (uint8_t)(n >> 8),
                              (uint8_t)n,
                              type,
                              flags,
                              (uint8_t)(id >> 24),
                              (uint8_t)(id >> 16),
                              (uint8_t)(id >> 8),
                              (uint8_t)id };

    memcpy(p, head, 9);
    return 9 + n;
}

static size_t put_greeting(uint8_t *p)
{
    size_t at = 24;

    memcpy(p, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    at += put_frame(p + at, 0, 4, 0, 0);
    return at + put_frame(p + at, 0, 4, 1, 0);
}

static size_t put_head(nghttp2_hd_deflater *d, uint8_t *p, uint8_t flags,
                       uint32_t id)
{
    static nghttp2_nv nv[] = { NV(":method", "GET"), NV(":scheme", "http"),
                               NV(":path", "/api/v1/items/42"),
                               NV(":authority", "127.0.0.1:8080"),
                               NV("user-agent", "h2load nghttp2/1.52.0") };
    ssize_t n = nghttp2_hd_deflate_hd(d, p + 9, 512, nv, 5);

    if (n < 0)
        abort();
    return put_frame(p, (size_t)n, 1, flags, id);
}

static void make_input(void)
{
    nghttp2_hd_deflater *d;
    uint32_t id = 1;

    nghttp2_hd_deflate_new(&d, 4096);
    requests_len[0] = put_greeting(requests[0]);
    for (int i = 0; i < BATCHES; i++)
        for (int k = 0; k < BATCH; k++, id += 2)
            requests_len[i] +=
                put_head(d, requests[i] + requests_len[i], 5, id);
    nghttp2_hd_deflate_del(d);
    nghttp2_hd_deflate_new(&d, 4096);
    upload_len = put_greeting(upload);
    upload_len += put_head(d, upload + upload_len, 4, 1);
    for (int i = 0; i < FRAMES; i++)
        upload_len +=
            put_frame(upload + upload_len, 16384, 0, i + 1 == FRAMES, 1);
    nghttp2_hd_deflate_del(d);
}

/* ===== memory ===== */

static size_t in_use(void)
{
    return mallinfo2().uordblks;
}

/* Idle connections that have served a batch. */
static double our_memory(void)
{
    static struct http2_conn *c[CONNS];
    size_t before = in_use(), spent;

    for (int i = 0; i < CONNS; i++) {
        c[i] = malloc(sizeof *c[i]);
        if (!http2_init(c[i], HTTP2_SERVER, &conf, &calls, &shared, 1))
            abort();
        our_feed(c[i], requests[0], requests_len[0]);
    }
    spent = in_use() - before;
    for (int i = 0; i < CONNS; i++) {
        http2_done(c[i]);
        free(c[i]);
    }
    return (double)spent / CONNS;
}

static double their_memory(void)
{
    static nghttp2_session *s[CONNS];
    size_t before = in_use(), spent;

    for (int i = 0; i < CONNS; i++) {
        s[i] = their_new();
        their_feed(s[i], requests[0], requests_len[0]);
    }
    spent = in_use() - before;
    for (int i = 0; i < CONNS; i++)
        nghttp2_session_del(s[i]);
    return (double)spent / CONNS;
}

static double hpack_memory(void)
{
    static nghttp2_hd_deflater *d[CONNS];
    static nghttp2_hd_inflater *f[CONNS];
    size_t before = in_use(), spent;

    for (int i = 0; i < CONNS; i++) {
        nghttp2_hd_deflate_new(&d[i], 4096);
        nghttp2_hd_inflate_new(&f[i]);
    }
    spent = in_use() - before;
    for (int i = 0; i < CONNS; i++) {
        nghttp2_hd_deflate_del(d[i]);
        nghttp2_hd_inflate_del(f[i]);
    }
    return (double)spent / CONNS;
}

/* ===== the table ===== */

static void print_pair(const struct bench_row *ours,
                       const struct bench_row *theirs, const char *unit,
                       double scale)
{
    double a = bench_median(ours->ns), b = bench_median(theirs->ns);

    printf("  %-34s %8.2f %8.2f %s  bar: below: %s\n", ours->name, a * scale,
           b * scale, unit, bench_verdict(a < b));
}

int main(void)
{
    static struct bench_row rows[] = {
        { "a request and its answer", our_requests, { 0 } },
        { "nghttp2", their_requests, { 0 } },
        { "16 KiB of a body", our_upload, { 0 } },
        { "nghttp2", their_upload, { 0 } },
    };
    double ours, theirs;

    bench_pin(0);
    net_bufs_init(&bufs, 16384 + 1024, 8);
    http2_shared_init(&shared, &bufs, conf.headers, conf.header_bytes);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, their_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                         their_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              their_chunk);
    make_input();
    our_memory();
    ours = our_memory();
    theirs = their_memory();
    bench_run(rows, 4);
    for (int i = 0; i < 4; i++)
        bench_sort(rows[i].ns);
    printf("http2, without I/O, median of %d rounds: ours, nghttp2's session\n",
           BENCH_ROUNDS);
    print_pair(&rows[0], &rows[1], "ns", 1);
    print_pair(&rows[2], &rows[3], "ns", 16384);
    printf("  %-34s %8.0f %8.0f bytes  bar: below 4900: %s\n",
           "an idle connection holds", ours, theirs,
           bench_verdict(ours < 4900));
    printf("  %-34s %8s %8.0f bytes\n", "(of that, an HPACK pair)", "",
           hpack_memory());
    return 0;
}
