/* net/http/server_conn.c: one connection: reads a request, answers it, and may
 * read another. */
#include "net/http/server_conn.h"
#include "net/http/server_room.h"

#include <string.h>

enum { NOWHERE = 512 }; /* bytes that are discarded at a time */

static bool is_open(const struct http_conn *c)
{
    return c->net.io.fd >= 0;
}

void http_conn_allow(struct http_conn *c, int64_t ns)
{
    net_timer_set(c->server->loop, &c->timer,
                  net_after(c->server->loop->now_ns, ns));
}

/* ===== reading ===== */

static void expect_request(struct http_conn *c)
{
    const struct http_server *s = c->server;

    c->phase = HTTP_READING;
    bide__out_clear(&c->out);
    c->sent = 0;
    http1_request_init(&c->head, c->fields, HTTP_SERVER_FIELDS, s->max_head);
    http_conn_allow(c, c->in_len ? s->patience_ns : s->idle_ns);
}

/* Removes n bytes from the input, starting at `at`. */
static void cut(struct http_conn *c, size_t at, size_t n)
{
    c->in_len -= n;
    memmove(c->in + at, c->in + at + n, c->in_len - at);
}

/* The body is discarded as it arrives, before the request is answered. */
static void begin_body(struct http_conn *c)
{
    size_t there = c->in_len - c->head.head_len;

    c->skip = c->head.framing == HTTP1_LENGTH ? c->head.content_length : 0;
    if (there > c->skip)
        there = (size_t)c->skip;
    cut(c, c->head.head_len, there);
    c->skip -= there;
    c->phase = HTTP_SKIPPING;
}

static void refuse(struct http_conn *c, int status, const char *why)
{
    c->keep = false;
    c->phase = HTTP_ASKED;
    c->handing = true;
    c->server->refuse(c, status, why);
    c->handing = false;
    http_conn_allow(c, c->server->patience_ns);
}

/* Whether a complete head was there, or something malformed. */
static bool take_head(struct http_conn *c)
{
    int n = c->in_len ? http1_parse(&c->head, c->in, c->in_len) : 0;

    if (n < 0)
        refuse(c, http1_error_status(n), http1_error_text(n));
    else if (n > 0 && (c->head.framing == HTTP1_CHUNKED ||
                       (c->head.has_length &&
                        c->head.content_length > c->server->max_body)))
        refuse(c, 400, "expected no body, or a short one with its length");
    else if (n > 0)
        begin_body(c);
    return n != 0;
}

static void hand_out(struct http_conn *c)
{
    c->keep = c->head.keep_alive;
    c->phase = HTTP_ASKED;
    net_timer_cancel(c->server->loop, &c->timer);
    c->handing = true;
    c->server->request(c);
    c->handing = false;
    if (c->phase != HTTP_ASKED)
        http_conn_allow(c, c->server->patience_ns);
}

/* False: the client closed the connection, or reading failed. */
static bool read_some(struct http_conn *c)
{
    char nowhere[NOWHERE];
    bool reading = c->phase == HTTP_READING;
    size_t room = reading ? c->server->max_head - c->in_len : NOWHERE;

    if (c->phase == HTTP_SKIPPING && c->skip < room)
        room = (size_t)c->skip;
    ssize_t n = room == 0 ? 0
                          : net_read(&c->net,
                                     reading ? c->in + c->in_len : nowhere,
                                     room);
    if (n <= 0)
        return n == NET_AGAIN;
    if (reading && c->in_len == 0)
        http_conn_allow(c, c->server->patience_ns);
    if (reading)
        c->in_len += (size_t)n;
    else
        c->skip -= c->phase == HTTP_SKIPPING ? (size_t)n : 0;
    return true;
}

/* ===== writing ===== */

bool http_conn_write(struct http_conn *c)
{
    while (c->sent < c->out.len && !c->out.failed) {
        ssize_t n =
            net_write(&c->net, c->out.data + c->sent, c->out.len - c->sent);
        if (n == NET_AGAIN) {
            http_server_bound_waiting(c->server);
            return false;
        }
        if (n < 0)
            c->out.failed = true;
        else
            c->sent += (size_t)n;
        c->moved_ns = c->server->loop->now_ns;
    }
    if (c->out.failed)
        http_conn_drop(c, false);
    return !c->out.failed;
}

static void finish_answer(struct http_conn *c)
{
    if (!c->keep) {
        http_conn_drop(c, false);
        return;
    }
    cut(c, 0, c->head.head_len);
    expect_request(c);
}

/* ===== a step ===== */

/* Processes what was read, as far as possible. */
static void go_on(struct http_conn *c)
{
    while (is_open(c)) {
        if (c->phase == HTTP_READING && take_head(c))
            continue;
        if (c->phase == HTTP_SKIPPING && c->skip == 0)
            hand_out(c);
        if (c->phase == HTTP_STREAMING)
            http_conn_write(c);
        if (c->phase != HTTP_WRITING || !http_conn_write(c))
            return;
        finish_answer(c);
    }
}

static bool wants_input(const struct http_conn *c)
{
    return is_open(c) && net_can_read(&c->net) &&
           (c->phase == HTTP_READING || c->phase == HTTP_SKIPPING ||
            c->phase == HTTP_STREAMING);
}

static void greet(struct http_conn *c)
{
    const char *why;
    int rc = c->net.layer->handshake(&c->net, &why);

    if (rc == 1) {
        expect_request(c);
        c->net.readable = true; /* a request may have arrived with it */
    } else if (rc != NET_AGAIN) {
        http_conn_drop(c, false);
    }
}

/* Reads once; the other connections get their turn before the next read. */
void http_conn_serve(struct http_conn *c)
{
    if (c->phase == HTTP_GREETING_CLIENT)
        greet(c);
    go_on(c);
    if (wants_input(c)) {
        if (read_some(c))
            go_on(c);
        else
            http_conn_drop(c, false);
    }
    if (wants_input(c))
        net_task_later(c->server->loop, &c->again);
}

void http_conn_again(struct net_task *task)
{
    http_conn_serve(bide__container_of(task, struct http_conn, again));
}

void http_conn_ready(struct net_io *io, unsigned events)
{
    struct http_conn *c = (struct http_conn *)io;

    net_conn_note(&c->net, events);
    if (c->phase != HTTP_ASKED)
        http_conn_serve(c);
    else if (c->net.hup)
        http_conn_drop(c, false);
}

void http_conn_begin(struct http_conn *c)
{
    expect_request(c);
    if (c->net.session) {
        c->phase = HTTP_GREETING_CLIENT;
        http_conn_allow(c, c->server->patience_ns);
    }
    http_conn_serve(c);
}
