/* net/http2/control.c: frames that carry no message. */
#include "net/http2/control.h"

#include <string.h>

#include "bide/policy.h"
#include "net/http2/drain.h"
#include "net/http2/fault.h"
#include "net/http2/queue.h"
#include "net/http2/stream.h"

/* ===== the frame's head ===== */

enum { ON_STREAM = 1, ON_CONNECTION = 2, EITHER = 3 };

/* clang-format off */
static const struct {
    uint8_t len;   /* exactly, or at least */
    uint8_t where;
    bool more;     /* it may be longer */
} shapes[] = {
    [HTTP2__PRIORITY] = { 5, ON_STREAM, false },
    [HTTP2__RST_STREAM] = { 4, ON_STREAM, false },
    [HTTP2__SETTINGS] = { 0, ON_CONNECTION, true },
    [HTTP2__PING] = { 8, ON_CONNECTION, false },
    [HTTP2__GOAWAY] = { 8, ON_CONNECTION, true },
    [HTTP2__WINDOW_UPDATE] = { 4, EITHER, false },
};
/* clang-format on */

static int fail(struct http2_conn *c, enum http2_code code, enum http2_why why)
{
    http2_fail(c, code, why);
    return -1;
}

/* SETTINGS are read one by one. */
static int begin_settings(struct http2_conn *c)
{
    bool ack = c->frame.flags & HTTP2__ACK;

    if (ack ? c->frame.len != 0 : c->frame.len % 6 != 0)
        return fail(c, HTTP2_FRAME_SIZE_ERROR, HTTP2_WHY_FRAME_SIZE);
    if ((!ack || c->acks == 0) && c->peer.known && !http2__control(c, false))
        return -1;
    c->new_window = -1;
    return 0;
}

int http2__control_begin(struct http2_conn *c)
{
    const struct http2_frame *f = &c->frame;

    if (!(shapes[f->type].where & (f->id ? ON_STREAM : ON_CONNECTION)))
        return fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STREAM);
    if (f->type == HTTP2__SETTINGS)
        return begin_settings(c);
    if (shapes[f->type].more ? f->len < shapes[f->type].len
                             : f->len != shapes[f->type].len) {
        if (f->type != HTTP2__PRIORITY) /* 6.3: of its stream */
            return fail(c, HTTP2_FRAME_SIZE_ERROR, HTTP2_WHY_FRAME_SIZE);
        http2__stream_error(c, f->id, HTTP2_FRAME_SIZE_ERROR,
                            HTTP2_WHY_FRAME_SIZE);
        return -1;
    }
    if (f->type == HTTP2__GOAWAY && f->len > 8)
        return f->len < 8 + HTTP2_DEBUG ? (int)f->len : 8 + HTTP2_DEBUG;
    return shapes[f->type].len;
}

/* ===== SETTINGS ===== */

static void set_connect(struct http2_conn *c, uint32_t value)
{
    /* Once on, it stays on (RFC 8441, 3). */
    if (value > 1 || (c->peer.connect_protocol && value == 0))
        fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_SETTING);
    else
        c->peer.connect_protocol = value;
}

void http2__setting(struct http2_conn *c, const uint8_t *p)
{
    uint32_t value = http2__get32(p + 2);

    switch (p[0] << 8 | p[1]) {
    case HTTP2__SET_PUSH:
        if (value > 1 || (value == 1 && c->role == HTTP2_CLIENT))
            fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_SETTING);
        break;
    case HTTP2__SET_STREAMS:
        c->peer.streams = value;
        c->peer.streams_told = true;
        break;
    case HTTP2__SET_WINDOW:
        if (value > HTTP2__WINDOW_MOST)
            fail(c, HTTP2_FLOW_CONTROL_ERROR, HTTP2_WHY_WINDOW);
        c->new_window = value;
        break;
    case HTTP2__SET_FRAME:
        if (value < HTTP2__FRAME_MAX || value > 0xffffff)
            fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_SETTING);
        c->peer.frame = value;
        break;
    case HTTP2__SET_HEAD_BYTES:
        c->peer.head_bytes = value;
        break;
    case HTTP2__SET_CONNECT:
        set_connect(c, value);
        break;
    default: /* the table's size: our encoder has none */
        break;
    }
}

/* Moves a stream's window; false: it is too large now. */
static bool widen(struct http2_stream *s, int64_t by)
{
    int64_t window = s->send_window + by;

    if (window > HTTP2__WINDOW_MOST)
        return false;
    s->send_window = (int32_t)window;
    if (window > 0 && s->unframed > 0 && !(s->flags & HTTP2_DEAD))
        http2__make_ready(s);
    return true;
}

/* The windows of all streams move with the initial one: the last of a frame, so
 * that a frame of many costs no more. */
static void move_windows(struct http2_conn *c)
{
    int64_t by = c->new_window - c->peer.window;

    c->peer.window = (uint32_t)c->new_window;
    for (unsigned i = 0; i < HTTP2_BUCKETS; i++)
        for (struct http2_stream *s = c->by_id[i]; s; s = s->next_by_id)
            if (!widen(s, by)) {
                fail(c, HTTP2_FLOW_CONTROL_ERROR, HTTP2_WHY_WINDOW);
                return;
            }
}

/* Both sides' have come: nothing is due, but the end of a shutdown. */
static void settings_are_done(struct http2_conn *c)
{
    if (c->peer.known && c->acks == 0)
        c->due_ns =
            c->closing ? c->now_ns + c->conf->settings_ns : BIDE_FOREVER;
}

/* Ours count from now on. */
static void settings_acked(struct http2_conn *c)
{
    int32_t by = (int32_t)c->conf->window - HTTP2__WINDOW_FIRST;

    if (c->acks == 0 || --c->acks > 0)
        return;
    settings_are_done(c);
    for (unsigned i = 0; by < 0 && i < HTTP2_BUCKETS; i++)
        for (struct http2_stream *s = c->by_id[i]; s; s = s->next_by_id)
            s->recv_window += by;
}

void http2__settings_end(struct http2_conn *c)
{
    if (c->frame.flags & HTTP2__ACK) {
        settings_acked(c);
        return;
    }
    if (!c->peer.known) {
        c->peer.known = true;
        if (!c->peer.streams_told)
            c->peer.streams = UINT32_MAX;
        settings_are_done(c);
    }
    if (c->new_window >= 0)
        move_windows(c);
    if (!c->failed)
        http2__queue_settings_ack(c);
    if (!c->failed && c->calls->settings)
        c->calls->settings(c);
}

/* ===== the others ===== */

static void on_ping(struct http2_conn *c, const uint8_t *p)
{
    if (c->frame.flags & HTTP2__ACK)
        http2__pong(c, p);
    else if (http2__control(c, false))
        http2__queue_ping(c, p, true);
}

static void on_goaway(struct http2_conn *c, const uint8_t *p)
{
    uint32_t n = c->frame.len - 8;

    c->goaway_in = true;
    c->goaway_last = http2__get32(p) & HTTP2__ID_MOST;
    c->goaway_code = http2__get32(p + 4);
    if (!http2__control(c, false))
        return;
    if (c->role == HTTP2_CLIENT)
        http2__kill_above(c, c->goaway_last, HTTP2_BY_PEER, c->goaway_code,
                          true);
    if (c->calls->goaway)
        c->calls->goaway(c, (const char *)p + 8,
                         n < HTTP2_DEBUG ? n : HTTP2_DEBUG);
}

static void on_reset(struct http2_conn *c, const uint8_t *p)
{
    struct http2_stream *s = http2__find(c, c->frame.id);
    uint32_t code = http2__get32(p);

    if (!s) {
        if (http2__is_idle(c, c->frame.id))
            fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STATE);
        else
            http2__control(c, true);
        return;
    }
    if (http2_is_over(s))
        return;
    if (c->role == HTTP2_SERVER && !(s->flags & HTTP2_HEAD_OUT) &&
        !http2__reset_early(c))
        return;
    http2__kill(s, HTTP2_BY_PEER, code, code == HTTP2_REFUSED_STREAM);
}

static void on_window_update(struct http2_conn *c, const uint8_t *p)
{
    uint32_t by = http2__get32(p) & HTTP2__WINDOW_MOST, id = c->frame.id;
    struct http2_stream *s = id ? http2__find(c, id) : NULL;

    if (id && http2__is_idle(c, id)) {
        fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_FRAME_STATE);
    } else if (!http2__control(c, true)) {
        return;
    } else if (!id) {
        if (by == 0)
            fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_INCREMENT);
        else if ((int64_t)c->send_window + by > HTTP2__WINDOW_MOST)
            fail(c, HTTP2_FLOW_CONTROL_ERROR, HTTP2_WHY_WINDOW);
        else
            c->send_window += (int32_t)by;
    } else if (!s || s->flags & HTTP2_DEAD) {
        return;
    } else if (by == 0) {
        http2__stream_error(c, id, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_INCREMENT);
    } else if (!widen(s, by)) {
        http2__stream_error(c, id, HTTP2_FLOW_CONTROL_ERROR, HTTP2_WHY_WINDOW);
    }
}

void http2__control_frame(struct http2_conn *c, const uint8_t *p)
{
    switch (c->frame.type) {
    case HTTP2__PRIORITY: /* RFC 9113, 5.3: deprecated */
        http2__control(c, true);
        break;
    case HTTP2__RST_STREAM:
        on_reset(c, p);
        break;
    case HTTP2__PING:
        on_ping(c, p);
        break;
    case HTTP2__GOAWAY:
        on_goaway(c, p);
        break;
    case HTTP2__WINDOW_UPDATE:
        on_window_update(c, p);
        break;
    default:
        break;
    }
}
