/* A connection with many streams: reading, telling, writing. */
#include "net/stream/mux.h"

#include <stdlib.h>
#include <string.h>

#include "bide/run.h"
#include "net/stream/stream_io.h"

enum {
    READ = 16384,
    ROUNDS = 8, /* in one go: others wait for this thread, too */
    FREE_STREAMS = NET_SPARES(256),
};

static int64_t now_of(const struct mux *m)
{
    return m->shared->loop->now_ns;
}

/* ===== streams ===== */

static struct stream *stream_new(struct mux *m)
{
    struct mux_shared *h = m->shared;
    struct stream *s = h->free;
    if (s) {
        h->free = s->next;
        h->n_free--;
    } else if (!(s = malloc(sizeof *s))) {
        return NULL;
    }
    memset(s, 0, offsetof(struct stream, body));
    s->mux = m;
    m->n_streams++;
    return s;
}

static void stream_free(struct mux_shared *h, struct stream *s)
{
    if (h->n_free == FREE_STREAMS) {
        free(s);
        return;
    }
    s->next = h->free;
    h->free = s;
    h->n_free++;
}

static void free_mux(void *user, struct net_grave *grave)
{
    (void)user;
    free(bide__container_of(grave, struct mux, grave));
}

static void end_if_unused(struct mux *m)
{
    if (m->conn || m->n_streams > 0)
        return;
    http2_done(&m->http2);
    net_loop_bury(m->shared->loop, &m->grave, free_mux);
}

void mux_forget(struct mux *m, struct stream *s)
{
    if (s->unopened)
        m->n_unopened--;
    if (bide__list_has(&s->list))
        bide__list_remove(&s->list);
    m->n_streams--;
    m->eased = true;
    stream_free(m->shared, s);
    if (m->conn)
        mux_later(m);
    else
        end_if_unused(m);
}

bool mux_begin(struct mux *m, struct stream *s)
{
    if (s->dead || !http2_open(&m->http2, &s->below))
        return false;
    s->unopened = false;
    m->n_unopened--;
    return true;
}

uint32_t mux_may_open(const struct mux *m)
{
    uint32_t n = m->conn ? http2_may_open(&m->http2) : 0;
    return n > m->n_unopened ? n - m->n_unopened : 0;
}

bool mux_open(struct mux *m, struct net_conn *conn)
{
    struct stream *s = mux_may_open(m) > 0 ? stream_new(m) : NULL;
    if (!s)
        return false;
    s->unopened = true;
    m->n_unopened++;
    stream_attach(s, conn);
    conn->readable = false;
    return true;
}

/* ===== what has happened ===== */

static struct stream *of(struct http2_stream *s)
{
    return (struct stream *)s;
}

static void starve(struct stream *s)
{
    s->receiving = STREAM_AWAITED; /* it will never be complete */
    s->how = HTTP2_BY_US;
    s->code = HTTP2_INTERNAL_ERROR;
    stream_died(s, false);
}

static void on_request(struct http2_conn *c, const struct http2_head *h)
{
    struct mux *m = c->user;
    struct stream *s = stream_new(m);
    struct net_conn *conn = s ? m->calls->accept(m) : NULL;
    if (!conn) { /* it is refused */
        m->n_streams -= s != NULL;
        if (s)
            stream_free(m->shared, s);
        return;
    }
    http2_accept(c, &s->below);
    stream_attach(s, conn);
    if (!stream_take_head(s, h))
        starve(s);
    stream_wake(s, EPOLLIN);
}

static void on_response(struct http2_stream *below, const struct http2_head *h)
{
    struct stream *s = of(below);
    if (!stream_take_head(s, h))
        starve(s);
    stream_wake(s, EPOLLIN);
}

static void on_data(struct http2_stream *below, const char *bytes, size_t n,
                    bool end)
{
    struct stream *s = of(below);
    if (!s->conn) /* an answer was enough */
        http2_consumed(below, n);
    else if (!stream_take_data(s, bytes, n, end))
        starve(s);
    stream_wake(s, EPOLLIN);
}

static void on_trailers(struct http2_stream *below, const struct http2_head *h)
{
    struct stream *s = of(below);
    if (s->conn && !stream_take_trailers(s, h))
        starve(s);
    stream_wake(s, EPOLLIN);
}

static void on_taken(struct http2_stream *below, size_t n)
{
    stream_taken(of(below), n);
}

static void on_closed(struct http2_stream *below, enum http2_end how,
                      uint32_t code, bool unprocessed)
{
    struct stream *s = of(below);
    s->how = (uint8_t)how;
    s->code = code;
    stream_died(s, unprocessed);
}

static void on_goaway(struct http2_conn *c, const char *debug, size_t n)
{
    struct mux *m = c->user;
    if (m->calls->goaway)
        m->calls->goaway(m, debug, n);
    m->eased = true;
}

static void on_settings(struct http2_conn *c)
{
    ((struct mux *)c->user)->eased = true;
}

static void on_pong(struct http2_conn *c, int64_t took_ns)
{
    (void)c;
    (void)took_ns;
}

static const struct http2_calls calls = {
    .request = on_request,
    .response = on_response,
    .data = on_data,
    .trailers = on_trailers,
    .taken = on_taken,
    .closed = on_closed,
    .goaway = on_goaway,
    .pong = on_pong,
    .settings = on_settings,
};

/* ===== telling ===== */

/* Each may close its own stream, or even this connection. */
static void tell(struct mux *m)
{
    while (!bide__list_empty(&m->woken)) {
        struct stream *s =
            bide__container_of(m->woken.next, struct stream, list);
        unsigned events = s->events;
        bide__list_remove(&s->list);
        s->events = 0;
        s->conn->io.ready(&s->conn->io, events);
    }
}

static void sweep(struct mux *m)
{
    for (struct bide__list *at = m->leaving.next, *next; at != &m->leaving;
         at = next) {
        struct stream *s = bide__container_of(at, struct stream, list);
        next = at->next;
        if (stream_is_sent(s))
            stream_release(s);
    }
}

/* ===== writing ===== */

static void lose(struct mux *m)
{
    m->broken = true;
    http2_lost(&m->http2);
}

/* A peer that answers and resets the connection: what it said may have arrived, and
 * nobody has looked yet. So an error here is no end before all is read. */
static void write_out(struct mux *m)
{
    struct iovec iov[HTTP2_IOV];
    int n;
    while (m->conn->writable && !m->unwritable &&
           (n = http2_fill(&m->http2, iov)) > 0) {
        ssize_t put = net_writev(m->conn, iov, n);
        if (put == NET_AGAIN)
            return;
        if (put < 0) {
            m->unwritable = m->conn->readable = true;
            return;
        }
        http2_written(&m->http2, (size_t)put);
    }
}

/* ===== both ===== */

static bool is_over(const struct mux *m)
{
    const struct http2_conn *c = &m->http2;
    if (m->broken)
        return true;
    if (http2_wants_write(c))
        return false;
    return c->failed ||
           (m->n_streams == 0 &&
            (http2_is_shut(c) || (c->role == HTTP2_CLIENT && c->goaway_in)));
}

static void set_timer(struct mux *m)
{
    int64_t due = http2_due_ns(&m->http2);
    if (due == BIDE_FOREVER)
        net_timer_cancel(m->shared->loop, &m->timer);
    else if (!bide__timer_is_set(&m->timer.timer) ||
             m->timer.timer.at_ns != due)
        net_timer_set(m->shared->loop, &m->timer, due);
}

/* What has been noted meanwhile. */
static void settle(struct mux *m)
{
    for (int i = 0; i < ROUNDS; i++) {
        tell(m);
        if (!m->conn)
            return;
        write_out(m);
        sweep(m);
        if (bide__list_empty(&m->woken))
            break;
    }
    m->busy = false;
    net_task_cancel(&m->task);
    if (!bide__list_empty(&m->woken) || net_can_read(m->conn) ||
        (m->conn->writable && http2_wants_write(&m->http2)))
        mux_later(m);
    set_timer(m);
    if (m->eased) {
        m->eased = false;
        m->calls->eased(m);
    }
    if (m->conn && is_over(m))
        m->calls->over(m, m->broken || m->http2.failed);
}

/* True: more may be there. */
static bool read_some(struct mux *m)
{
    char in[READ];
    ssize_t n = net_read(m->conn, in, sizeof in);
    if (n == NET_AGAIN && !m->unwritable)
        return false;
    if (n <= 0) {
        lose(m);
        return false;
    }
    return http2_receive(&m->http2, in, (size_t)n, now_of(m)) >= 0;
}

void mux_ready(struct mux *m)
{
    if (m->busy)
        return;
    m->busy = true;
    for (int i = 0; i < ROUNDS && m->conn && net_can_read(m->conn); i++) {
        bool more = read_some(m);
        tell(m);
        if (!more)
            break;
    }
    if (m->conn)
        settle(m);
}

void mux_feed(struct mux *m, const void *bytes, size_t n)
{
    m->busy = true;
    http2_receive(&m->http2, bytes, n, now_of(m));
    settle(m);
}

void mux_later(struct mux *m)
{
    if (m->conn && !m->busy)
        net_task_last(m->shared->loop, &m->task);
}

static void on_task(struct net_task *t)
{
    mux_ready(bide__container_of(t, struct mux, task));
}

static void on_time(struct net_timer *t)
{
    struct mux *m = bide__container_of(t, struct mux, timer);
    http2_expire(&m->http2, now_of(m));
    mux_ready(m);
}

/* ===== beginning and end ===== */

struct mux *mux_new(struct mux_shared *shared, enum http2_role role,
                    const struct http2_conf *conf,
                    const struct mux_calls *owner, struct net_conn *conn)
{
    struct mux *m = calloc(1, sizeof *m);
    if (m)
        m->conf = *conf;
    if (!m || !http2_init(&m->http2, role, &m->conf, &calls, &shared->http2,
                          shared->loop->now_ns)) {
        free(m);
        return NULL;
    }
    m->http2.user = m;
    m->conn = conn;
    m->calls = owner;
    m->shared = shared;
    m->bufs = shared->bufs;
    m->task.run = on_task;
    m->timer.fire = on_time;
    bide__list_init(&m->woken);
    bide__list_init(&m->leaving);
    mux_later(m);
    return m;
}

void mux_drain(struct mux *m)
{
    http2_shutdown(&m->http2, now_of(m));
    mux_later(m);
}

void mux_close(struct mux *m)
{
    if (!m->conn)
        return;
    m->conn = NULL;
    m->n_streams++; /* it is used until here */
    net_task_cancel(&m->task);
    net_timer_cancel(m->shared->loop, &m->timer);
    http2_lost(&m->http2);
    tell(m);
    sweep(m);
    m->n_streams--;
    end_if_unused(m);
}

void mux_shared_init(struct mux_shared *shared, struct net_loop *loop,
                     struct net_bufs *bufs, unsigned max_headers,
                     unsigned max_bytes)
{
    *shared = (struct mux_shared){ .loop = loop, .bufs = bufs };
    http2_shared_init(&shared->http2, bufs, max_headers, max_bytes);
}

void mux_shared_done(struct mux_shared *shared)
{
    struct stream *s;
    while ((s = shared->free)) {
        shared->free = s->next;
        free(s);
    }
    http2_shared_done(&shared->http2);
}
