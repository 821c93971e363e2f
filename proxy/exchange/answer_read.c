/* Reading the body of the response that is streamed, and framing it for its
 * client.
 *
 * A response that is delimited by the end of its connection (the only way in
 * HTTP/1.0) is passed on in chunks: otherwise one that was cut off would look
 * complete. In the buffer each piece has room before and after it for the chunk
 * framing. */
#include <string.h>

#include "base/hex.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/exchange/answer.h"
#include "proxy/exchange/answer_body.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/attempt_io.h"
#include "proxy/exchange/exchange.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/once/once.h"
#include "proxy/once/record.h"
#include "proxy/worker.h"

enum {
    SIZE_LINE = 7, /* five digits and CRLF: more than any buffer holds */
    CRLF = 2,
    LAST_CHUNK = 5,
    CHUNK_ROOM = SIZE_LINE + CRLF + LAST_CHUNK
};

/* ===== chunks ===== */

static void put_size(char *to, size_t n)
{
    for (int i = SIZE_LINE - CRLF - 1; i >= 0; i--, n >>= 4)
        to[i] = bide__hex_lower[n & 15];
    memcpy(to + SIZE_LINE - CRLF, "\r\n", CRLF);
}

/* n bytes of data have been put behind the room for their size. */
static void end_chunk(struct net_buf *b, size_t n)
{
    put_size(net_buf_room(b), n);
    b->end += (uint32_t)(SIZE_LINE + n);
    memcpy(net_buf_room(b), "\r\n", CRLF);
    b->end += CRLF;
}

static void put_last_chunk(struct net_buf *b)
{
    memcpy(net_buf_room(b), "0\r\n\r\n", LAST_CHUNK);
    b->end += LAST_CHUNK;
}

static void all_is_ready(struct attempt *a)
{
    a->ready = a->scanned = a->in->end;
}

/* The head has left the buffer, and was longer than what frames a chunk. */
_Static_assert(CHUNK_ROOM < sizeof "HTTP/1.1 200\r\n\r\n", "there is room");

void answer_frame(struct attempt *a)
{
    struct net_buf *b = a->in;
    size_t n = net_buf_len(b);
    const char *from = net_buf_at(b);
    if (a->pass != PASS_CHUNKED)
        return;
    b->begin -= CHUNK_ROOM;
    b->end = b->begin;
    if (n > 0) {
        memmove(net_buf_room(b) + SIZE_LINE, from, n);
        end_chunk(b, n);
    }
    if (attempt_is_complete(a))
        put_last_chunk(b);
    all_is_ready(a);
}

/* ===== reading ===== */

/* Reuses the room of what the client has taken. */
static void compact(struct attempt *a)
{
    struct net_buf *b = a->in;
    if (b->begin != a->ready || a->scanned == 0)
        return;
    memmove(b->data, b->data + a->scanned, b->end - a->scanned);
    b->end -= a->scanned;
    b->begin = a->ready = a->scanned = 0;
}

static size_t room(const struct attempt *a)
{
    size_t space = net_buf_space(a->in);
    size_t framing = a->pass == PASS_CHUNKED ? CHUNK_ROOM : 0;
    return space > framing ? space - framing : 0;
}

/* Over 0; 0: the end; NET_... Framing that fills a buffer is an error. */
static ssize_t fill(struct attempt *a)
{
    struct net_buf *b = a->in;
    size_t before = a->pass == PASS_CHUNKED ? SIZE_LINE : 0;
    if (!a->link || room(a) == 0)
        return NET_ERROR;
    if (!net_can_read(&a->link->conn))
        return NET_AGAIN;
    ssize_t n = net_read(&a->link->conn, net_buf_room(b) + before, room(a));
    if (n > 0 && before == 0)
        b->end += (uint32_t)n;
    if (n > 0 && before != 0 && a->record)
        once_record_add(a, net_buf_room(b) + before, (size_t)n);
    if (n > 0 && before != 0)
        end_chunk(b, (size_t)n);
    return n;
}

static bool scan(struct attempt *a)
{
    if (a->pass != PASS_CHUNKED)
        return attempt_scan(a);
    all_is_ready(a);
    return true;
}

/* A connection that was reset while we wrote to it ends as if it had been
 * closed; whether that was all is then unknown. */
static bool is_end(const struct attempt *a)
{
    return a->sending != SENDING_FAILED &&
           http1_body_eof(&a->body) == HTTP1_END;
}

/* How long nothing may come. A stream of gRPC is idle as a tunnel is: it waits for
 * something to happen. */
static int64_t silence(const struct attempt *a)
{
    return a->ex->grpc ? a->ex->generation->conf->timeouts.tunnel_ns
                       : a->pool->endpoint->upstream->conf.body_timeout_ns;
}

bool answer_read(struct exchange *ex)
{
    struct attempt *a = ex->winner;
    compact(a);
    a->until_ns = BIDE_FOREVER;
    if (room(a) == 0 && a->ready > a->in->begin && !answer_hold(ex)) {
        if (ex->once)
            once_no_room(ex);
        return false; /* until the client has taken some */
    }
    ssize_t n = fill(a);
    if (n == NET_AGAIN) {
        attempt_until(a, net_after(ex->worker->loop.now_ns, silence(a)));
        return false;
    }
    if (n == 0 && is_end(a)) {
        a->end = END_THERE;
        if (a->pass == PASS_CHUNKED) {
            put_last_chunk(a->in);
            all_is_ready(a);
        }
        return true;
    }
    if (n <= 0 || !scan(a)) {
        answer_broken(ex);
        return false;
    }
    return true;
}

/* Bounded, since others wait for this thread, too. */
enum { ROUNDS = 16 };

/* While the client still sends its body, and does not read, the endpoint
 * receives that body: its connection stays. */
static bool is_done_with(const struct attempt *a)
{
    return a->link && attempt_is_complete(a) && a->sending >= SENT_ALL;
}

void answer_read_ahead(struct exchange *ex)
{
    struct attempt *a = ex->winner;
    if (!a || a->resp.framing == HTTP1_TUNNEL)
        return;
    for (int i = 0; i < ROUNDS && a->link && !attempt_is_complete(a); i++)
        if (!answer_read(ex))
            return;
    if (is_done_with(a))
        attempt_unlink(a);
    else if (a->link && !attempt_is_complete(a))
        exchange_later(ex, TODO_PUMP);
}
