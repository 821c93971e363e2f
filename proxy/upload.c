/* The body of a request.
 *
 * It is kept, as it came, until all of it is there or the bound for replays is
 * reached; only then does the first attempt begin. So a slow client holds no
 * connection to an endpoint, and an attempt can be made again. What comes after
 * the bound is passed on piece by piece and is gone then: not_replayable.
 *
 * The kept bytes are the rest of the client's buffer behind the head, then a
 * chain of further buffers. */
#include <string.h>

#include "bide/run.h"
#include "client.h"
#include "exchange.h"
#include "worker.h"

/* ===== looking at what came ===== */

/* What comes after the body is the next request. */
static bool keep_rest(struct exchange *ex, struct net_buf *b, uint32_t from)
{
    uint32_t n = b->end - from;
    if (n == 0 || b == ex->client->in)
        return true;
    if (!(ex->rest = net_buf_take(&ex->worker->bufs)))
        return false;
    memcpy(ex->rest->data, b->data + from, n);
    ex->rest->end = n;
    b->end = from;
    return true;
}

static bool too_large(const struct exchange *ex)
{
    return ex->body_bytes > ex->state->conf->limits.body_bytes;
}

static void refuse_large(struct exchange *ex)
{
    own_answer(ex, &(struct own_answer){ .status = 413,
                                         .problem = "body_too_large",
                                         .title = "Content Too Large",
                                         .detail = "the body is larger than "
                                                   "limits.body_bytes",
                                         .retry_ns = BIDE_FOREVER });
}

static void refuse_memory(struct exchange *ex)
{
    count(&ex->worker->counters.shed);
    own_answer(ex, &(struct own_answer){ .status = 503,
                                         .problem = "memory",
                                         .title = "Service Unavailable",
                                         .detail = "too much is being kept: "
                                                   "limits.memory",
                                         .refusal = true,
                                         .retry_ns = BIDE_SECOND });
}

/* Looks at the bytes of b from *at on. False: the exchange has ended. */
static bool scan(struct exchange *ex, struct net_buf *b, uint32_t *at)
{
    struct http1_piece piece;
    int rc;
    do {
        rc = http1_body_next(&ex->body, b->data + *at, b->end - *at, &piece);
        if (rc < 0) {
            count(&ex->worker->counters.refused);
            own_answer_malformed(ex, rc);
            return false;
        }
        *at += (uint32_t)piece.consumed;
        ex->body_bytes += piece.data_len;
    } while (rc == HTTP1_DATA);
    if (too_large(ex)) {
        refuse_large(ex);
        return false;
    }
    if (rc != HTTP1_END)
        return true;
    if (!keep_rest(ex, b, *at)) {
        client_abort(ex->client);
        return false;
    }
    ex->upload = UPLOAD_NONE;
    ex->client->until_ns = BIDE_FOREVER;
    return true;
}

/* ===== keeping ===== */

static bool is_full(const struct exchange *ex)
{
    return ex->kept_bytes >= ex->state->conf->limits.replay_bytes;
}

/* Bytes that were not taken yet (part of a trailer) move along. */
static struct net_buf *chain_more(struct exchange *ex, struct net_buf *last,
                                  uint32_t *at)
{
    struct net_buf *b = net_buf_take_if(&ex->worker->bufs);
    if (!b)
        return NULL;
    uint32_t left = last->end - *at;
    memcpy(b->data, last->data + *at, left);
    b->end = left;
    last->end = *at;
    *(ex->kept_last ? &ex->kept_last->next : &ex->kept) = b;
    ex->kept_last = b;
    return b;
}

/* The buffer to read into next. */
static struct net_buf *room(struct exchange *ex)
{
    struct net_buf *b = ex->kept_last ? ex->kept_last : ex->client->in;
    uint32_t *at = ex->kept_last ? &ex->scanned : &ex->in_end;
    if (net_buf_space(b) > 0)
        return b;
    if (b->begin == 0 && *at == 0)
        return NULL; /* nothing of a whole buffer could be taken */
    b = chain_more(ex, b, at);
    ex->scanned = 0;
    return b;
}

static bool keep(struct exchange *ex, struct net_buf *b)
{
    uint32_t *at = b == ex->client->in ? &ex->in_end : &ex->scanned;
    uint32_t from = *at;
    if (!scan(ex, b, at))
        return false;
    ex->kept_bytes += *at - from;
    return true;
}

/* The client is waited for, and for so long; or it is not. */
static void await_client(struct exchange *ex)
{
    client_until(ex->client, net_after(ex->worker->loop.now_ns,
                                       ex->state->conf->timeouts.body_ns));
}

static void await_others(struct exchange *ex)
{
    if (ex->status == 0)
        ex->client->until_ns = BIDE_FOREVER;
}

static ssize_t fill(struct exchange *ex, struct net_buf *b, uint64_t most)
{
    size_t space = net_buf_space(b) < most ? net_buf_space(b) : (size_t)most;
    ssize_t n = net_read(&ex->client->conn, net_buf_room(b), space);
    if (n > 0) {
        b->end += (uint32_t)n;
        count_n(&ex->worker->counters.bytes_in, (uint64_t)n);
    }
    return n;
}

/* From now on there is no going back. */
static void let_go(struct exchange *ex)
{
    if (ex->one_shot)
        return;
    ex->one_shot = ex->op.one_shot_body = true;
    if (ex->called)
        bide_call_set_op(&ex->call, &ex->op);
}

/* What comes from now on can go to one attempt only: a hedge must not begin. */
static void begin_streaming(struct exchange *ex)
{
    ex->upload = UPLOAD_STREAMING;
    await_others(ex);
    if (bide_dep_policy(ex->route->service->dep)->hedge.max != 0)
        let_go(ex);
}

static void read_to_keep(struct exchange *ex)
{
    while (ex->upload == UPLOAD_KEEPING) {
        if (is_full(ex)) {
            begin_streaming(ex);
            break;
        }
        struct net_buf *b = room(ex);
        uint64_t most = ex->state->conf->limits.replay_bytes - ex->kept_bytes;
        ssize_t n = !b                                ? NET_ERROR
                    : net_can_read(&ex->client->conn) ? fill(ex, b, most)
                                                      : NET_AGAIN;
        if (n == NET_AGAIN) {
            await_client(ex);
            return;
        }
        if (!b) {
            refuse_memory(ex);
            return;
        }
        if (n <= 0) {
            exchange_cancel(ex);
            return;
        }
        if (!keep(ex, b))
            return;
    }
    exchange_step(ex);
}

/* ===== streaming ===== */

/* The one attempt that can take more, or NULL. */
static struct attempt *taker(struct exchange *ex)
{
    struct attempt *a = ex->winner ? ex->winner : ex->running;
    if (!a || !a->link || a->send_failed || a->head ||
        a->body_sent < ex->kept_bytes)
        return NULL;
    return a;
}

static bool stream_room(struct exchange *ex)
{
    struct net_buf *b = ex->stream;
    if (!b) {
        struct net_buf *last = ex->kept_last ? ex->kept_last : ex->client->in;
        uint32_t *at = ex->kept_last ? &ex->scanned : &ex->in_end;
        if (!(b = ex->stream = net_buf_take(&ex->worker->bufs)))
            return false;
        b->end = last->end - *at;
        memcpy(b->data, last->data + *at, b->end);
        last->end = *at;
        ex->scanned = 0;
    } else if (b->begin == ex->scanned) {
        memmove(b->data, b->data + ex->scanned, b->end - ex->scanned);
        b->end -= ex->scanned;
        b->begin = ex->scanned = 0;
    }
    return true;
}

static void read_to_stream(struct exchange *ex)
{
    struct attempt *a = taker(ex);
    await_others(ex);
    if (!a || (ex->stream && ex->stream->begin != ex->scanned))
        return; /* what there is must go first */
    while (ex->upload == UPLOAD_STREAMING && stream_room(ex)) {
        ssize_t n = net_can_read(&ex->client->conn)
                        ? fill(ex, ex->stream, UINT64_MAX)
                        : NET_AGAIN;
        if (n == NET_AGAIN) {
            await_client(ex);
            return;
        }
        if (n <= 0) {
            exchange_cancel(ex);
            return;
        }
        let_go(ex);
        if (!scan(ex, ex->stream, &ex->scanned))
            return;
        if (ex->scanned > ex->stream->begin)
            break;
    }
    attempt_later(a); /* sends it */
}

/* ===== for the others ===== */

static void say_continue(struct exchange *ex)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (ex->req.expect_continue &&
        net_buf_len(ex->client->in) == ex->req.head_len)
        interim_send(ex, text, sizeof text - 1);
}

bool upload_begin(struct exchange *ex)
{
    http1_body_init(&ex->body, ex->req.framing, ex->req.content_length);
    http1_body_max_trailer(&ex->body, ex->worker->conf->limits.header_bytes);
    if (ex->req.framing == HTTP1_LENGTH &&
        ex->req.content_length > ex->state->conf->limits.body_bytes) {
        refuse_large(ex);
        return false;
    }
    if (!keep(ex, ex->client->in))
        return false;
    if (ex->upload == UPLOAD_NONE)
        return true;
    say_continue(ex);
    read_to_keep(ex);
    return false;
}

void upload_read(struct exchange *ex)
{
    if (ex->upload == UPLOAD_KEEPING)
        read_to_keep(ex);
    else if (ex->upload == UPLOAD_STREAMING)
        read_to_stream(ex);
}

int upload_pieces(const struct exchange *ex, uint64_t from, struct iovec *iov,
                  int max)
{
    struct net_buf *in = ex->client->in;
    uint32_t begin = in->begin + ex->req.head_len;
    uint64_t len = ex->in_end - begin;
    int n = 0;
    if (from < len) {
        iov[n++] =
            (struct iovec){ in->data + begin + from, (size_t)(len - from) };
        from = 0;
    } else {
        from -= len;
    }
    for (struct net_buf *b = ex->kept; b && n < max; b = b->next) {
        uint32_t end =
            b == ex->kept_last && !ex->stream && ex->upload != UPLOAD_NONE
                ? ex->scanned
                : b->end;
        if (from < end)
            iov[n++] = (struct iovec){ b->data + from, (size_t)(end - from) };
        from = from > end ? from - end : 0;
    }
    return n;
}

void upload_rest(struct exchange *ex)
{
    struct client *c = ex->client;
    if (!ex->rest)
        return;
    net_buf_give(&ex->worker->bufs, c->in);
    c->in = ex->rest;
    ex->rest = NULL;
}

void upload_free(struct exchange *ex)
{
    struct net_bufs *bufs = &ex->worker->bufs;
    struct net_buf *b, *next;
    for (b = ex->kept; b; b = next) {
        next = b->next;
        net_buf_give(bufs, b);
    }
    net_buf_give(bufs, ex->stream);
    net_buf_give(bufs, ex->rest);
    ex->kept = ex->kept_last = ex->stream = ex->rest = NULL;
}
