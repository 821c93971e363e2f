/* The server against clients that do anything: byte by byte, cut off, too much,
 * too slow, too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/http/server_answer.h"
#include "socket_pair.h"

#define HOST "Host: localhost\r\n"

enum { FEW = 4, SMALL = 512, LONG = 4 << 20 };

static struct net_loop loop;
static struct http_server server;
static struct net_address address;
static struct http_conn *held; /* /later: nobody has answered it */
static char *much;
static int64_t fake_ns;

/* The one that came last; or NULL. */
static struct http_conn *last(void)
{
    return bide__list_empty(&server.conns)
               ? NULL
               : bide__container_of(server.conns.next, struct http_conn, link);
}

static int64_t fake_clock(void)
{
    return fake_ns;
}

static bool asks(const struct http_conn *c, const char *path)
{
    return c->head.path_len == strlen(path) &&
           memcmp(c->in + c->head.path, path, c->head.path_len) == 0;
}

static void on_request(struct http_conn *c)
{
    if (asks(c, "/later")) {
        held = c;
        return;
    }
    c->trusted = asks(c, "/trusted");
    http_answer_begin(c, 200);
    if (asks(c, "/stream"))
        http_stream_begin(c);
    else if (asks(c, "/much"))
        http_answer_end(c, much, LONG);
    else
        http_answer_end(c, c->in + c->head.path, c->head.path_len);
}

static void on_refused(struct http_conn *c, int status, const char *why)
{
    http_answer_begin(c, status);
    http_answer_end(c, why, strlen(why));
}

/* A turn of the loop, and of the clock: clients are let in by a timer. */
static void go(int fd)
{
    fake_ns += BIDE_MILLISECOND;
    turn(&loop, fd);
}

/* ===== clients ===== */

static int join(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int room = 4096;
    size_t before = server.n_conns;

    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    assert_int_equal(connect(fd, &address.to.any, address.len), 0);
    while (server.n_conns <= before)
        go(-1);
    return fd;
}

static int join_and_say(const char *text)
{
    int fd = join();
    say(fd, text, strlen(text));
    return fd;
}

/* A few turns: enough for whatever is to happen without more said. */
static void let_it_work(void)
{
    for (int i = 0; i < 10; i++)
        go(-1);
}

static bool is_gone(int fd)
{
    char byte;
    ssize_t n;
    while ((n = recv(fd, &byte, 1, MSG_DONTWAIT)) == 1)
        ;
    return n == 0 || errno != EAGAIN;
}

static void await_gone(int fd)
{
    while (!is_gone(fd))
        go(fd);
}

static void leave(int fd)
{
    size_t before = server.n_conns;
    bool open = !is_gone(fd);
    close(fd);
    while (open && server.n_conns == before)
        go(-1);
}

/* ===== messages ===== */

static const struct row {
    const char *name, *text, *answer; /* how it begins, and ends */
    bool kept;
} rows[] = {
    { "get", "GET /a HTTP/1.1\r\n" HOST "\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/a", true },
    { "head", "HEAD /a HTTP/1.1\r\n" HOST "\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", true },
    { "close", "GET /a HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n/a",
      false },
    { "http_1_0", "GET /a HTTP/1.0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n/a",
      false },
    { "body", "POST /b HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/b", true },
    { "row",
      "POST /b HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi"
      "GET /a HTTP/1.1\r\n" HOST "\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/b"
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/a",
      true },
    { "bare_lf", "GET / HTTP/1.1\n" HOST "\n", "HTTP/1.1 400 ", false },
    { "no_host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ", false },
    { "two_hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", "HTTP/1.1 400 ",
      false },
    { "version", "GET / HTTP/2.0\r\n" HOST "\r\n", "HTTP/1.1 505 ", false },
    { "expect", "GET / HTTP/1.1\r\n" HOST "Expect: more\r\n\r\n",
      "HTTP/1.1 417 ", false },
    { "chunked",
      "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n", false },
    { "long_body", "POST / HTTP/1.1\r\n" HOST "Content-Length: 65\r\n\r\n",
      "HTTP/1.1 400 ", false },
};

/* All that comes until it is as long as expected, or the end. */
static void hear(int fd, size_t len, char *to, size_t size)
{
    size_t n = 0;
    while (n < len) {
        ssize_t got = recv(fd, to + n, size - 1 - n, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        if (got > 0)
            n += (size_t)got;
        else
            go(fd);
    }
    to[n] = '\0';
}

static void server_answers_however_it_is_asked(void **unused)
{
    char got[1024];

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t step = 1; step < 500; step = step * 3 + 1) {
            const struct row *r = &rows[i];
            size_t whole = strlen(r->text), len = strlen(r->answer);
            int fd = join();
            for (size_t at = 0; at < whole; at += step) {
                say(fd, r->text + at, step < whole - at ? step : whole - at);
                net_loop_poll(&loop);
            }
            hear(fd, len, got, sizeof got);
            if (strncmp(got, r->answer, len) != 0)
                fail_msg("%s by %zu: %s", r->name, step, got);
            if (!r->kept)
                await_gone(fd);
            let_it_work();
            if (is_gone(fd) == r->kept)
                fail_msg("%s by %zu: kept", r->name, step);
            leave(fd);
        }
    assert_int_equal(server.n_conns, 0);
}

/* Who hangs up behind any byte leaves nothing behind. */
static void server_cut_anywhere_is_cleared_away(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t len = 0; len <= strlen(rows[i].text); len++) {
            int fd = join();
            say(fd, rows[i].text, len);
            net_loop_poll(&loop);
            close(fd);
            while (server.n_conns > 0)
                go(-1);
        }
    assert_null(last());
}

static void server_long_head_is_refused(void **unused)
{
    char head[SMALL * 2], got[256];
    int fd = join();

    (void)unused;
    memset(head, 'a', sizeof head);
    memcpy(head, "GET /", 5);
    say(fd, head, sizeof head);
    hear(fd, 13, got, sizeof got);
    assert_memory_equal(got, "HTTP/1.1 431 ", 13);
    await_gone(fd);
    close(fd);
}

/* ===== time ===== */

static void server_slow_request_is_dropped(void **unused)
{
    static const char text[] = "GET /a HTTP/1.1\r\n" HOST;
    int fd = join();
    size_t n = 0;

    (void)unused;
    for (; !is_gone(fd); n++) {
        assert_true(n < sizeof text - 1);
        say(fd, text + n, 1);
        let_it_work();
        fake_ns += BIDE_SECOND;
        let_it_work();
    }
    assert_true(n >= 10 && n <= 15); /* patience is a total, too */
    close(fd);
    fd = join();
    fake_ns += 59 * BIDE_SECOND;
    let_it_work();
    assert_false(is_gone(fd));
    fake_ns += 2 * BIDE_SECOND;
    await_gone(fd);
    close(fd);
}

static void server_answer_that_is_not_read_is_dropped(void **unused)
{
    int fd = join_and_say("GET /much HTTP/1.1\r\n" HOST "\r\n");

    (void)unused;
    while (!last() || last()->phase != HTTP_WRITING)
        go(-1);
    fake_ns += 11 * BIDE_SECOND;
    while (server.n_conns > 0)
        go(-1);
    close(fd);
}

/* ===== later ===== */

static void server_answers_later(void **unused)
{
    char got[256];
    int fd = join_and_say("GET /later HTTP/1.1\r\n" HOST "\r\n"
                          "GET /a HTTP/1.1\r\n" HOST "\r\n");

    (void)unused;
    held = NULL;
    while (!held)
        go(-1);
    let_it_work();
    assert_true(is_gone(fd) == false && server.n_conns == 1);
    http_answer_begin(held, 404);
    http_answer_end(held, "", 0);
    read_until(&loop, fd, "/a", got, sizeof got);
    assert_string_equal(got,
                        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/a");
    leave(fd);
}

/* The owner's pointer holds until it answers. */
static void server_client_gone_is_answered_all_the_same(void **unused)
{
    int fd = join_and_say("GET /later HTTP/1.1\r\n" HOST "\r\n");

    (void)unused;
    held = NULL;
    while (!held)
        go(-1);
    leave(fd);
    assert_int_equal(server.n_conns, 0);
    assert_ptr_equal(last(), held);
    http_answer_begin(held, 200);
    http_answer_end(held, "x", 1);
    assert_null(last());
    let_it_work();
}

/* ===== places ===== */

static void server_place_goes_to_who_comes(void **unused)
{
    char got[64];
    int fd[FEW + 1];

    (void)unused;
    fd[0] = join_and_say("GET /trusted HTTP/1.1\r\n" HOST "\r\n");
    read_until(&loop, fd[0], "/trusted", got, sizeof got);
    for (int i = 1; i < FEW; i++) {
        fake_ns += BIDE_SECOND;
        fd[i] = join();
    }
    fake_ns += BIDE_SECOND;
    fd[FEW] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd[FEW], &address.to.any, address.len), 0);
    await_gone(fd[1]); /* the one that has not moved for longest ... */
    assert_false(is_gone(fd[0])); /* ... but for the one that is trusted */
    for (int i = 2; i <= FEW; i++)
        assert_false(is_gone(fd[i]));
    assert_int_equal(server.n_conns, FEW);
    for (int i = 0; i <= FEW; i++)
        close(fd[i]);
    while (server.n_conns > 0)
        go(-1);
}

/* Whoever has only just come gets a moment first. */
static void server_place_is_kept_for_a_moment(void **unused)
{
    int fd[FEW + 1];

    (void)unused;
    fd[0] = join();
    int64_t came_ns = last()->moved_ns;
    for (int i = 1; i < FEW; i++)
        fd[i] = join();
    fd[FEW] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd[FEW], &address.to.any, address.len), 0);
    await_gone(fd[0]);
    assert_true(fake_ns - came_ns >= 50 * BIDE_MILLISECOND);
    for (int i = 0; i <= FEW; i++)
        close(fd[i]);
    while (server.n_conns > 0)
        go(-1);
}

static void server_unread_answers_are_bounded(void **unused)
{
    int fd[3];

    (void)unused;
    server.waiting = 2;
    for (int i = 0; i < 3; i++) {
        fake_ns += BIDE_SECOND;
        fd[i] = join_and_say("GET /much HTTP/1.1\r\n" HOST "\r\n");
        while (i < 2 && last()->phase != HTTP_WRITING)
            go(-1);
    }
    while (server.n_conns > 2)
        go(-1);
    struct http_conn *c;
    HTTP_SERVER_EACH(&server, c)
        assert_true(c->phase == HTTP_WRITING);
    server.waiting = 32;
    for (int i = 0; i < 3; i++)
        close(fd[i]);
    while (server.n_conns > 0)
        go(-1);
}

/* ===== streams ===== */

static void server_stream_is_fed_and_bounded(void **unused)
{
    char got[256];
    int fd = join_and_say("GET /stream HTTP/1.1\r\n" HOST "\r\n");

    (void)unused;
    server.streams = 1;
    read_until(&loop, fd, "\r\n\r\n", got, sizeof got);
    assert_string_equal(got, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    assert_int_equal(http_server_unanswered(&server), 0);
    assert_true(http_stream_next(last()));
    bide__out_text(&last()->out, "hello");
    http_stream_send(last());
    read_until(&loop, fd, "hello", got, sizeof got);
    assert_false(http_server_has_room_for_stream(&server));
    assert_true(http_stream_next(last()));
    bide__out_bytes(&last()->out, much, LONG);
    http_stream_send(last()); /* it does not read that */
    assert_false(http_stream_next(last()));
    fake_ns += BIDE_SECOND;
    go(-1);
    assert_true(http_server_has_room_for_stream(&server));
    assert_int_equal(server.n_conns, 0);
    server.streams = 32;
    close(fd);
}

static void server_drops_all(void **unused)
{
    int silent = join();
    int later = join_and_say("GET /later HTTP/1.1\r\n" HOST "\r\n");
    char byte;

    (void)unused;
    held = NULL;
    while (!held)
        go(-1);
    http_server_drop_all(&server, true);
    assert_int_equal(server.n_conns, 0);
    assert_null(last());
    assert_int_equal(recv(silent, &byte, 1, 0), -1);
    assert_int_equal(errno, ECONNRESET);
    close(silent);
    close(later);
}

/* ===== the run ===== */

static int set_up(void **unused)
{
    (void)unused;
    much = calloc(1, LONG);
    if (!much || net_loop_init(&loop) < 0)
        return -1;
    fake_ns = loop.now_ns;
    loop.clock_ns = fake_clock;
    server = (struct http_server)HTTP_SERVER_INIT;
    server.request = on_request;
    server.refuse = on_refused;
    server.connections = FEW;
    server.max_head = SMALL;
    server.max_body = 64;
    return http_server_listen(&server, &loop, listen_anywhere(&address));
}

static int tear_down(void **unused)
{
    (void)unused;
    http_server_done(&server);
    net_loop_done(&loop);
    free(much);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_answers_however_it_is_asked),
        cmocka_unit_test(server_cut_anywhere_is_cleared_away),
        cmocka_unit_test(server_long_head_is_refused),
        cmocka_unit_test(server_slow_request_is_dropped),
        cmocka_unit_test(server_answer_that_is_not_read_is_dropped),
        cmocka_unit_test(server_answers_later),
        cmocka_unit_test(server_client_gone_is_answered_all_the_same),
        cmocka_unit_test(server_place_goes_to_who_comes),
        cmocka_unit_test(server_place_is_kept_for_a_moment),
        cmocka_unit_test(server_unread_answers_are_bounded),
        cmocka_unit_test(server_stream_is_fed_and_bounded),
        cmocka_unit_test(server_drops_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
