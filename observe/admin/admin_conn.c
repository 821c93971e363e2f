/* One client: a request is read, answered, and perhaps another follows. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "observe/admin/admin_parts.h"

void admin_conn_free(struct admin_conn *c)
{
    net_conn_close(&c->net);
    bide__out_done(&c->out);
    free(c);
}

short admin_conn_wants(const struct admin_conn *c)
{
    bool unsent = c->sent < c->out.len;

    if (c->greeting)
        return POLLIN; /* what we say of it fits into the socket */
    if (c->mode == ADMIN_STREAMING)
        return unsent ? POLLIN | POLLOUT : POLLIN; /* POLLIN: it hung up */
    return c->mode == ADMIN_WRITING ? POLLOUT : POLLIN;
}

void admin_conn_send(struct admin_conn *c, int64_t now)
{
    c->sent = 0;
    c->until_ns = now + ADMIN_PATIENCE_NS;
    if (c->mode != ADMIN_STREAMING)
        c->mode = ADMIN_WRITING;
}

/* ===== reading ===== */

static void refuse(struct admin_conn *c, int status, const char *why,
                   int64_t now)
{
    c->keep = false;
    admin_problem(c, status, why);
    admin_conn_send(c, now);
}

static void drop_front(struct admin_conn *c, size_t n)
{
    c->in_len -= n;
    memmove(c->in, c->in + n, c->in_len);
}

/* A whole head is there: answer it. What it says of a body is thrown away as it
 * comes, after the answer has been made but before it is sent. */
static void answer(struct bide__admin *a, struct admin_conn *c, size_t head,
                   int64_t now)
{
    if (c->head.framing == HTTP1_CHUNKED ||
        (c->head.has_length && c->head.content_length > ADMIN_BODY)) {
        refuse(c, 400, "expected no body, or a short one with its length", now);
        return;
    }
    c->keep = c->head.keep_alive;
    c->skip = c->head.framing == HTTP1_LENGTH ? c->head.content_length : 0;
    admin_route(a, c, now);
    drop_front(c, head);
    if (c->skip)
        c->mode = ADMIN_SKIPPING;
    else
        admin_conn_send(c, now);
}

static void take_request(struct bide__admin *a, struct admin_conn *c,
                         int64_t now)
{
    int n = http1_parse(&c->head, c->in, c->in_len);

    if (n > 0)
        answer(a, c, (size_t)n, now);
    else if (n < 0)
        refuse(c, http1_error_status(n), http1_error_text(n), now);
}

static void skip_body(struct admin_conn *c, int64_t now)
{
    size_t n = c->skip < c->in_len ? (size_t)c->skip : c->in_len;

    drop_front(c, n);
    c->skip -= n;
    if (c->skip == 0)
        admin_conn_send(c, now);
}

static void expect_request(struct admin_conn *c, int64_t now)
{
    c->mode = ADMIN_READING;
    c->until_ns = now + (c->in_len ? ADMIN_PATIENCE_NS : ADMIN_IDLE_NS);
    bide__out_clear(&c->out);
    c->sent = 0;
    http1_request_init(&c->head, c->fields, ADMIN_FIELDS, ADMIN_HEAD);
}

/* As net_read(): 0, it hung up; NET_ERROR, it broke off. */
static ssize_t read_some(struct admin_conn *c)
{
    char nowhere[512];
    bool streaming = c->mode == ADMIN_STREAMING;
    char *to = streaming ? nowhere : c->in + c->in_len;
    size_t room = streaming ? sizeof nowhere : sizeof c->in - c->in_len;
    ssize_t n = room ? net_read(&c->net, to, room) : 0;

    if (n > 0 && !streaming)
        c->in_len += (size_t)n;
    return n;
}

/* ===== writing ===== */

static bool write_some(struct admin_conn *c, int64_t now)
{
    while (c->sent < c->out.len) {
        ssize_t n =
            net_write(&c->net, c->out.data + c->sent, c->out.len - c->sent);
        if (n < 0)
            return n == NET_AGAIN;
        c->sent += (size_t)n;
        c->moved_ns = now;
    }
    return true;
}

/* ===== a step ===== */

/* Does what can be done with what was read. */
static bool go_on(struct bide__admin *a, struct admin_conn *c, int64_t now)
{
    if (c->mode == ADMIN_SKIPPING)
        skip_body(c, now);
    if (c->mode == ADMIN_READING && c->in_len)
        take_request(a, c, now);
    if (c->out.failed || !write_some(c, now))
        return false;
    if (c->mode == ADMIN_WRITING && c->sent == c->out.len) {
        if (!c->keep)
            return false;
        expect_request(c, now);
        if (c->in_len) /* another one came with it */
            return go_on(a, c, now);
    }
    return true;
}

/* Whether there is something to read that poll() does not know of. */
static bool is_hidden(struct admin_conn *c)
{
    return c->net.session && c->mode != ADMIN_WRITING &&
           c->net.layer->pending(&c->net);
}

static bool read_and_go_on(struct bide__admin *a, struct admin_conn *c,
                           bool readable, int64_t now)
{
    for (;;) {
        bool was_empty = c->in_len == 0;
        ssize_t n = readable ? read_some(c) : 1;
        if (n == 0 || n == NET_ERROR)
            return false;
        if (readable && n > 0 && c->mode == ADMIN_READING && was_empty)
            c->until_ns = now + ADMIN_PATIENCE_NS;
        if (!go_on(a, c, now))
            return false;
        if (n == NET_AGAIN || !is_hidden(c))
            return true;
        readable = true;
    }
}

bool admin_conn_step(struct bide__admin *a, struct admin_conn *c, short events,
                     int64_t now)
{
    const char *why;
    bool readable = (events & (POLLIN | POLLHUP | POLLERR)) != 0;

    if (c->mode == ADMIN_READING && c->until_ns == 0) { /* it is new */
        expect_request(c, now);
        if (c->greeting)
            c->until_ns = now + ADMIN_PATIENCE_NS;
    }
    if (c->greeting) {
        int rc = c->net.layer->handshake(&c->net, &why);
        if (rc != 1)
            return rc == NET_AGAIN;
        c->greeting = false;
        readable = true; /* a request may have come with it */
    }
    return read_and_go_on(a, c, readable, now);
}
