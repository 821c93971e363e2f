/* net/http2/drain.c: what a connection does by the clock. */
#include "net/http2/drain.h"

#include <string.h>

#include "bide/policy.h"
#include "net/http2/fault.h"
#include "net/http2/frame.h"
#include "net/http2/head.h"
#include "net/http2/queue.h"

enum http2__drain {
    DRAIN_NOT,
    DRAIN_ANNOUNCED, /* the first GOAWAY and a PING are under way */
    DRAIN_DONE       /* the last GOAWAY is */
};

int64_t http2_due_ns(const struct http2_conn *c)
{
    const struct http2_partial *p = c->partial;

    return p && p->due_ns < c->due_ns ? p->due_ns : c->due_ns;
}

static void say_last(struct http2_conn *c)
{
    c->drain = DRAIN_DONE;
    c->due_ns = BIDE_FOREVER;
    http2__queue_goaway(c, c->last_id, HTTP2_NO_ERROR);
}

int http2_expire(struct http2_conn *c, int64_t now_ns)
{
    c->now_ns = now_ns;
    if (c->partial && now_ns >= c->partial->due_ns)
        http2_fail(c, HTTP2_ENHANCE_YOUR_CALM, HTTP2_WHY_LATE_HEAD);
    if (now_ns < c->due_ns || c->failed || c->broken)
        return http2__settle(c);
    if (!c->peer.known)
        http2_fail(c, HTTP2_SETTINGS_TIMEOUT, HTTP2_WHY_LATE_PREFACE);
    else if (c->acks)
        http2_fail(c, HTTP2_SETTINGS_TIMEOUT, HTTP2_WHY_SETTINGS_ACK);
    else if (c->drain == DRAIN_ANNOUNCED)
        say_last(c); /* without its PING */
    c->due_ns = BIDE_FOREVER;
    return http2__settle(c);
}

/* One PING at a time counts; one that is overtaken has another number. */
static void name_ping(const struct http2_conn *c, uint8_t opaque[8])
{
    memcpy(opaque, "bide   ", 7);
    opaque[7] = c->ping;
}

void http2_ping(struct http2_conn *c, int64_t now_ns)
{
    uint8_t opaque[8];

    if (c->pinged_ns || c->failed)
        return;
    c->pinged_ns = now_ns ? now_ns : 1;
    c->ping++;
    name_ping(c, opaque);
    http2__queue_ping(c, opaque, false);
}

void http2__pong(struct http2_conn *c, const uint8_t opaque[8])
{
    int64_t took_ns = c->now_ns - c->pinged_ns;
    uint8_t ours[8];

    name_ping(c, ours);
    if (c->pinged_ns == 0 || memcmp(opaque, ours, 8) != 0)
        return;
    c->pinged_ns = 0;
    if (c->drain == DRAIN_ANNOUNCED)
        say_last(c);
    if (!c->failed && c->calls->pong)
        c->calls->pong(c, took_ns);
}

void http2_shutdown(struct http2_conn *c, int64_t now_ns)
{
    if (c->drain != DRAIN_NOT || c->failed)
        return;
    c->closing = true;
    if (c->role == HTTP2_CLIENT) {
        say_last(c);
        return;
    }
    c->drain = DRAIN_ANNOUNCED;
    http2__queue_goaway(c, HTTP2__ID_MOST, HTTP2_NO_ERROR);
    c->pinged_ns = 0; /* one before it proves nothing */
    http2_ping(c, now_ns);
    if (c->due_ns == BIDE_FOREVER)
        c->due_ns = now_ns + c->conf->settings_ns;
}

bool http2_is_shut(const struct http2_conn *c)
{
    return c->drain == DRAIN_DONE;
}
