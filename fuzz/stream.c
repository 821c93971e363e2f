/* stream.c: streams of HTTP/2 as connections that carry HTTP/1.1 (net/stream), in either
 * role, with a peer that sends any bytes.
 *
 * The first byte says which role, how the owners behave and how the connection ends, the
 * second how much is read at a time. Whatever came: what an owner reads is a head that
 * HTTP/1.1's parser accepts, and a body that it frames; and when all has ended, nothing is
 * held. */
#include <stdlib.h>
#include <string.h>

#include "net/http1/body.h"
#include "net/stream/mux.h"
#include "net/stream/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OWNERS = 8, TEXT = 1 << 15, FIELDS = 128, ROUNDS = 40, WORD = 5 };

enum {
    CLIENT = 1,  /* bits of the first byte */
    EARLY = 2,   /* answers when the head is there */
    STALL = 4,   /* reads no more than a little */
    TINY = 8,    /* a few bytes at a time can be written */
    ENDS = 16,   /* the peer closes in the end */
    LEAVES = 32, /* owners leave when they have seen a head */
    DRAINS = 64, /* the connection is to end */
    OFFERS = 128 /* server's SETTINGS: extended CONNECT */
};

struct owner {
    struct net_conn conn; /* first: events refer to it */
    bool used, told, upgrade, half;
    uint8_t asked; /* enum http1_method */
    const char *out;
    size_t out_len;
    size_t len;
    char text[TEXT];
};

static struct {
    const uint8_t *at; /* what the peer sends */
    size_t left, piece;
    unsigned flags;
    bool over;
    struct owner owners[OWNERS];
} world;

static struct net_loop loop;
static struct net_bufs bufs;
static struct mux_shared shared;

static int64_t began_ns;

static int64_t no_time(void)
{
    return began_ns;
}

/* ===== the connection below ===== */

static ssize_t below_read(struct net_conn *c, void *buf, size_t n)
{
    size_t part = world.left < world.piece ? world.left : world.piece;
    if (part > n)
        part = n;
    if (part == 0) {
        c->readable = false;
        return world.flags & ENDS ? 0 : NET_AGAIN;
    }
    memcpy(buf, world.at, part);
    world.at += part;
    world.left -= part;
    return (ssize_t)part;
}

static ssize_t below_writev(struct net_conn *c, const struct iovec *iov, int n)
{
    size_t all = 0;
    (void)c;
    for (int i = 0; i < n; i++)
        all += iov[i].iov_len;
    return world.flags & TINY && all > 7 ? 7 : (ssize_t)all;
}

static void below_nothing(struct net_conn *c)
{
    (void)c;
}

static const struct net_layer below_layer = {
    .read = below_read,
    .writev = below_writev,
    .shutdown = below_nothing,
    .free = below_nothing,
};

/* ===== what an owner has read ===== */

static void must(bool what)
{
    if (!what)
        abort();
}

static void begin_head(const struct owner *o, struct http1_head *h,
                       struct http1_field *fields)
{
    if (world.flags & CLIENT)
        http1_response_init(h, fields, FIELDS, HTTP1_HEAD_MOST,
                            (enum http1_method)o->asked, o->upgrade);
    else
        http1_request_init(h, fields, FIELDS, HTTP1_HEAD_MOST);
}

static void check_body(const struct http1_head *h, const char *text, size_t len)
{
    struct http1_body body;
    struct http1_piece piece;
    int rc = HTTP1_DATA;
    http1_body_init(&body, (enum http1_framing)h->framing, h->content_length);
    while (rc == HTTP1_DATA) {
        rc = http1_body_next(&body, text, len, &piece);
        must(rc >= 0 && piece.consumed <= len);
        text += piece.consumed;
        len -= piece.consumed;
    }
}

/* True: a final head is there. */
static bool check(struct owner *o, struct http1_head *h)
{
    struct http1_field fields[FIELDS];
    const struct stream *s = stream_of(&o->conn);
    size_t at = 0;
    if (s && s->error)
        return false;
    for (;;) {
        begin_head(o, h, fields);
        int rc = http1_parse(h, o->text + at, o->len - at);
        must(rc >= 0);
        if (rc == 0)
            return false;
        at += (size_t)rc;
        if (!(world.flags & CLIENT) || h->status >= 200 || h->status == 101)
            break;
    }
    check_body(h, o->text + at, o->len - at);
    return true;
}

/* ===== owners ===== */

static const char plain[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
static const char chunks[] =
    "HTTP/1.1 103 Early\r\nlink: a\r\n\r\n"
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5\r\nhello\r\n0\r\ngrpc-status: 0\r\n\r\n";
static const char switches[] =
    "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: x\r\n\r\nbytes";

/* What a client asks, and by which method. */
static const struct {
    const char *text;
    uint8_t method;
    bool upgrade;
} asks[] = {
    { "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP1_GET, false },
    { "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", HTTP1_POST,
      false },
    { "GET /c HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\n"
      "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\n\r\n",
      HTTP1_GET, true },
    { "HEAD /d HTTP/1.1\r\nHost: x\r\n\r\n", HTTP1_HEAD, false },
    { "POST /e HTTP/1.1\r\nHost: x\r\nContent-Type: application/grpc\r\n"
      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx: y\r\n\r\n",
      HTTP1_POST, false },
};
enum { ASKS = sizeof asks / sizeof asks[0] };

static void leave(struct owner *o)
{
    o->used = false;
    net_conn_close(&o->conn);
}

static void write_some(struct owner *o)
{
    while (o->out_len > 0) {
        ssize_t n = net_write(&o->conn, o->out, o->out_len);
        if (n == NET_AGAIN)
            return;
        if (n < 0) {
            o->out_len = 0;
            return;
        }
        o->out += n;
        o->out_len -= (size_t)n;
    }
    if (o->told && o->upgrade && !o->half) {
        o->half = true;
        net_conn_shutdown(&o->conn);
    }
}

static void answer(struct owner *o, const struct http1_head *h)
{
    if (o->told)
        return;
    o->told = true;
    o->upgrade = h->upgrade && h->framing == HTTP1_NO_BODY;
    o->out = o->upgrade ? switches : world.flags & EARLY ? chunks : plain;
    o->out_len = strlen(o->out);
    if (h->method_id == HTTP1_HEAD)
        o->out_len -= world.flags & EARLY ? 0 : WORD;
}

static void on_ready(struct net_io *io, unsigned events)
{
    struct owner *o = (struct owner *)io;
    struct http1_head h;
    size_t most = world.flags & STALL ? TEXT / 64 : TEXT - 1;
    ssize_t n = 1;
    net_conn_note(&o->conn, events);
    while (net_can_read(&o->conn) && o->len < most && n > 0) {
        n = net_read(&o->conn, o->text + o->len, (most - o->len) / 2 + 1);
        if (n > 0)
            o->len += (size_t)n;
    }
    if (check(o, &h)) {
        if (world.flags & LEAVES) {
            leave(o);
            return;
        }
        if (!(world.flags & CLIENT))
            answer(o, &h);
        else
            o->told = true;
    }
    write_some(o);
    if (n == 0 || n == NET_ERROR)
        leave(o);
}

static struct owner *new_owner(void)
{
    for (int i = 0; i < OWNERS; i++) {
        struct owner *o = &world.owners[i];
        if (o->used)
            continue;
        memset(o, 0, offsetof(struct owner, text));
        o->used = true;
        o->conn.io = (struct net_io){ .ready = on_ready, .fd = -1 };
        return o;
    }
    return NULL;
}

static struct net_conn *on_accept(struct mux *m)
{
    struct owner *o = new_owner();
    (void)m;
    return o ? &o->conn : NULL;
}

static void on_eased(struct mux *m)
{
    (void)m;
}

static void on_over(struct mux *m, bool broken)
{
    (void)broken;
    (void)m;
    world.over = true;
}

static const struct mux_calls calls = {
    .accept = on_accept,
    .eased = on_eased,
    .over = on_over,
};

static void ask_all(struct mux *m)
{
    for (unsigned i = 0; i < ASKS && mux_may_open(m) > 0; i++) {
        struct owner *o = new_owner();
        if (!o)
            return;
        o->asked = asks[i].method;
        o->upgrade = asks[i].upgrade;
        o->out = asks[i].text;
        o->out_len = strlen(o->out);
        if (!mux_open(m, &o->conn)) {
            o->used = false;
            return;
        }
        write_some(o);
    }
}

/* ===== all of it ===== */

static void end(void)
{
    mux_shared_done(&shared);
    net_bufs_done(&bufs);
    net_loop_done(&loop);
}

static void begin(void)
{
    if (bufs.size)
        return;
    must(atexit(end) == 0);
    must(net_loop_init(&loop) == 0);
    began_ns = loop.now_ns;
    loop.clock_ns = no_time;
    net_bufs_init(&bufs, 4096, 8);
    bufs.max_taken = 4096;
    mux_shared_init(&shared, &loop, &bufs, FIELDS - 8, 8192);
}

/* What every peer begins with, so that the rest is not in vain. */
static void greet(struct mux *m)
{
    static const char client[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                 "\0\0\0\4\0\0\0\0\0";
    static const char server[] = "\0\0\6\4\0\0\0\0\0\0\x08\0\0\0\1";
    static const char silent[] = "\0\0\0\4\0\0\0\0\0";
    if (!(world.flags & CLIENT))
        mux_feed(m, client, sizeof client - 1);
    else if (world.flags & OFFERS)
        mux_feed(m, server, sizeof server - 1);
    else
        mux_feed(m, silent, sizeof silent - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http2_conf conf = HTTP2_CONF_INIT;
    struct net_conn conn = { .io.fd = -1,
                             .session = &world,
                             .layer = &below_layer,
                             .readable = true,
                             .writable = true };
    if (size < 2)
        return 0;
    begin();
    world.flags = data[0];
    world.piece = data[1] ? data[1] : 1;
    world.at = data + 2;
    world.left = size - 2;
    world.over = false;
    conf.headers = FIELDS - 8;
    conf.header_bytes = 8192;
    struct mux *m =
        mux_new(&shared, world.flags & CLIENT ? HTTP2_CLIENT : HTTP2_SERVER,
                &conf, &calls, &conn);
    must(m != NULL);
    greet(m);
    if (world.flags & CLIENT)
        ask_all(m);
    for (int i = 0; i < ROUNDS && !world.over; i++) {
        conn.readable = conn.writable = true;
        mux_ready(m);
        net_loop_poll(&loop);
        if (i == ROUNDS / 2 && world.flags & DRAINS && !world.over)
            mux_drain(m);
    }
    mux_close(m);
    for (int i = 0; i < OWNERS; i++)
        if (world.owners[i].used)
            leave(&world.owners[i]);
    net_loop_poll(&loop);
    must(bufs.n_taken == 0);
    return 0;
}
