/* net/http2/stream.c: streams: opened, found, ready to send, dead, released. */
#include "net/http2/stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "net/http2/block.h"
#include "net/http2/data.h"
#include "net/http2/queue.h"

/* ===== what is remembered of those that ended ===== */

static uint64_t *recent(struct http2_conn *c, uint32_t id, uint64_t *ret_bit)
{
    unsigned at = id / 2 % HTTP2_RECENT;

    *ret_bit = UINT64_C(1) << at % 64;
    return &c->reset_ids[at / 64];
}

static uint32_t newest(const struct http2_conn *c)
{
    return c->role == HTTP2_SERVER ? c->last_id : c->next_id - 2;
}

/* One that is older than what is remembered gets the benefit of the doubt. */
bool http2__was_reset(const struct http2_conn *c, uint32_t id)
{
    unsigned at = id / 2 % HTTP2_RECENT;

    if (id + 2 * HTTP2_RECENT <= newest(c))
        return true;
    return c->reset_ids[at / 64] >> at % 64 & 1;
}

void http2__note_reset(struct http2_conn *c, uint32_t id)
{
    uint64_t bit, *word = recent(c, id, &bit);

    if (id + 2 * HTTP2_RECENT > newest(c))
        *word |= bit;
}

void http2__forget_reset(struct http2_conn *c, uint32_t from, uint32_t to)
{
    uint64_t bit;

    if (to - from >= 2 * HTTP2_RECENT) {
        memset(c->reset_ids, 0, sizeof c->reset_ids);
        return;
    }
    for (uint32_t id = from; id <= to; id += 2) {
        uint64_t *word = recent(c, id, &bit);
        *word &= ~bit;
    }
}

/* ===== sending in turn ===== */

void http2__make_ready(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;

    if (s->next)
        return;
    if (!c->ready) {
        c->ready = s->next = s->prev = s;
        return;
    }
    s->next = c->ready; /* last: before the one whose turn it is */
    s->prev = c->ready->prev;
    s->prev->next = s;
    c->ready->prev = s;
}

void http2__unready(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;

    if (!s->next)
        return;
    if (c->ready == s)
        c->ready = s->next == s ? NULL : s->next;
    s->prev->next = s->next;
    s->next->prev = s->prev;
    s->next = s->prev = NULL;
}

/* ===== opened ===== */

static void link_stream(struct http2_conn *c, struct http2_stream *s,
                        uint32_t id)
{
    struct http2_stream **bucket = &c->by_id[id / 2 % HTTP2_BUCKETS];
    uint32_t window = c->conf->window;

    assert(!s->conn);
    s->conn = c;
    s->id = id;
    s->next_by_id = *bucket;
    *bucket = s;
    s->send_window = (int32_t)c->peer.window;
    /* Until it knows ours, the peer goes by what the protocol begins with. */
    if (c->acks && window < HTTP2__WINDOW_FIRST)
        window = HTTP2__WINDOW_FIRST;
    s->recv_window = (int32_t)window;
    c->n_streams++;
    http2__expect_updates(c);
}

void http2_accept(struct http2_conn *c, struct http2_stream *s)
{
    assert(c->asking);
    link_stream(c, s, c->asking);
    s->flags |= HTTP2_HEAD_IN;
    http2__expect_body(s, c->asked);
    c->asking = 0;
}

uint32_t http2_may_open(const struct http2_conn *c)
{
    if (c->closing || c->goaway_in || c->n_streams >= c->peer.streams ||
        c->next_id > HTTP2__ID_MOST)
        return 0;
    return c->peer.streams - c->n_streams;
}

bool http2_open(struct http2_conn *c, struct http2_stream *s)
{
    assert(c->role == HTTP2_CLIENT);
    if (http2_may_open(c) == 0)
        return false;
    http2__forget_reset(c, c->next_id, c->next_id);
    c->next_id += 2;
    link_stream(c, s, c->next_id - 2);
    s->head_at = UINT64_MAX;
    return true;
}

/* ===== dead ===== */

void http2__kill(struct http2_stream *s, enum http2_end how, uint32_t code,
                 bool unprocessed)
{
    struct http2_conn *c = s->conn;

    http2__unready(s);
    http2__note_reset(c, s->id);
    s->flags |= HTTP2_DEAD;
    if (c->role == HTTP2_CLIENT && c->lost && c->written <= s->head_at)
        unprocessed = true; /* and it never will be written */
    c->calls->closed(s, how, code, unprocessed);
}

/* The owner may release any of them in closed(): begins again after each. */
void http2__kill_above(struct http2_conn *c, uint32_t last, enum http2_end how,
                       uint32_t code, bool unprocessed)
{
    for (unsigned i = 0; i < HTTP2_BUCKETS; i++) {
        struct http2_stream *s = c->by_id[i];

        while (s)
            if (s->id > last && !http2_is_over(s)) {
                http2__kill(s, how, code, unprocessed);
                s = c->by_id[i];
            } else {
                s = s->next_by_id;
            }
    }
}

/* ===== released ===== */

/* Bytes that are in the middle of a frame must be sent, but will not be there. */
static void keep_refs(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;

    for (unsigned i = 0; i < c->n_refs; i++) {
        struct http2_ref *r = &c->refs[i];

        if (r->stream != s)
            continue;
        r->stream = NULL;
        if (r->len == 0)
            continue;
        r->copy = malloc(r->len);
        if (r->copy) {
            memcpy(r->copy, r->bytes, r->len);
            r->bytes = r->copy;
        } else { /* the connection cannot go on from here */
            r->len = 0;
            c->broken = true;
        }
    }
}

static void unlink_stream(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;
    struct http2_stream **at = &c->by_id[s->id / 2 % HTTP2_BUCKETS];

    while (*at != s)
        at = &(*at)->next_by_id;
    *at = s->next_by_id;
    s->next_by_id = NULL;
    s->conn = NULL;
    c->n_streams--;
}

void http2_release(struct http2_stream *s, enum http2_code code)
{
    struct http2_conn *c = s->conn;

    if (!c)
        return;
    if (!http2_is_over(s)) {
        http2__unready(s);
        http2__note_reset(c, s->id);
        s->flags |= HTTP2_DEAD;
        if (!c->failed && s->head_at != UINT64_MAX)
            http2__queue_reset(c, s->id, code);
    }
    if (s->refs)
        keep_refs(s);
    c->unconsumed -= s->unconsumed;
    unlink_stream(s);
    http2__return_window(c);
}
