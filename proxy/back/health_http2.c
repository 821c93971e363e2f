/* proxy/back/health_http2.c: one health check over HTTP/2. */
#include "proxy/back/health_http2.h"

#include <string.h>

#include "base/list.h"
#include "net/http2/put.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"

enum { SERVING = 1, BUFFER = 1024, HEADERS = 32, HEADER_BYTES = 4096 };

/* ===== what comes of it ===== */

/* HealthCheckResponse { ServingStatus status = 1; }, as protobuf and gRPC frame
 * it: not compressed, a length, a field. */
static bool says_serving(const struct health_http2 *g)
{
    static const uint8_t yes[] = { 0, 0, 0, 0, 2, 0x08, SERVING };

    return g->message_len == sizeof yes &&
           memcmp(g->message, yes, sizeof yes) == 0;
}

void health_http2_close(struct health_http2 *g)
{
    enum health_http2_phase phase = g->phase;

    g->phase = HEALTH_HTTP2_IDLE;
    net_timer_cancel(g->loop, &g->timer);
    if (phase == HEALTH_HTTP2_ASKED) {
        http2_release(&g->stream, HTTP2_CANCEL);
        http2_done(&g->http2);
        http2_shared_done(&g->shared);
        net_bufs_done(&g->bufs);
    }
    net_conn_close(&g->conn);
}

static void over(struct health_http2 *g, bool answered)
{
    health_http2_close(g);
    g->status = answered ? g->heard : 0;
    g->serving = g->status == 200 && g->grpc_status == 0 && says_serving(g);
    g->done(g);
}

static void read_status(struct health_http2 *g, const struct http2_head *h)
{
    const struct http1_field *f = http1_find(h->head, HTTP1_ID_GRPC_STATUS);

    if (f)
        g->grpc_status = f->value_len == 1 ? h->text[f->value] - '0' : 99;
}

/* ===== the answer ===== */

static struct health_http2 *of(struct http2_stream *s)
{
    return bide__container_of(s, struct health_http2, stream);
}

static void on_response(struct http2_stream *s, const struct http2_head *h)
{
    struct health_http2 *g = of(s);

    if (h->head->status < 200)
        return;
    g->heard = h->head->status;
    read_status(g, h);
    g->ended |= h->end;
}

static void on_data(struct http2_stream *s, const char *bytes, size_t n,
                    bool end)
{
    struct health_http2 *g = of(s);
    size_t room = sizeof g->message - g->message_len;
    size_t some = n < room ? n : room;

    memcpy(g->message + g->message_len, bytes, some);
    g->message_len += some;
    http2_consumed(s, n);
    g->ended |= end;
}

static void on_trailers(struct http2_stream *s, const struct http2_head *h)
{
    read_status(of(s), h);
    of(s)->ended = true;
}

static void on_taken(struct http2_stream *s, size_t n)
{
    (void)s;
    (void)n;
}

static void on_closed(struct http2_stream *s, enum http2_end how, uint32_t code,
                      bool unprocessed)
{
    (void)how;
    (void)code;
    (void)unprocessed;
    of(s)->lost = true;
}

static const struct http2_calls calls = {
    .response = on_response,
    .data = on_data,
    .trailers = on_trailers,
    .taken = on_taken,
    .closed = on_closed,
};

/* ===== its course ===== */

static bool flush(struct health_http2 *g)
{
    struct iovec iov[HTTP2_IOV];
    int n;

    while ((n = http2_fill(&g->http2, iov)) > 0) {
        ssize_t put = net_writev(&g->conn, iov, n);

        if (put == NET_AGAIN)
            return true;
        if (put < 0)
            return false;
        http2_written(&g->http2, (size_t)put);
    }
    return true;
}

static bool ask(struct health_http2 *g)
{
    static const struct http2_conf conf = {
        .streams = 1,
        .window = 65536,
        .connection_window = 65536,
        .headers = HEADERS,
        .header_bytes = HEADER_BYTES,
        .continuations = 1,
        .resets = 1,
        .resets_per_s = 1,
        .errors_per_min = 1,
        .control = 100,
        .control_per_s = 10,
        .unsent = 10,
        .settings_ns = INT64_C(1) << 62, /* the check has a deadline */
        .memory_bytes = 1 << 20,
    };
    const char *target = g->path ? g->path : "/grpc.health.v1.Health/Check";
    const struct http2_request request = {
        .method = g->path ? "GET" : "POST",
        .method_len = g->path ? 3 : 4,
        .scheme = g->https ? "https" : "http",
        .authority = g->authority,
        .authority_len = strlen(g->authority),
        .path = target,
        .path_len = strlen(target),
    };

    net_bufs_init(&g->bufs, BUFFER, 0);
    http2_shared_init(&g->shared, &g->bufs, HEADERS, HEADER_BYTES);
    g->stream = (struct http2_stream){ 0 };
    if (!http2_init(&g->http2, HTTP2_CLIENT, &conf, &calls, &g->shared,
                    g->loop->now_ns))
        return false;
    g->phase = HEALTH_HTTP2_ASKED;
    if (!http2_open(&g->http2, &g->stream))
        return false;
    http2_head_begin(&g->stream);
    http2_put_request(&g->stream, &request);
    http2_put(&g->stream, "user-agent", 10, "bide-health", 11);
    if (!g->path) {
        http2_put(&g->stream, "content-type", 12, "application/grpc", 16);
        http2_put(&g->stream, "te", 2, "trailers", 8);
    }
    if (http2_head_end(&g->stream, g->path != NULL) < 0)
        return false;
    if (!g->path)
        http2_send(&g->stream, (const char *)g->request, g->request_len, true);
    return true;
}

/* Reads what there is; false: it has ended. */
static bool hear(struct health_http2 *g)
{
    char buf[4096];

    while (net_can_read(&g->conn) && !g->ended && !g->lost) {
        ssize_t n = net_read(&g->conn, buf, sizeof buf);

        if (n == NET_AGAIN)
            return true;
        if (n <= 0 ||
            http2_receive(&g->http2, buf, (size_t)n, g->loop->now_ns) < 0)
            return false;
    }
    return true;
}

static void go_on(struct health_http2 *g)
{
    bool heard = hear(g);

    if (g->ended)
        over(g, true);
    else if (!heard || g->lost || !flush(g))
        over(g, false);
}

static void begin(struct health_http2 *g)
{
    if (ask(g))
        go_on(g);
    else
        over(g, false);
}

static void greet(struct health_http2 *g)
{
    const char *why = NULL;
    int rc = g->conn.layer->handshake(&g->conn, &why);

    if (rc == 1)
        begin(g);
    else if (rc != NET_AGAIN)
        over(g, false);
}

static void connected(struct health_http2 *g)
{
    if (!g->conn.writable)
        return;
    if (net_connect_result(g->conn.io.fd) != 0 || !g->connected(g)) {
        over(g, false);
        return;
    }
    g->https = g->conn.session != NULL;
    if (!g->https) {
        begin(g);
        return;
    }
    g->phase = HEALTH_HTTP2_GREETING;
    greet(g);
}

static void ready(struct net_io *io, unsigned events)
{
    struct health_http2 *g =
        bide__container_of(io, struct health_http2, conn.io);

    net_conn_note(&g->conn, events);
    if (g->phase == HEALTH_HTTP2_CONNECTING)
        connected(g);
    else if (g->phase == HEALTH_HTTP2_GREETING)
        greet(g);
    else if (g->phase == HEALTH_HTTP2_ASKED)
        go_on(g);
}

static void fire(struct net_timer *timer)
{
    over(bide__container_of(timer, struct health_http2, timer), false);
}

/* ===== beginning ===== */

void health_http2_init(struct health_http2 *g, struct net_loop *loop,
                       const char *authority)
{
    *g = (struct health_http2){ .loop = loop, .authority = authority };
    g->conn.io.fd = -1;
    g->timer.fire = fire;
}

void health_http2_service(struct health_http2 *g, const char *service)
{
    size_t n = strlen(service);
    uint8_t *p = g->request;

    if (n > HEALTH_SERVICE)
        n = HEALTH_SERVICE;
    /* HealthCheckRequest { string service = 1; }: absent if it is empty */
    p[4] = (uint8_t)(n ? n + 2 : 0);
    p[5] = 0x0a;
    p[6] = (uint8_t)n;
    memcpy(p + 7, service, n);
    g->request_len = 5 + p[4];
}

void health_http2_start(struct health_http2 *g, const struct net_address *to,
                        int64_t until_ns)
{
    g->ended = g->lost = g->serving = false;
    g->status = g->heard = 0;
    g->grpc_status = -1;
    g->message_len = 0;
    g->conn = (struct net_conn){ .io = { .ready = ready, .fd = net_connect(to) } };
    g->phase = HEALTH_HTTP2_CONNECTING;
    net_timer_set(g->loop, &g->timer, until_ns);
    if (g->conn.io.fd < 0 ||
        net_loop_add(g->loop, &g->conn.io, g->conn.io.fd) < 0)
        over(g, false);
}
