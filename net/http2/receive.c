/* net/http2/receive.c: frames, as their bytes arrive.
 *
 * Nothing is kept of a frame but what is small: DATA and heads are passed on as
 * they come, whatever the pieces. Each phase takes the bytes that belong to it
 * and says what follows. */
#include "net/http2/receive.h"

#include <string.h>

#include "net/http2/block.h"
#include "net/http2/control.h"
#include "net/http2/data.h"
#include "net/http2/fault.h"
#include "net/http2/head.h"

/* What comes next, and how many bytes of it are needed in one piece. */
static void expect(struct http2_conn *c, enum http2__phase phase, uint32_t want)
{
    c->phase = (uint8_t)phase;
    c->want = (uint8_t)want;
    c->held = 0;
}

static void next_frame(struct http2_conn *c)
{
    expect(c, HTTP2__AT_FRAME, HTTP2__FRAME_HEAD);
}

static void skip(struct http2_conn *c)
{
    if (c->left)
        expect(c, HTTP2__AT_PADDING, 0);
    else
        next_frame(c);
}

/* c->want bytes in one piece, from the input if they are all there; NULL: they
 * are not there yet. */
static const uint8_t *whole(struct http2_conn *c, const uint8_t **at,
                            const uint8_t *end)
{
    size_t n = (size_t)(end - *at), need = (size_t)(c->want - c->held);
    const uint8_t *from = *at;

    if (n > need)
        n = need;
    *at += n;
    if (c->held == 0 && n == c->want)
        return from;
    memcpy(c->hold + c->held, from, n);
    c->held = (uint8_t)(c->held + n);
    return c->held == c->want ? c->hold : NULL;
}

/* ===== the beginnings of frames ===== */

/* DATA or a head, what precedes it taken off. */
static void begin_content(struct http2_conn *c)
{
    uint32_t n = c->left - c->padding;

    if (c->frame.type != HTTP2__DATA) {
        expect(c, HTTP2__AT_BLOCK, 0);
        if (n > 0)
            return;
        http2__block(c, (const uint8_t *)"", 0, true);
        skip(c);
        return;
    }
    if (!http2__data_sized(c, n)) {
        skip(c);
        return;
    }
    expect(c, HTTP2__AT_DATA, 0);
    if (n > 0)
        return;
    if (c->frame.flags & HTTP2__END_STREAM)
        http2__data(c, "", 0);
    skip(c);
}

/* How many bytes precede the content. */
static void begin_prefix(struct http2_conn *c)
{
    bool head = c->frame.type == HTTP2__HEADERS;
    uint32_t want = 0;

    if (c->failed)
        return;
    if (c->frame.flags & HTTP2__PADDED)
        want++;
    if (head && c->frame.flags & HTTP2__PRIORITIZED)
        want += 5;
    if (c->left < want)
        http2_fail(c, HTTP2_FRAME_SIZE_ERROR, HTTP2_WHY_FRAME_SIZE);
    else if (want)
        expect(c, HTTP2__AT_PREFIX, want);
    else
        begin_content(c);
}

static void begin_control(struct http2_conn *c)
{
    int want = http2__control_begin(c);

    if (want > 0) {
        expect(c, HTTP2__AT_SMALL, (uint32_t)want);
    } else if (want == 0 && c->left > 0) {
        expect(c, HTTP2__AT_SETTING, 6);
    } else {
        if (want == 0)
            http2__settings_end(c);
        skip(c);
    }
}

/* Before all others come SETTINGS; in the middle of a head, nothing else. */
static bool may_come(struct http2_conn *c)
{
    const struct http2_frame *f = &c->frame;

    if (!c->peer.known && (f->type != HTTP2__SETTINGS || f->flags & HTTP2__ACK))
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_PREFACE);
    else if (f->len > HTTP2__FRAME_MAX)
        http2_fail(c, HTTP2_FRAME_SIZE_ERROR, HTTP2_WHY_FRAME_SIZE);
    else if (c->partial &&
             (f->type != HTTP2__CONTINUATION || f->id != c->partial->id))
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_INTERLEAVED);
    return !c->failed;
}

static void begin_frame(struct http2_conn *c, const uint8_t *p)
{
    c->frame = http2__get_frame(p);
    c->left = c->frame.len;
    c->padding = 0;
    if (!may_come(c))
        return;
    switch (c->frame.type) {
    case HTTP2__DATA:
        if (http2__data_begin(c))
            begin_prefix(c);
        else
            skip(c);
        http2__return_window(c);
        break;
    case HTTP2__HEADERS:
        http2__block_begin(c);
        begin_prefix(c);
        break;
    case HTTP2__CONTINUATION:
        http2__continuation_begin(c);
        if (!c->failed)
            begin_content(c);
        break;
    case HTTP2__PUSH_PROMISE:
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_PUSH);
        break;
    case HTTP2__PRIORITY:
    case HTTP2__RST_STREAM:
    case HTTP2__SETTINGS:
    case HTTP2__PING:
    case HTTP2__GOAWAY:
    case HTTP2__WINDOW_UPDATE:
        begin_control(c);
        break;
    default: /* RFC 9113, 5.5: what is not known is ignored */
        http2__control(c, true);
        skip(c);
    }
}

/* ===== their parts ===== */

static void on_prefix(struct http2_conn *c, const uint8_t *p)
{
    c->left -= c->want;
    if (c->frame.flags & HTTP2__PADDED)
        c->padding = p[0];
    if (c->padding > c->left) {
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_PADDING);
        return;
    }
    begin_content(c);
}

static void on_setting(struct http2_conn *c, const uint8_t *p)
{
    http2__setting(c, p);
    c->left -= 6;
    if (c->failed)
        return;
    if (c->left) {
        expect(c, HTTP2__AT_SETTING, 6);
        return;
    }
    http2__settings_end(c);
    next_frame(c);
}

/* Some of a frame's content, without padding. */
static const uint8_t *on_content(struct http2_conn *c, const uint8_t *at,
                                 const uint8_t *end)
{
    uint32_t rest = c->left - c->padding;
    uint32_t n = (size_t)(end - at) < rest ? (uint32_t)(end - at) : rest;

    if (c->phase == HTTP2__AT_DATA)
        http2__data(c, (const char *)at, n);
    else
        http2__block(c, at, n, n == rest);
    c->left -= n;
    if (n == rest)
        skip(c);
    return at + n;
}

static const uint8_t *on_padding(struct http2_conn *c, const uint8_t *at,
                                 const uint8_t *end)
{
    size_t n = (size_t)(end - at) < c->left ? (size_t)(end - at) : c->left;

    c->left -= (uint32_t)n;
    if (c->left == 0)
        next_frame(c);
    return at + n;
}

/* Something small is there in one piece. */
static void on_whole(struct http2_conn *c, const uint8_t *p)
{
    switch (c->phase) {
    case HTTP2__AT_PREFACE:
        if (http2_is_preface((const char *)p, HTTP2_PREFACE) > 0)
            next_frame(c);
        else
            http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_PREFACE);
        break;
    case HTTP2__AT_FRAME:
        begin_frame(c, p);
        break;
    case HTTP2__AT_PREFIX:
        on_prefix(c, p);
        break;
    case HTTP2__AT_SETTING:
        on_setting(c, p);
        break;
    default: /* HTTP2__AT_SMALL */
        c->left -= c->want;
        http2__control_frame(c, p);
        skip(c);
    }
}

static const uint8_t *step(struct http2_conn *c, const uint8_t *at,
                           const uint8_t *end)
{
    const uint8_t *p;

    if (c->phase == HTTP2__AT_DATA || c->phase == HTTP2__AT_BLOCK)
        return on_content(c, at, end);
    if (c->phase == HTTP2__AT_PADDING)
        return on_padding(c, at, end);
    p = whole(c, &at, end);
    if (p)
        on_whole(c, p);
    else if (c->phase == HTTP2__AT_PREFACE &&
             http2_is_preface((const char *)c->hold, c->held) < 0)
        http2_fail(c, HTTP2_PROTOCOL_ERROR, HTTP2_WHY_PREFACE);
    return at;
}

int http2_receive(struct http2_conn *c, const char *bytes, size_t n,
                  int64_t now_ns)
{
    const uint8_t *at = (const uint8_t *)bytes, *end = at + n;

    c->now_ns = now_ns;
    while (at < end && !c->failed && !c->broken)
        at = step(c, at, end);
    return http2__settle(c);
}
