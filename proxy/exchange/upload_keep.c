/* The part of a body that is kept for retries: the rest of the client's buffer
 * after the head, then a chain of further buffers. */
#include "proxy/exchange/upload_keep.h"

#include <string.h>

#include "bide/run.h"
#include "config/proxy/conf.h"
#include "net/buf.h"
#include "net/conn.h"
#include "proxy/back/service.h"
#include "proxy/exchange/attempt.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/own_answer.h"
#include "proxy/exchange/route.h"
#include "proxy/exchange/upload.h"
#include "proxy/front/client.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

/* All of it, for a request that is done once: nothing is sent before that is
 * known. Its length is limited, and so is what frames it. */
static uint64_t most_kept(const struct exchange *ex)
{
    return ex->once ? UINT64_MAX : ex->generation->conf->limits.replay_bytes;
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

bool upload_take(struct exchange *ex, struct net_buf *b)
{
    uint32_t *at = b == ex->client->in ? &ex->in_end : &ex->scanned;
    uint32_t from = *at;
    if (!upload_scan(ex, b, at))
        return false;
    ex->kept_bytes += *at - from;
    return true;
}

/* What arrives from now on can go to one attempt only: no hedge may begin. */
static void begin_streaming(struct exchange *ex)
{
    ex->upload = UPLOAD_STREAMING;
    ex->op.body_pending = true;
    if (exchange_is_called(ex))
        bide_call_set_op(&ex->call, &ex->op);
    upload_await_others(ex);
    if (bide_dep_policy(ex->route->service->dep)->hedge.max != 0)
        upload_let_go(ex);
}

void upload_pass_on(struct exchange *ex)
{
    ex->eager = false;
    if (ex->upload == UPLOAD_KEEPING)
        begin_streaming(ex);
}

/* Has the attempts that run send what has come since. */
static void send_on(struct exchange *ex)
{
    for (struct attempt *a = ex->running; a; a = a->next)
        if (a->link)
            attempt_later(a);
}

/* More may come, and the first attempt does not wait for it. */
static void begin_early(struct exchange *ex)
{
    ex->early = true;
    ex->op.body_pending = true;
    bide_call_set_op(&ex->call, &ex->op);
    exchange_step(ex);
}

void upload_keep(struct exchange *ex)
{
    while (ex->upload == UPLOAD_KEEPING) {
        if (ex->kept_bytes >= most_kept(ex)) {
            begin_streaming(ex);
            break;
        }
        struct net_buf *b = room(ex);
        uint64_t most = most_kept(ex) - ex->kept_bytes;
        ssize_t n = !b                                ? NET_ERROR
                    : net_can_read(&ex->client->conn) ? upload_fill(ex, b, most)
                                                      : NET_AGAIN;
        if (n == NET_AGAIN && ex->early) {
            send_on(ex);
            return;
        }
        if (n == NET_AGAIN && ex->eager && !ex->once) {
            begin_early(ex);
            return;
        }
        if (n == NET_AGAIN) {
            upload_await_client(ex);
            return;
        }
        if (!b) {
            upload_refuse_memory(ex);
            return;
        }
        if (n <= 0) {
            upload_broken(ex);
            return;
        }
        if (!upload_take(ex, b))
            return;
    }
    if (ex->running)
        send_on(ex);
    else
        exchange_step(ex);
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
