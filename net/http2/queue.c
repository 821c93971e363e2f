/* net/http2/queue.c: what waits to be written. */
#include "net/http2/queue.h"

#include <string.h>

struct net_buf *http2__add_buf(struct http2_conn *c)
{
    struct net_buf *b = net_buf_take(c->shared->bufs);

    if (!b)
        return NULL;
    if (c->out_last)
        c->out_last->next = b;
    else
        c->out = b;
    c->out_last = b;
    return b;
}

char *http2__room(struct http2_conn *c, uint32_t n)
{
    if (c->out_last && net_buf_space(c->out_last) >= n)
        return net_buf_room(c->out_last);
    if (!c->broken && http2__add_buf(c))
        return net_buf_room(c->out_last);
    c->broken = true;
    return NULL;
}

/* ===== control frames ===== */

/* An answer that the peer does not read costs memory: so many, and no more. */
void http2__count_unsent(struct http2_conn *c)
{
    c->unsent_new++;
    if (c->unsent_old + c->unsent_new > c->conf->unsent)
        http2_fail(c, HTTP2_ENHANCE_YOUR_CALM, HTTP2_WHY_UNSENT);
}

void http2__unsent_written(struct http2_conn *c)
{
    if (c->written < c->unsent_mark)
        return;
    c->unsent_old = c->written < c->queued ? c->unsent_new : 0;
    c->unsent_new = 0;
    c->unsent_mark = c->queued;
}

static char *put_setting(char *p, unsigned id, uint32_t value)
{
    p[0] = 0;
    p[1] = (char)id;
    return http2__put32(p + 2, value);
}

void http2__queue_settings(struct http2_conn *c)
{
    char *begin = http2__room(c, 64), *p = begin;

    if (!p)
        return;
    p += HTTP2__FRAME_HEAD;
    if (c->role == HTTP2_CLIENT) {
        p = put_setting(p, HTTP2__SET_PUSH, 0);
    } else {
        p = put_setting(p, HTTP2__SET_STREAMS, c->conf->streams);
        if (c->conf->connect_protocol)
            p = put_setting(p, HTTP2__SET_CONNECT, 1);
    }
    p = put_setting(p, HTTP2__SET_WINDOW, c->conf->window);
    p = put_setting(p, HTTP2__SET_HEAD_BYTES, c->conf->header_bytes);
    http2__put_frame(begin, (uint32_t)(p - begin) - HTTP2__FRAME_HEAD,
                     HTTP2__SETTINGS, 0, 0);
    http2__queue(c, (uint32_t)(p - begin));
    c->acks++;
}

void http2__queue_settings_ack(struct http2_conn *c)
{
    char *p = http2__room(c, HTTP2__FRAME_HEAD);

    if (!p)
        return;
    http2__put_frame(p, 0, HTTP2__SETTINGS, HTTP2__ACK, 0);
    http2__queue(c, HTTP2__FRAME_HEAD);
    http2__count_unsent(c);
}

void http2__queue_ping(struct http2_conn *c, const uint8_t opaque[8], bool ack)
{
    char *p = http2__room(c, HTTP2__FRAME_HEAD + 8);

    if (!p)
        return;
    p = http2__put_frame(p, 8, HTTP2__PING, ack ? HTTP2__ACK : 0, 0);
    memcpy(p, opaque, 8);
    http2__queue(c, HTTP2__FRAME_HEAD + 8);
    if (ack)
        http2__count_unsent(c);
}

void http2__queue_goaway(struct http2_conn *c, uint32_t last, uint32_t code)
{
    char *p = http2__room(c, HTTP2__FRAME_HEAD + 8);

    if (!p)
        return;
    p = http2__put_frame(p, 8, HTTP2__GOAWAY, 0, 0);
    http2__put32(http2__put32(p, last), code);
    http2__queue(c, HTTP2__FRAME_HEAD + 8);
}

/* A frame with four bytes. */
static void queue4(struct http2_conn *c, unsigned type, uint32_t id, uint32_t x)
{
    char *p = http2__room(c, HTTP2__FRAME_HEAD + 4);

    if (!p)
        return;
    http2__put32(http2__put_frame(p, 4, type, 0, id), x);
    http2__queue(c, HTTP2__FRAME_HEAD + 4);
}

void http2__queue_reset(struct http2_conn *c, uint32_t id, uint32_t code)
{
    queue4(c, HTTP2__RST_STREAM, id, code);
}

void http2__queue_window(struct http2_conn *c, uint32_t id, uint32_t by)
{
    queue4(c, HTTP2__WINDOW_UPDATE, id, by);
}
