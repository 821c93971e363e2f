/* The part of a body that is streamed and not kept. */
#include <string.h>

#include "net/buf.h"
#include "net/conn.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/upload.h"
#include "proxy/exchange/upload_keep.h"
#include "proxy/front/client.h"
#include "proxy/worker.h"

void upload_let_go(struct exchange *ex)
{
    if (ex->one_shot)
        return;
    ex->one_shot = ex->op.one_shot_body = true;
    if (exchange_is_called(ex))
        bide_call_set_op(&ex->call, &ex->op);
}

/* The one attempt that can take more, or NULL. */
static struct attempt *taker(struct exchange *ex)
{
    struct attempt *a = ex->winner ? ex->winner : ex->running;
    if (!a || !a->link || a->sending == SENDING_FAILED || a->head ||
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

void upload_stream(struct exchange *ex)
{
    struct attempt *a = taker(ex);
    upload_await_others(ex);
    if (!a || (ex->stream && ex->stream->begin != ex->scanned))
        return; /* what there is must be sent first */
    while (ex->upload == UPLOAD_STREAMING) {
        if (!stream_room(ex)) {
            upload_refuse_memory(ex);
            return;
        }
        ssize_t n = net_can_read(&ex->client->conn)
                        ? upload_fill(ex, ex->stream, UINT64_MAX)
                        : NET_AGAIN;
        if (n == NET_AGAIN) {
            upload_await_client(ex);
            return;
        }
        if (n <= 0) {
            upload_broken(ex);
            return;
        }
        upload_let_go(ex);
        if (!upload_scan(ex, ex->stream, &ex->scanned))
            return;
        if (ex->scanned > ex->stream->begin)
            break;
    }
    attempt_later(a); /* sends it */
}
