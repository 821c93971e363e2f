/* A stream's beginning and end, and being told. */
#include "net/stream/stream.h"

#include "net/stream/mux.h"
#include "net/stream/stream_io.h"

void stream_attach(struct stream *s, struct net_conn *conn)
{
    s->conn = conn;
    conn->io.fd = -1;
    conn->session = s;
    conn->layer = &stream_layer;
    conn->readable = conn->writable = true;
}

void stream_wake(struct stream *s, unsigned events)
{
    if (!s->conn)
        return;
    if (events & EPOLLHUP) /* known at once to whoever looks */
        s->conn->hup = s->conn->broken = true;
    s->events |= (uint8_t)events;
    if (!bide__list_has(&s->list))
        bide__list_append(&s->mux->woken, &s->list);
    mux_later(s->mux);
}

/* An answer that is complete stays so. */
void stream_died(struct stream *s, bool not_processed)
{
    bool whole =
        s->mux->http2.role == HTTP2_CLIENT && s->receiving == STREAM_RECEIVED;
    s->dead = true;
    s->not_processed = not_processed;
    stream_wake(s, whole ? EPOLLIN | EPOLLOUT : EPOLLIN | EPOLLOUT | EPOLLHUP);
}

const char *stream_end(const struct net_conn *c)
{
    const struct stream *s = stream_of(c);
    if (!s || !s->dead)
        return NULL;
    if (s->how == HTTP2_LOST)
        return "CONNECTION";
    if (s->how == HTTP2_BY_PEER && s->not_processed &&
        s->code != HTTP2_REFUSED_STREAM)
        return "GOAWAY";
    return http2_code_name(s->code);
}

bool stream_is_early(const struct net_conn *c)
{
    const struct stream *s = stream_of(c);
    return s && !s->dead && !s->tunnel && s->sending == STREAM_SENT &&
           s->receiving != STREAM_RECEIVED;
}

/* ===== the end ===== */

bool stream_is_sent(const struct stream *s)
{
    return s->dead || s->below.flags & HTTP2_OUT_ENDED;
}

/* A server that has answered needs the rest of the request no more, and says so
 * without an error; one that has not must not look as if it had. */
static enum http2_code code_of(const struct stream *s)
{
    bool asks = s->mux->http2.role == HTTP2_CLIENT;
    return asks                        ? HTTP2_CANCEL
           : s->sending == STREAM_SENT ? HTTP2_NO_ERROR
                                       : HTTP2_INTERNAL_ERROR;
}

static void drop_all(struct stream *s, struct net_buf *b)
{
    struct net_buf *next;
    for (; b; b = next) {
        next = b->next;
        net_buf_give(s->mux->bufs, b);
    }
}

void stream_release(struct stream *s)
{
    if (s->below.conn) /* it copies what is being sent, and so comes first */
        http2_release(&s->below, code_of(s));
    s->mux->n_out -= s->n_out;
    drop_all(s, s->out);
    drop_all(s, s->trailer);
    mux_forget(s->mux, s);
}

/* ===== the layer ===== */

static int handshake(struct net_conn *c, const char **ret_why)
{
    (void)c;
    (void)ret_why;
    return 1;
}

static bool pending(struct net_conn *c)
{
    return ((struct stream *)c->session)->in != NULL;
}

static void shut(struct net_conn *c)
{
    stream_end_tunnel(c->session);
}

/* What was written completely is still sent. Else the peer must not take what it
 * got for all of it. */
static void let_go(struct net_conn *c)
{
    struct stream *s = c->session;
    s->conn = NULL;
    drop_all(s, s->in);
    s->in = s->in_last = NULL;
    if (bide__list_has(&s->list))
        bide__list_remove(&s->list);
    if ((s->mux->http2.role == HTTP2_SERVER || s->tunnel) &&
        s->sending == STREAM_SENT && !stream_is_sent(s))
        bide__list_append(&s->mux->leaving, &s->list);
    else
        stream_release(s);
}

const struct net_layer stream_layer = {
    stream_read, stream_writev, handshake, pending, shut, let_go,
};
