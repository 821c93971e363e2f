/* The part of a response that its client has not taken yet. */
#include <string.h>

#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/stream/mux.h"
#include "net/stream/stream.h"
#include "proxy/exchange/answer_body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/front/client.h"
#include "proxy/once/once.h"
#include "proxy/worker.h"

enum { HELD_SHARE = 16 }; /* one part of so many of http2_conf.memory_bytes */

/* ===== what is held ===== */

static void count_held(struct worker *w, int more)
{
    w->n_held = (uint32_t)((int64_t)w->n_held + more);
    atomic_store_explicit(&w->now_held, (uint64_t)w->n_held * w->bufs.size,
                          memory_order_relaxed);
}

static void give_first(struct exchange *ex)
{
    struct net_buf *b = ex->held;
    ex->held = b->next;
    ex->n_held--;
    count_held(ex->worker, -1);
    net_buf_give(&ex->worker->bufs, b);
}

void answer_drop(struct exchange *ex)
{
    while (ex->held)
        give_first(ex);
}

/* The streams of a connection share what one of it may hold: the more there are,
 * the less for each. */
static uint64_t most_held(const struct exchange *ex)
{
    uint64_t most = exchange_conf(ex)->limits.answer_buffer_bytes;
    const struct stream *s = stream_of(&ex->client->conn);
    if (!s)
        return most;
    uint64_t share = s->mux->conf.memory_bytes / HELD_SHARE / s->mux->n_streams;
    return share < most ? share : most;
}

/* Half of the memory is reserved for requests without a response. */
static bool may_hold(const struct exchange *ex)
{
    const struct worker *w = ex->worker;
    bool kept_first = ex->once && once_holds(ex); /* its length is limited */
    return (kept_first ||
            (uint64_t)(ex->n_held + 1) * w->bufs.size <= most_held(ex)) &&
           w->n_held < w->bufs.max_taken / 2;
}

bool answer_hold(struct exchange *ex)
{
    struct attempt *a = ex->winner;
    struct net_buf *full = a->in;
    struct net_buf *b =
        may_hold(ex) ? net_buf_take_if(&ex->worker->bufs) : NULL;
    if (!b)
        return false;
    b->end = full->end - a->scanned; /* not looked at yet */
    memcpy(b->data, full->data + a->scanned, b->end);
    full->end = a->ready;
    *(ex->held ? &ex->held_last->next : &ex->held) = full;
    ex->held_last = full;
    ex->n_held++;
    count_held(ex->worker, 1);
    a->in = b;
    a->ready = a->scanned = 0;
    return true;
}

/* ===== what is next ===== */

static struct iovec piece(struct net_buf *b, uint32_t end)
{
    return (struct iovec){ net_buf_at(b), end - b->begin };
}

int answer_pieces(const struct exchange *ex, struct iovec iov[ANSWER_PIECES])
{
    const struct attempt *a = ex->winner;
    int n = 0;
    if (ex->interim)
        iov[n++] = piece(ex->interim, ex->interim->end);
    if (ex->out)
        iov[n++] = piece(ex->out, ex->out->end);
    for (struct net_buf *b = ex->held; b; b = b->next) {
        if (n == ANSWER_PIECES)
            return n;
        iov[n++] = piece(b, b->end);
    }
    if (a && a->ready > a->in->begin && n < ANSWER_PIECES)
        iov[n++] = piece(a->in, a->ready);
    if (ex->tail.iov_len > 0 && n < ANSWER_PIECES) /* of our own response */
        iov[n++] = ex->tail;
    return n;
}

/* Consumes up to n bytes of a buffer, and frees it when it is empty: returns
 * how many. */
static size_t take_off(struct exchange *ex, struct net_buf **b, size_t n)
{
    if (!*b)
        return 0;
    size_t len = net_buf_len(*b) < n ? net_buf_len(*b) : n;
    (*b)->begin += (uint32_t)len;
    if (net_buf_len(*b) == 0) {
        net_buf_give(&ex->worker->bufs, *b);
        *b = NULL;
    }
    return len;
}

static size_t take_off_held(struct exchange *ex, size_t n)
{
    size_t left = n;
    while (ex->held && left >= net_buf_len(ex->held)) {
        left -= net_buf_len(ex->held);
        give_first(ex);
    }
    if (!ex->held)
        return n - left;
    ex->held->begin += (uint32_t)left;
    return n;
}

void answer_left(struct exchange *ex, size_t n)
{
    count_n(&ex->worker->counters.bytes_out, n);
    n -= take_off(ex, &ex->interim, n);
    ex->out_bytes += n;
    n -= take_off(ex, &ex->out, n);
    if (ex->held)
        n -= take_off_held(ex, n);
    if (n == 0)
        return;
    if (ex->winner) {
        ex->winner->in->begin += (uint32_t)n;
    } else {
        ex->tail.iov_base = (char *)ex->tail.iov_base + n;
        ex->tail.iov_len -= n;
    }
}
