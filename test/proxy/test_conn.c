/* Whether an idle connection may carry a request, asked before any event has
 * told: plain, and with a layer that has words of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "net/conn.h"

/* Like TLS in what counts here: 't' is a word of its own, 'g' its goodbye. */
static ssize_t fake_read(struct net_conn *c, void *buf, size_t n)
{
    char *got = buf;
    while (recv(c->io.fd, got, n < 1 ? n : 1, MSG_DONTWAIT) == 1)
        if (*got != 't')
            return *got == 'g' ? 0 : 1;
    c->readable = false;
    return NET_AGAIN;
}

static const struct net_layer fake_layer = { .read = fake_read };

/* What the other side did, and whether the connection is stale then. */
static const struct row {
    const char *sent;
    bool closed, layer, stale;
} rows[] = {
    { "", false, false, false },  { "", true, false, true },
    { "x", false, false, true },  { "", false, true, false },
    { "", true, true, true },     { "t", false, true, false },
    { "tt", false, true, false }, { "g", false, true, true },
    { "tg", false, true, true },  { "x", false, true, true },
};

static void conn_stale_is_seen_before_any_event(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        int pair[2], session;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        struct net_conn c = { .io.fd = pair[0] };
        if (r->layer) {
            c.session = &session;
            c.layer = &fake_layer;
        }
        for (const char *p = r->sent; *p; p++)
            assert_int_equal(send(pair[1], p, 1, 0), 1);
        if (r->closed)
            close(pair[1]);
        if (net_conn_stale(&c) != r->stale)
            fail_msg("row %zu", i);
        close(pair[0]);
        if (!r->closed)
            close(pair[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conn_stale_is_seen_before_any_event),
    };
    return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
