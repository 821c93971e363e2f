/* test_mux.c: a connection with streams, over a layer that a test plays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/stream/mux.h"
#include "net/stream/stream.h"

static struct {
    const char *in; /* what the peer has sent, and is to be read */
    size_t in_len;
    bool reset; /* writing fails, and reading once all is read */
    bool over;
} peer;

static ssize_t peer_read(struct net_conn *c, void *buf, size_t n)
{
    size_t part = peer.in_len < n ? peer.in_len : n;
    memcpy(buf, peer.in, part);
    peer.in += part;
    peer.in_len -= part;
    if (part > 0)
        return (ssize_t)part;
    c->readable = false;
    return peer.reset ? NET_ERROR : NET_AGAIN;
}

static ssize_t peer_writev(struct net_conn *c, const struct iovec *iov, int n)
{
    size_t all = 0;
    (void)c;
    for (int i = 0; i < n; i++)
        all += iov[i].iov_len;
    return peer.reset ? NET_ERROR : (ssize_t)all;
}

static void nothing(struct net_conn *c)
{
    (void)c;
}

static const struct net_layer peer_layer = {
    .read = peer_read,
    .writev = peer_writev,
    .shutdown = nothing,
    .free = nothing,
};

static void on_eased(struct mux *m)
{
    (void)m;
}

static void on_over(struct mux *m, bool broken)
{
    (void)m;
    peer.over = broken;
}

static const struct mux_calls calls = { .eased = on_eased, .over = on_over };

static void on_ready(struct net_io *io, unsigned events)
{
    net_conn_note((struct net_conn *)io, events);
}

static void ask(struct mux *m, struct net_conn *c)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    *c = (struct net_conn){ .io = { .ready = on_ready, .fd = -1 } };
    assert_true(mux_open(m, c));
    assert_int_equal(net_write(c, text, sizeof text - 1), sizeof text - 1);
}

/* The answer to the first request has arrived, and nobody has looked, when writing the
 * second one fails. */
static void regress_what_arrived_before_a_reset_is_read(void **state)
{
    static const char settings[] = "\0\0\0\4\0\0\0\0\0";
    static const char answer[] = "\0\0\1\1\5\0\0\0\1\x88";
    struct http2_conf conf = HTTP2_CONF_INIT;
    struct net_conn below = { .io.fd = -1,
                              .session = &peer,
                              .layer = &peer_layer,
                              .writable = true };
    struct net_conn first, second;
    struct net_loop loop;
    struct net_bufs bufs;
    struct mux_shared shared;
    char text[256] = "";

    (void)state;
    assert_int_equal(net_loop_init(&loop), 0);
    net_bufs_init(&bufs, 4096, 8);
    bufs.max_taken = 100;
    mux_shared_init(&shared, &loop, &bufs, 100, 8192);
    struct mux *m = mux_new(&shared, HTTP2_CLIENT, &conf, &calls, &below);
    assert_non_null(m);
    mux_feed(m, settings, sizeof settings - 1);
    ask(m, &first);
    net_loop_poll(&loop);
    peer.in = answer;
    peer.in_len = sizeof answer - 1;
    peer.reset = true;
    ask(m, &second);
    for (int i = 0; i < 4 && !peer.over; i++)
        net_loop_poll(&loop);
    assert_true(peer.over);
    assert_true(net_read(&first, text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "HTTP/1.1 200 "));
    assert_true(stream_of(&second)->dead && stream_of(&second)->not_processed);
    mux_close(m);
    net_conn_close(&first);
    net_conn_close(&second);
    net_loop_poll(&loop);
    assert_int_equal(bufs.n_taken, 0);
    mux_shared_done(&shared);
    net_bufs_done(&bufs);
    net_loop_done(&loop);
}

/* ===== a server's ===== */

static struct net_conn served;

static struct net_conn *on_accept(struct mux *m)
{
    (void)m;
    served = (struct net_conn){ .io = { .ready = on_ready, .fd = -1 } };
    return &served;
}

static const struct mux_calls server_calls = {
    .accept = on_accept,
    .eased = on_eased,
    .over = on_over,
};

struct server {
    struct net_loop loop;
    struct net_bufs bufs;
    struct mux_shared shared;
    struct http2_conf conf;
    struct net_conn below;
    struct mux *mux;
};

/* It has one request, which has not ended: PUT / */
static void begin(struct server *v, bool writable)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                "\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0"
                                "\0\0\12\1\4\0\0\0\1\x86\x84\x42\3PUT\x41\1x";

    memset(&peer, 0, sizeof peer);
    *v = (struct server){ .conf = HTTP2_CONF_INIT };
    v->below = (struct net_conn){
        .io.fd = -1, .session = &peer, .layer = &peer_layer, .writable = writable
    };
    assert_int_equal(net_loop_init(&v->loop), 0);
    net_bufs_init(&v->bufs, 4096, 8);
    v->bufs.max_taken = 1000;
    mux_shared_init(&v->shared, &v->loop, &v->bufs, 100, 8192);
    v->mux = mux_new(&v->shared, HTTP2_SERVER, &v->conf, &server_calls, &v->below);
    assert_non_null(v->mux);
    mux_feed(v->mux, hello, sizeof hello - 1);
    assert_non_null(stream_of(&served));
}

static void end(struct server *v)
{
    mux_close(v->mux);
    net_conn_close(&served);
    net_loop_poll(&v->loop);
    assert_int_equal(v->bufs.n_taken, 0);
    mux_shared_done(&v->shared);
    net_bufs_done(&v->bufs);
    net_loop_done(&v->loop);
}

/* DATA of one byte each, a to z. */
static void feed_bytes(struct server *v, unsigned n)
{
    static unsigned at;
    char frame[] = "\0\0\1\0\0\0\0\0\1?";

    for (unsigned i = 0; i < n; i++) {
        frame[9] = (char)('a' + at++ % 26);
        mux_feed(v->mux, frame, 10);
    }
}

/* The body's bytes in chunked text, into `body`; how many. */
static size_t unchunk(struct http1_body *b, const char *text, size_t n, char *body)
{
    struct http1_piece piece;
    size_t all = 0;

    for (size_t at = 0; at < n; at += piece.consumed) {
        int rc = http1_body_next(b, text + at, n - at, &piece);
        assert_in_range(rc, HTTP1_MORE, HTTP1_DATA);
        memcpy(body + all, text + at + piece.data, piece.data_len);
        all += piece.data_len;
        if (rc == HTTP1_MORE)
            break;
    }
    return all;
}

/* As many bytes as the window allows, one in each frame, take little more than that;
 * also while somebody reads of them, piece by piece. */
static void regress_small_frames_take_no_more_than_their_window(void **state)
{
    struct server v;
    static char text[8192], body[8192];
    struct http1_body b;
    unsigned seen = 0;

    (void)state;
    begin(&v, true);
    assert_true(net_read(&served, text, sizeof text) > 0);
    assert_non_null(strstr(text, "chunked"));
    http1_body_init(&b, HTTP1_CHUNKED, 0);
    feed_bytes(&v, 65536);
    assert_false(v.mux->http2.failed);
    assert_in_range(v.bufs.n_taken, 16, 19);
    for (int i = 0; i < 2000; i++) {
        ssize_t n = net_read(&served, text, i % 7 == 0 ? 100 : 331);
        assert_true(n > 0);
        size_t got = unchunk(&b, text, (size_t)n, body);
        for (size_t k = 0; k < got; k++)
            assert_int_equal(body[k], 'a' + seen++ % 26);
        feed_bytes(&v, (unsigned)stream_of(&served)->below.recv_window);
        assert_false(v.mux->http2.failed);
        assert_in_range(v.bufs.n_taken, 8, 20);
    }
    end(&v);
}

/* A client that reads nothing, and an endpoint that says "103" without end. */
static void regress_interim_heads_have_an_end(void **state)
{
    static const char hint[] = "HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n";
    static const char last[] = "HTTP/1.1 204 No Content\r\n\r\n";
    struct server v;

    (void)state;
    begin(&v, false);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(net_write(&served, hint, sizeof hint - 1), sizeof hint - 1);
    assert_in_range(v.bufs.n_taken, 60, 80);
    assert_int_equal(net_write(&served, last, sizeof last - 1), sizeof last - 1);
    assert_int_equal(stream_of(&served)->sending, STREAM_SENT);
    end(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regress_what_arrived_before_a_reset_is_read),
        cmocka_unit_test(regress_small_frames_take_no_more_than_their_window),
        cmocka_unit_test(regress_interim_heads_have_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
