/* Reading heads: from the first byte of a request to the end of its head. */
#include <string.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "net/stream/stream.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/request.h"
#include "proxy/front/client.h"
#include "proxy/front/client_http2.h"
#include "proxy/front/client_linger.h"
#include "proxy/front/turn_away.h"
#include "proxy/worker.h"

/* No memory for what it sends. */
static void client_shed(struct client *c)
{
    char text[TURN_AWAY];
    size_t n =
        turn_away_text(c->worker->conf, "memory", "too much is kept", text);
    count(&c->worker->counters.shed);
    (void)!net_write(&c->conn, text, n);
    client_linger(c);
}

void client_rest(struct client *c)
{
    net_buf_give(&c->worker->bufs, c->in);
    c->in = NULL;
    c->phase = CLIENT_IDLE;
    client_until(c, net_after(c->worker->loop.now_ns,
                              c->worker->conf->timeouts.idle_ns));
    if (c->worker->draining && !c->worker->patient)
        client_abort(c);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A message begins at the front of the buffer, so that there is room for all of
 * it. */
static bool begin_head(struct client *c)
{
    struct worker *w = c->worker;
    struct net_buf *b = c->in;
    const struct bide__proxy_limits *limits = &w->conf->limits;
    if (!(c->ex = exchange_new(c)))
        return false;
    if (b->begin > 0) {
        memmove(b->data, b->data + b->begin, net_buf_len(b));
        b->end -= b->begin;
        b->begin = 0;
    }
    http1_request_init(&c->ex->req, c->ex->fields, limits->headers,
                       limits->header_bytes);
    c->phase = CLIENT_HEAD;
    client_until(c, net_after(w->loop.now_ns,
                              least(w->conf->timeouts.header_ns,
                                    w->conf->timeouts.request_ns)));
    return true;
}

/* Reads more: false if there is nothing, or the connection is gone. */
static bool read_more(struct client *c)
{
    struct worker *w = c->worker;
    bool nothing = !c->ex && (!c->in || net_buf_len(c->in) == 0);
    if (!net_can_read(&c->conn)) {
        if (nothing)
            client_rest(c);
        return false;
    }
    if (!c->in && !(c->in = net_buf_take_if(&w->bufs))) {
        client_shed(c);
        return false;
    }
    if (net_buf_len(c->in) == 0) /* all of it was the previous request */
        c->in->begin = c->in->end = 0;
    ssize_t n = net_read(&c->conn, net_buf_room(c->in), net_buf_space(c->in));
    if (n > 0) {
        c->in->end += (uint32_t)n;
        count_n(&w->counters.bytes_in, (uint64_t)n);
        return true;
    }
    if (n == NET_AGAIN) {
        if (nothing)
            client_rest(c);
        return false;
    }
    client_abort(c);
    return false;
}

/* The first bytes of a connection say which protocol it speaks. Positive: HTTP/2;
 * 0: more of them are needed. */
static int speaks_http2(const struct client *c)
{
    if (c->begun || c->in->data[c->in->begin] != 'P')
        return -1;
    return http2_is_preface(net_buf_at(c->in), net_buf_len(c->in));
}

/* Also what HTTP/2 has found wrong with it: it is too large, but answered. */
static int parse(struct client *c)
{
    int rc = http1_parse(&c->ex->req, net_buf_at(c->in), net_buf_len(c->in));
    const struct stream *s = c->is_stream ? stream_of(&c->conn) : NULL;
    return s && s->error ? s->error : rc;
}

bool client_read_head(struct client *c)
{
    if (!c->in || net_buf_len(c->in) == 0)
        return read_more(c);
    int http2 = c->ex ? -1 : speaks_http2(c);
    if (http2 == 0)
        return read_more(c);
    if (http2 > 0) {
        client_begin_http2(c);
        return false;
    }
    c->begun = true;
    if (!c->ex && !begin_head(c)) {
        client_shed(c);
        return false;
    }
    int rc = parse(c);
    if (rc == 0)
        return read_more(c);
    c->phase = CLIENT_BUSY;
    exchange_await(c->ex);
    if (rc > 0) {
        exchange_begin(c->ex);
    } else {
        count(&c->worker->counters.refused);
        own_answer_malformed(c->ex, rc);
    }
    return true;
}
