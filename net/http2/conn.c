/* net/http2/conn.c: a connection's beginning and end. */
#include "net/http2/conn.h"

#include <assert.h>
#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

#include "bide/policy.h"
#include "net/http2/head.h"
#include "net/http2/queue.h"
#include "net/http2/stream.h"

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

_Static_assert(sizeof preface - 1 == HTTP2_PREFACE, "RFC 9113, 3.4");

enum { SPARE_HEADS = 4 };

void http2_shared_init(struct http2_shared *shared, struct net_bufs *bufs,
                       unsigned max_headers, unsigned max_bytes)
{
    assert(bufs->size >= 512 && max_bytes <= HTTP1_HEAD_MOST);
    *shared = (struct http2_shared){ .bufs = bufs };
    net_bufs_init(&shared->heads, http2__partial_size(max_headers, max_bytes),
                  NET_SPARES(SPARE_HEADS));
}

void http2_shared_done(struct http2_shared *shared)
{
    net_bufs_done(&shared->heads);
}

int http2_is_preface(const char *buf, size_t len)
{
    size_t n = len < HTTP2_PREFACE ? len : HTTP2_PREFACE;

    if (memcmp(buf, preface, n) != 0)
        return -1;
    return n == HTTP2_PREFACE;
}

static void greet(struct http2_conn *c)
{
    char *p = c->role == HTTP2_CLIENT ? http2__room(c, HTTP2_PREFACE) : NULL;

    if (p) {
        memcpy(p, preface, HTTP2_PREFACE);
        http2__queue(c, HTTP2_PREFACE);
    }
    http2__queue_settings(c);
    if (c->conf->connection_window > HTTP2__WINDOW_FIRST)
        http2__queue_window(c, 0,
                            c->conf->connection_window - HTTP2__WINDOW_FIRST);
}

bool http2_init(struct http2_conn *c, enum http2_role role,
                const struct http2_conf *conf, const struct http2_calls *calls,
                struct http2_shared *shared, int64_t now_ns)
{
    *c = (struct http2_conn){
        .role = (uint8_t)role,
        .conf = conf,
        .calls = calls,
        .shared = shared,
        .peer = { .streams = role == HTTP2_CLIENT ? 1 : 0,
                  .window = HTTP2__WINDOW_FIRST,
                  .frame = HTTP2__FRAME_MAX,
                  .head_bytes = UINT32_MAX },
        .next_id = role == HTTP2_CLIENT ? 1 : 2,
        .phase = role == HTTP2_SERVER ? HTTP2__AT_PREFACE : HTTP2__AT_FRAME,
        .want = role == HTTP2_SERVER ? HTTP2_PREFACE : HTTP2__FRAME_HEAD,
        .send_window = HTTP2__WINDOW_FIRST,
        .recv_window = (int32_t)conf->connection_window,
        .now_ns = now_ns,
        .due_ns = now_ns + conf->settings_ns,
    };
    if (nghttp2_hd_inflate_new(&c->inflater) != 0)
        return false;
    greet(c);
    if (!c->broken)
        return true;
    http2_done(c);
    return false;
}

void http2_done(struct http2_conn *c)
{
    assert(c->n_streams == 0);
    for (unsigned i = 0; i < c->n_refs; i++)
        free(c->refs[i].copy);
    while (c->out) {
        struct net_buf *b = c->out;
        c->out = b->next;
        net_buf_give(c->shared->bufs, b);
    }
    http2__partial_drop(c);
    nghttp2_hd_inflate_del(c->inflater);
    c->out_last = NULL;
    c->inflater = NULL;
    c->n_refs = 0;
}

void http2_lost(struct http2_conn *c)
{
    if (!c->failed) /* at most a stream was wrong */
        c->why = HTTP2_WHY_NONE;
    c->closing = c->failed = c->lost = true;
    http2__kill_above(c, 0, HTTP2_LOST, c->code, false);
}

int http2__settle(struct http2_conn *c)
{
    if (c->broken)
        http2_fail(c, HTTP2_INTERNAL_ERROR, HTTP2_WHY_MEMORY);
    return c->failed ? -1 : 0;
}

void http2_fail(struct http2_conn *c, enum http2_code code, enum http2_why why)
{
    if (c->failed)
        return;
    c->failed = c->closing = true;
    c->why = (uint8_t)why;
    c->code = code;
    c->shared->counts[why]++;
    http2__partial_drop(c);
    c->due_ns = BIDE_FOREVER;
    if (!c->broken)
        http2__queue_goaway(c, c->last_id, code);
    http2__kill_above(c, 0, HTTP2_LOST, code, false);
}
