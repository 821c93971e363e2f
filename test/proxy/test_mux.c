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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regress_what_arrived_before_a_reset_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
