/* net/http/client.c: the state machine behind both ways to send a request. It
 * never blocks. */
#include "net/http/client.h"

#include <stdio.h>
#include <string.h>

enum { PARTS = 1 + HTTP_CLIENT_BODY };

void http_client_init(struct http_client *c, char *in, size_t size)
{
    *c = (struct http_client){ .in = in, .in_size = size, .conn.io.fd = -1 };
}

void http_client_close(struct http_client *c)
{
    if (c->loop)
        net_timer_cancel(c->loop, &c->timer);
    net_conn_close(&c->conn);
    c->phase = HTTP_IDLE;
}

/* An idle connection must have nothing to read. TLS may have sent records of
 * its own: they must be read to tell. */
bool http_client_is_open(struct http_client *c)
{
    if (c->conn.io.fd < 0)
        return false;
    c->conn.readable = c->conn.session != NULL;
    return !net_conn_stale(&c->conn);
}

void http_client_stop(struct http_client *c, bide_fault fault, int error)
{
    bool counts = c->phase == HTTP_BODY && !c->request.into;

    if (fault != BIDE_FAULT_NONE)
        c->keep = false;
    c->fault = counts ? BIDE_FAULT_NONE : fault;
    c->error = error;
    c->phase = HTTP_IDLE;
    if (!c->keep)
        net_conn_close(&c->conn);
}

/* ===== beginning ===== */

static void expect_head(struct http_client *c)
{
    size_t most = c->in_size - HTTP_CLIENT_ROOM;
    bool head = strcmp(c->request.method, "HEAD") == 0;

    http1_response_init(&c->head, c->fields, HTTP1_FIELDS,
                        most < HTTP1_HEAD_MOST ? (unsigned)most
                                               : HTTP1_HEAD_MOST,
                        head ? HTTP1_HEAD : HTTP1_GET, false);
}

bool http_client_fits(struct http_client *c, const struct http_request *r)
{
    char length[48] = "";
    size_t body = 0;

    for (int i = 0; i < HTTP_CLIENT_BODY; i++)
        body += (c->parts[1 + i] = r->body[i]).iov_len;
    if (body > 0 || r->method[0] == 'P') /* POST, PUT, PATCH */
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", body);
    int n = snprintf(c->out, sizeof c->out,
                     "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", r->method,
                     r->target, r->host, r->headers ? r->headers : "", length,
                     r->keep ? "" : "Connection: close\r\n");
    c->parts[0] = (struct iovec){ c->out, (size_t)n };
    return n > 0 && (size_t)n < sizeof c->out;
}

static bool is_ours(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS ||
           error == ENOMEM;
}

bool http_client_begin(struct http_client *c, const struct http_request *r)
{
    bool open = http_client_is_open(c);

    c->request = *r;
    c->sent = c->cut = false;
    c->keep = r->keep;
    c->in_len = 0;
    c->part = 0;
    c->body_len = 0;
    expect_head(c);
    if (!http_client_fits(c, r) || (!open && !r->to)) {
        http_client_stop(c, BIDE_FAULT_LOCAL, EINVAL);
        return false;
    }
    c->phase = open ? HTTP_SENDING : HTTP_CONNECTING;
    if (open)
        return true;
    net_conn_close(&c->conn);
    c->conn = (struct net_conn){ .io = { .ready = c->conn.io.ready,
                                         .fd = net_connect(r->to) } };
    if (c->conn.io.fd >= 0)
        return true;
    http_client_stop(
        c, is_ours(errno) ? BIDE_FAULT_LOCAL : BIDE_FAULT_CONNECT, errno);
    return false;
}

static void connected(struct http_client *c)
{
    if (!c->conn.writable)
        return;
    int error = net_connect_result(c->conn.io.fd);
    if (error != 0)
        http_client_stop(c, BIDE_FAULT_CONNECT, error);
    else if (c->connected && !c->connected(c))
        http_client_stop(c, BIDE_FAULT_LOCAL, 0);
    else
        c->phase = c->conn.session ? HTTP_GREETING : HTTP_SENDING;
}

/* Our side of the handshake is short and fits into the socket's buffer. */
static void greet(struct http_client *c)
{
    const char *why = NULL;
    int rc = c->conn.layer->handshake(&c->conn, &why);

    if (rc == 1)
        c->phase = HTTP_SENDING;
    else if (rc != NET_AGAIN)
        http_client_stop(c, why ? BIDE_FAULT_TLS : BIDE_FAULT_RESET, 0);
}

/* ===== sending ===== */

static void advance(struct http_client *c, size_t n)
{
    for (; c->part < PARTS; c->part++) {
        struct iovec *p = &c->parts[c->part];
        if (n < p->iov_len) {
            p->iov_base = (char *)p->iov_base + n;
            p->iov_len -= n;
            return;
        }
        n -= p->iov_len;
    }
}

static void send_request(struct http_client *c)
{
    while (c->part < PARTS) {
        ssize_t n = net_writev(&c->conn, &c->parts[c->part], PARTS - c->part);
        if (n == NET_AGAIN)
            return;
        if (n < 0) { /* the server may have answered before it closed */
            c->cut = c->conn.readable = true;
            return;
        }
        c->sent = true;
        advance(c, (size_t)n);
    }
    c->phase = HTTP_HEAD;
}

/* ===== reading ===== */

/* Skips interim responses; returns http1_parse()'s result for the final one. */
static int parse(struct http_client *c)
{
    int rc;
    while ((rc = http1_parse(&c->head, c->in, c->in_len)) > 0 &&
           c->head.status < 200) {
        c->in_len -= (size_t)rc;
        memmove(c->in, c->in + rc, c->in_len);
        expect_head(c);
    }
    return rc;
}

static void take_head(struct http_client *c)
{
    int rc = parse(c);
    if (rc < 0)
        http_client_stop(c, BIDE_FAULT_MALFORMED, 0);
    if (rc <= 0)
        return;
    c->keep &= c->phase == HTTP_HEAD && c->head.keep_alive;
    c->at = (size_t)rc;
    c->phase = HTTP_BODY;
    if (!c->keep && !c->request.into) {
        http_client_stop(c, BIDE_FAULT_NONE, 0);
        return;
    }
    http1_body_init(&c->body, c->head.framing, c->head.content_length);
    http1_body_max_trailer(&c->body, HTTP1_TRAILER_FIELDS, HTTP_CLIENT_ROOM);
}

static bide_fault take_piece(struct http_client *c, const char *data, size_t n)
{
    struct bide__out *into = c->request.into;

    c->body_len += n;
    if (c->body_len > c->request.max_body)
        return BIDE_FAULT_TOO_LONG;
    if (into)
        bide__out_bytes(into, data, n);
    return into && into->failed ? BIDE_FAULT_LOCAL : BIDE_FAULT_NONE;
}

/* Bytes after the body were not asked for: such a connection is not kept. */
static void take_body(struct http_client *c)
{
    struct http1_piece piece;
    int rc;

    do {
        const char *from = c->in + c->at;
        rc = http1_body_next(&c->body, from, c->in_len - c->at, &piece);
        bide_fault fault = rc < 0 ? BIDE_FAULT_MALFORMED : BIDE_FAULT_NONE;
        if (rc == HTTP1_DATA)
            fault = take_piece(c, from + piece.data, piece.data_len);
        if (fault != BIDE_FAULT_NONE) {
            http_client_stop(c, fault, 0);
            return;
        }
        c->at += piece.consumed;
    } while (rc == HTTP1_DATA);
    if (rc == HTTP1_END) {
        c->keep &= c->at == c->in_len;
        http_client_stop(c, BIDE_FAULT_NONE, 0);
        return;
    }
    memmove(c->in + c->head.head_len, c->in + c->at, c->in_len - c->at);
    c->in_len -= c->at - c->head.head_len;
    c->at = c->head.head_len;
}

static void ended(struct http_client *c)
{
    bool whole = c->phase == HTTP_BODY &&
                 http1_body_eof(&c->body) == HTTP1_END;

    c->keep = false;
    http_client_stop(c, whole ? BIDE_FAULT_NONE : BIDE_FAULT_RESET, 0);
}

static void read_answer(struct http_client *c)
{
    while (c->phase != HTTP_IDLE && net_can_read(&c->conn)) {
        ssize_t n = net_read(&c->conn, c->in + c->in_len,
                             c->in_size - c->in_len);
        if (n == NET_AGAIN)
            break;
        if (n == 0)
            ended(c);
        if (n < 0)
            http_client_stop(c, BIDE_FAULT_RESET, errno);
        if (n <= 0)
            return;
        c->in_len += (size_t)n;
        if (c->phase != HTTP_BODY)
            take_head(c);
        if (c->phase == HTTP_BODY)
            take_body(c);
    }
    if (c->cut && c->phase == HTTP_SENDING)
        http_client_stop(c, BIDE_FAULT_RESET, EPIPE);
}

void http_client_step(struct http_client *c, unsigned events)
{
    net_conn_note(&c->conn, events);
    if (c->phase == HTTP_CONNECTING)
        connected(c);
    if (c->phase == HTTP_GREETING)
        greet(c);
    if (c->phase == HTTP_SENDING)
        send_request(c);
    if (c->phase >= HTTP_SENDING)
        read_answer(c);
}
