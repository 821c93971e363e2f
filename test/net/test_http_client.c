/* The client against servers that say anything, in a loop and waiting: whole
 * answers, byte by byte, and cut off behind each byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>

#include "net/http/client_loop.h"
#include "socket_pair.h"

enum { IN = 1024, MOST_BODY = 64 };

static const struct row {
    const char *name, *answer;
    bide_fault fault;
    int status;
    const char *body;
    bool kept;
    const char *method;
} rows[] = {
    { "length", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n", 0, 200,
      "ok\n", true, "GET" },
    { "no_body", "HTTP/1.1 204 No Content\r\n\r\n", 0, 204, "", true, "GET" },
    { "head", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0, 200, "", true,
      "HEAD" },
    { "chunked",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2;a=b\r\nok\r\n1\r\n\n\r\n0\r\nX: y\r\n\r\n",
      0, 200, "ok\n", true, "GET" },
    { "until_close", "HTTP/1.1 503 No\r\n\r\nok\n", 0, 503, "ok\n", false,
      "GET" },
    { "http_1_0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 0, 200, "x",
      false, "GET" },
    { "says_close",
      "HTTP/1.1 429 No\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", 0,
      429, "x", false, "GET" },
    { "interim",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
      0, 200, "x", true, "GET" },
    { "more_than_asked", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1",
      0, 200, "x", false, "GET" },
    { "not_http", "220 smtp\r\n\r\n", BIDE_FAULT_MALFORMED, 0, "", false,
      "GET" },
    { "bare_lf", "HTTP/1.1 200 OK\n\n", BIDE_FAULT_MALFORMED, 0, "", false,
      "GET" },
    { "two_lengths",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
      BIDE_FAULT_MALFORMED, 0, "", false, "GET" },
    { "upgrade", "HTTP/1.1 101 Ha\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
      BIDE_FAULT_MALFORMED, 0, "", false, "GET" },
    { "bad_chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      BIDE_FAULT_MALFORMED, 0, "", false, "GET" },
    { "long_by_length", "HTTP/1.1 200 OK\r\nContent-Length: 65\r\n\r\n"
      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef!",
      BIDE_FAULT_TOO_LONG, 0, NULL, false, "GET" },
    { "nothing", "", BIDE_FAULT_RESET, 0, "", false, "GET" },
};

static struct net_loop loop;
static struct net_address address;
static int listener;
static int n_done;

static void on_done(struct http_client *c)
{
    (void)c;
    n_done++;
}

static struct http_request ask(const struct row *r, struct bide__out *into)
{
    return (struct http_request){ .to = &address,
                                  .method = r->method,
                                  .target = "/x",
                                  .host = "localhost",
                                  .keep = true,
                                  .until_ns = bide_now_ns() + BIDE_MINUTE,
                                  .into = into,
                                  .max_body = MOST_BODY };
}

static void check(const struct row *r, struct http_client *c,
                  const struct bide__out *body, const char *how)
{
    size_t len = r->body ? strlen(r->body) : 0;

    if (c->fault != r->fault)
        fail_msg("%s %s: %s", r->name, how, bide_fault_name(c->fault));
    if (r->fault == BIDE_FAULT_NONE && c->head.status != r->status)
        fail_msg("%s %s: %d", r->name, how, c->head.status);
    if (r->fault == BIDE_FAULT_NONE &&
        (body->len != len || memcmp(body->data ? body->data : "", r->body, len)))
        fail_msg("%s %s: %zu bytes", r->name, how, body->len);
    if ((c->conn.io.fd >= 0) != r->kept)
        fail_msg("%s %s: kept", r->name, how);
}

/* Sends the first `len` bytes, `step` at a time, and hangs up if that is all
 * there is. The client then is IDLE. */
static void play(const struct row *r, struct http_client *c,
                 struct bide__out *body, size_t len, size_t step)
{
    char got[4096];
    struct http_request question = ask(r, body);

    n_done = 0;
    c->done = on_done;
    assert_true(http_client_start(c, &loop, &question));
    int fd = accept_one(&loop, listener);
    read_until(&loop, fd, "\r\n\r\n", got, sizeof got);
    assert_non_null(strstr(got, " /x HTTP/1.1\r\nHost: localhost\r\n"));
    for (size_t i = 0; i < len; i += step) {
        say(fd, r->answer + i, step < len - i ? step : len - i);
        net_loop_poll(&loop);
    }
    if (!r->kept || len < strlen(r->answer))
        close(fd);
    while (n_done == 0 || (!r->kept && c->conn.io.fd >= 0))
        turn(&loop, listener);
    assert_int_equal(n_done, 1);
    if (r->kept && len == strlen(r->answer))
        close(fd);
}

static void client_answers_are_read_however_they_come(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t step = 1; step < 2000; step = step * 3 + 1) {
            char in[IN];
            struct http_client c;
            struct bide__out body = { 0 };
            http_client_init(&c, in, sizeof in);
            play(&rows[i], &c, &body, strlen(rows[i].answer), step);
            check(&rows[i], &c, &body, "in steps");
            http_client_close(&c);
            bide__out_done(&body);
        }
}

/* Whatever is missing at the end is noticed; unless the end is what frames it. */
static void client_cut_anywhere_fails(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        size_t whole = strlen(r->answer);
        if (r->fault != BIDE_FAULT_NONE || strcmp(r->name, "until_close") == 0 ||
            strcmp(r->name, "more_than_asked") == 0)
            continue;
        for (size_t len = 0; len < whole; len++) {
            char in[IN];
            struct http_client c;
            struct bide__out body = { 0 };
            http_client_init(&c, in, sizeof in);
            play(r, &c, &body, len, whole);
            if (c.fault != BIDE_FAULT_RESET || c.conn.io.fd >= 0)
                fail_msg("%s cut at %zu: %s", r->name, len,
                         bide_fault_name(c.fault));
            bide__out_done(&body);
        }
    }
}

/* ===== waiting ===== */

struct server {
    const char *answer;
    int n; /* requests, on one connection */
    bool hold;
    int fd;
};

static void *serve(void *arg)
{
    struct server *s = arg;
    char got[4096];
    s->fd = -1;
    while (s->fd < 0)
        s->fd = accept(listener, NULL, NULL);
    for (int i = 0; i < s->n; i++) {
        size_t len = 0;
        got[0] = '\0';
        while (!strstr(got, "\r\n\r\n")) {
            ssize_t n = recv(s->fd, got + len, sizeof got - len - 1, 0);
            if (n <= 0)
                return NULL;
            got[len += (size_t)n] = '\0';
        }
        say(s->fd, s->answer, strlen(s->answer));
    }
    if (!s->hold)
        close(s->fd);
    return NULL;
}

/* The thread waits in accept(), so it must not be told EAGAIN. */
static void block(int fd, bool yes)
{
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, yes ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

static void client_waiting_gives_the_same(void **unused)
{
    (void)unused;
    block(listener, true);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char in[IN];
        struct http_client c;
        struct bide__out body = { 0 };
        struct server s = { rows[i].answer, 1, rows[i].kept, -1 };
        struct http_request question = ask(&rows[i], &body);
        pthread_t thread;
        http_client_init(&c, in, sizeof in);
        assert_int_equal(pthread_create(&thread, NULL, serve, &s), 0);
        http_client_run(&c, &question, NULL);
        check(&rows[i], &c, &body, "waiting");
        http_client_close(&c);
        pthread_join(thread, NULL);
        if (s.hold)
            close(s.fd);
        bide__out_done(&body);
    }
    block(listener, false);
}

static void client_kept_connection_is_used_again(void **unused)
{
    char in[IN];
    struct http_client c;
    struct server s = { rows[0].answer, 3, true, -1 };
    struct http_request question = ask(&rows[0], NULL);
    pthread_t thread;

    (void)unused;
    block(listener, true);
    http_client_init(&c, in, sizeof in);
    assert_int_equal(pthread_create(&thread, NULL, serve, &s), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(http_client_run(&c, &question, NULL), 0);
        question.to = NULL; /* there is no other way than the first */
    }
    pthread_join(thread, NULL);
    assert_true(http_client_is_open(&c));
    close(s.fd);
    struct pollfd p = { .fd = c.conn.io.fd, .events = POLLIN };
    poll(&p, 1, -1);
    assert_int_equal(http_client_run(&c, &question, NULL), BIDE_FAULT_LOCAL);
    block(listener, false);
}

static void client_cancelled_gives_up(void **unused)
{
    char in[IN];
    struct http_client c;
    struct http_request question = ask(&rows[0], NULL);
    bide_cancel cancel = { 0 };

    (void)unused;
    http_client_init(&c, in, sizeof in);
    bide_cancel_now(&cancel);
    assert_int_equal(http_client_run(&c, &question, &cancel),
                     BIDE_FAULT_CANCELLED);
    close(accept_one(&loop, listener));
}

static void client_nobody_there_is_told(void **unused)
{
    char in[IN];
    struct http_client c;
    struct net_address nobody;
    struct http_request question = ask(&rows[0], NULL);

    (void)unused;
    close(listen_anywhere(&nobody));
    question.to = &nobody;
    http_client_init(&c, in, sizeof in);
    assert_int_equal(http_client_run(&c, &question, NULL), BIDE_FAULT_CONNECT);
    assert_int_equal(c.error, ECONNREFUSED);
    assert_false(c.sent);
    question.until_ns = bide_now_ns();
    question.to = &address; /* takes it, and says nothing */
    assert_int_equal(http_client_run(&c, &question, NULL), BIDE_FAULT_TIMEOUT);
    close(accept_one(&loop, listener));
}

/* ===== bounds ===== */

/* A head that does not end. */
static void client_head_without_end_is_refused(void **unused)
{
    char in[IN], got[4096], line[] = "A: bcdefghijklmnop\r\n";
    struct http_client c;
    struct http_request question = ask(&rows[0], NULL);

    (void)unused;
    http_client_init(&c, in, sizeof in);
    c.done = on_done;
    n_done = 0;
    assert_true(http_client_start(&c, &loop, &question));
    int fd = accept_one(&loop, listener);
    read_until(&loop, fd, "\r\n\r\n", got, sizeof got);
    say(fd, "HTTP/1.1 200 OK\r\n", 17);
    for (int i = 0; n_done == 0; i++) {
        assert_true(i < 1000);
        say(fd, line, sizeof line - 1);
        net_loop_poll(&loop);
    }
    assert_int_equal(c.fault, BIDE_FAULT_MALFORMED);
    close(fd);
}

static int64_t fake_ns;
static int64_t fake_clock(void)
{
    return fake_ns;
}

/* One byte a second: each is well in time, all of them are not. */
static void client_deadline_is_a_total(void **unused)
{
    char in[IN], got[4096];
    struct http_client c;
    struct net_loop slow;
    struct http_request question = ask(&rows[0], NULL);
    const char *answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    size_t n = 0;

    (void)unused;
    assert_int_equal(net_loop_init(&slow), 0);
    fake_ns = slow.now_ns;
    slow.clock_ns = fake_clock;
    http_client_init(&c, in, sizeof in);
    c.done = on_done;
    n_done = 0;
    question.until_ns = fake_ns + 20 * BIDE_SECOND;
    assert_true(http_client_start(&c, &slow, &question));
    int fd = accept_one(&slow, listener);
    read_until(&slow, fd, "\r\n\r\n", got, sizeof got);
    for (; n_done == 0; n++) {
        assert_true(n < strlen(answer));
        say(fd, answer + n, 1);
        fake_ns += BIDE_SECOND;
        net_loop_poll(&slow);
    }
    assert_int_equal(c.fault, BIDE_FAULT_TIMEOUT);
    assert_true(c.sent);
    assert_true(n >= 20 && n <= 21);
    close(fd);
    net_loop_done(&slow);
}

/* Without a body to fill, the head decides: a body that is late, cut off or too
 * long costs the connection alone. */
static void client_answer_counts_by_its_head(void **unused)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    };
    (void)unused;
    for (size_t i = 0; i < 3; i++) {
        struct row r = { "by head", answers[i], 0, 200, "", false, "GET" };
        char in[IN];
        struct http_client c;
        http_client_init(&c, in, sizeof in);
        play(&r, &c, NULL, strlen(r.answer), 2000);
        assert_int_equal(c.fault, BIDE_FAULT_NONE);
        assert_int_equal(c.head.status, 200);
        assert_int_equal(c.conn.io.fd, -1);
    }
}

/* Nobody waits for an end that is not wanted. */
static void client_endless_answer_counts_at_once(void **unused)
{
    char in[IN], got[4096];
    struct http_client c;
    struct http_request question = ask(&rows[0], NULL);

    (void)unused;
    http_client_init(&c, in, sizeof in);
    c.done = on_done;
    n_done = 0;
    assert_true(http_client_start(&c, &loop, &question));
    int fd = accept_one(&loop, listener);
    read_until(&loop, fd, "\r\n\r\n", got, sizeof got);
    say(fd, "HTTP/1.1 200 OK\r\n\r\n", 19);
    while (n_done == 0)
        turn(&loop, listener);
    assert_int_equal(c.fault, BIDE_FAULT_NONE);
    assert_int_equal(c.conn.io.fd, -1);
    close(fd);
}

/* An answer to a request that is too long to be taken, from a server that does
 * not wait for the rest of it. */
static void client_early_answer_counts(void **unused)
{
    enum { LONG = 32 << 20 };
    char in[IN], got[4096], *body = calloc(1, LONG);
    struct http_client c;
    struct http_request question = ask(&rows[0], NULL);

    (void)unused;
    assert_non_null(body);
    question.method = "POST";
    question.body[1] = (struct iovec){ body, LONG };
    http_client_init(&c, in, sizeof in);
    c.done = on_done;
    n_done = 0;
    assert_true(http_client_start(&c, &loop, &question));
    int fd = accept_one(&loop, listener);
    read_until(&loop, fd, "Content-Length: 33554432\r\n\r\n", got, sizeof got);
    say(fd, "HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n", 38);
    while (n_done == 0)
        turn(&loop, listener);
    assert_int_equal(c.fault, BIDE_FAULT_NONE);
    assert_int_equal(c.head.status, 413);
    assert_int_equal(c.conn.io.fd, -1);
    close(fd);
    free(body);
}

static void client_long_request_is_not_begun(void **unused)
{
    char in[IN], target[2000];
    struct http_client c;
    struct http_request question = ask(&rows[0], NULL);

    (void)unused;
    memset(target, 'a', sizeof target - 1);
    target[sizeof target - 1] = '\0';
    question.target = target;
    http_client_init(&c, in, sizeof in);
    assert_false(http_client_fits(&c, &question));
    assert_false(http_client_start(&c, &loop, &question));
    assert_int_equal(c.fault, BIDE_FAULT_LOCAL);
}

/* A body in pieces, larger than any buffer, arrives whole. */
static void client_body_of_pieces_arrives_whole(void **unused)
{
    enum { LONG = 4 << 20 };
    char in[IN], *body = malloc(LONG), *got = malloc(LONG + 4096);
    struct http_client c;
    struct http_request question = ask(&rows[0], NULL);
    size_t len = 0, head;

    (void)unused;
    assert_true(body && got);
    for (size_t i = 0; i < LONG; i++)
        body[i] = (char)('a' + i % 23);
    question.method = "POST";
    question.body[0] = (struct iovec){ body, 1 };
    question.body[2] = (struct iovec){ body + 1, LONG - 1 };
    http_client_init(&c, in, sizeof in);
    c.done = on_done;
    n_done = 0;
    assert_true(http_client_start(&c, &loop, &question));
    int fd = accept_one(&loop, listener);
    do {
        ssize_t n = recv(fd, got + len, LONG + 4095 - len, MSG_DONTWAIT);
        if (n > 0)
            len += (size_t)n;
        else
            turn(&loop, fd);
        got[len] = '\0';
        head = len >= 4 && strstr(got, "\r\n\r\n")
                   ? (size_t)(strstr(got, "\r\n\r\n") + 4 - got)
                   : LONG;
    } while (len < head + LONG);
    assert_memory_equal(got + head, body, LONG);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38);
    while (n_done == 0)
        turn(&loop, listener);
    assert_int_equal(c.fault, BIDE_FAULT_NONE);
    http_client_close(&c);
    close(fd);
    free(body);
    free(got);
}

/* ===== the run ===== */

static int set_up(void **unused)
{
    (void)unused;
    listener = listen_anywhere(&address);
    return net_loop_init(&loop);
}

static int tear_down(void **unused)
{
    (void)unused;
    close(listener);
    net_loop_done(&loop);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_answers_are_read_however_they_come),
        cmocka_unit_test(client_cut_anywhere_fails),
        cmocka_unit_test(client_waiting_gives_the_same),
        cmocka_unit_test(client_kept_connection_is_used_again),
        cmocka_unit_test(client_cancelled_gives_up),
        cmocka_unit_test(client_nobody_there_is_told),
        cmocka_unit_test(client_head_without_end_is_refused),
        cmocka_unit_test(client_deadline_is_a_total),
        cmocka_unit_test(client_answer_counts_by_its_head),
        cmocka_unit_test(client_endless_answer_counts_at_once),
        cmocka_unit_test(client_early_answer_counts),
        cmocka_unit_test(client_long_request_is_not_begun),
        cmocka_unit_test(client_body_of_pieces_arrives_whole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
