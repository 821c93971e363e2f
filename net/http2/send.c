/* net/http2/send.c: bodies in turn, and the bytes to write.
 *
 * What is to be written is one sequence, counted from the connection's beginning
 * (c->queued, c->written): bytes in the buffers from c->out on, and, in between,
 * pieces of bodies that stay where they are (c->refs, by their place in the
 * sequence). */
#include "net/http2/send.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "net/http2/queue.h"
#include "net/http2/stream.h"

enum {
    COPIED = 2048, /* bytes that are cheaper to copy than to refer to */
    AHEAD = 65536, /* bytes that may wait before more DATA is made */
};

/* ===== bodies ===== */

void http2_send(struct http2_stream *s, const char *bytes, size_t n, bool end)
{
    struct http2_conn *c = s->conn;
    char *p;

    assert(s->piece_len == 0 && !(s->flags & HTTP2_OUT_ENDED));
    if (s->flags & HTTP2_DEAD || c->failed || c->broken)
        return;
    if (n > 0) {
        s->piece = bytes;
        s->piece_len = s->unframed = n;
        if (end)
            s->flags |= HTTP2_END_PIECE;
        if (s->send_window > 0)
            http2__make_ready(s);
        return;
    }
    p = end ? http2__room(c, HTTP2__FRAME_HEAD) : NULL;
    if (!p)
        return;
    http2__put_frame(p, 0, HTTP2__DATA, HTTP2__END_STREAM, s->id);
    http2__queue(c, HTTP2__FRAME_HEAD);
    s->flags |= HTTP2_OUT_ENDED;
}

static uint32_t least(size_t a, int32_t b)
{
    return b <= 0 ? 0 : a < (size_t)b ? (uint32_t)a : (uint32_t)b;
}

/* What follows a piece that stays where it is does so, too: bytes are taken in
 * their order. */
static bool is_copied(const struct http2_stream *s, uint32_t n)
{
    return n <= COPIED && s->refs == 0 &&
           n + HTTP2__FRAME_HEAD <= s->conn->shared->bufs->size;
}

/* Writes the frame's head, and its payload if that is copied. False: no
 * memory. */
static bool put_data(struct http2_stream *s, uint32_t n, bool end, bool copied)
{
    struct http2_conn *c = s->conn;
    uint32_t size = HTTP2__FRAME_HEAD + (copied ? n : 0);
    char *p = http2__room(c, size);

    if (!p)
        return false;
    p = http2__put_frame(p, n, HTTP2__DATA, end ? HTTP2__END_STREAM : 0, s->id);
    if (copied)
        memcpy(p, s->piece, n);
    http2__queue(c, size);
    if (copied)
        return true;
    c->refs[c->n_refs++] = (struct http2_ref){
        .stream = s, .bytes = s->piece, .at = c->queued, .len = n, .taken = n
    };
    c->queued += n;
    s->refs++;
    return true;
}

/* A frame of the stream whose turn it is. */
static bool send_turn(struct http2_conn *c)
{
    struct http2_stream *s = c->ready;
    uint32_t n = least(least(s->unframed, s->send_window), c->send_window);
    bool end, copied;

    if (n > HTTP2__FRAME_MAX)
        n = HTTP2__FRAME_MAX;
    if (n == 0) {
        if (s->send_window > 0)
            return false; /* the connection's window is closed */
        http2__unready(s);
        return c->ready != NULL;
    }
    end = n == s->unframed && s->flags & HTTP2_END_PIECE;
    copied = is_copied(s, n);
    if (!put_data(s, n, end, copied))
        return false;
    http2__expect_updates(c);
    c->send_window -= (int32_t)n;
    s->send_window -= (int32_t)n;
    s->piece += n;
    s->unframed -= n;
    c->ready = s->next;
    if (s->unframed == 0 || s->send_window <= 0)
        http2__unready(s);
    if (end)
        s->flags |= HTTP2_OUT_ENDED;
    if (copied) {
        s->piece_len -= n;
        c->calls->taken(s, n);
    }
    return c->ready != NULL && !c->failed;
}

static uint64_t waiting(const struct http2_conn *c)
{
    return c->queued - c->written;
}

static void make_data(struct http2_conn *c)
{
    while (c->ready && !c->failed && !c->broken && waiting(c) < AHEAD &&
           c->n_refs < HTTP2_REFS && send_turn(c))
        continue;
    http2__settle(c);
}

/* ===== bytes to write ===== */

bool http2_wants_write(const struct http2_conn *c)
{
    if (c->lost)
        return false;
    if (c->broken)
        return !c->failed;
    return waiting(c) > 0 || (c->ready && c->send_window > 0 && !c->failed);
}

static struct iovec piece(const char *bytes, size_t n)
{
    union {
        const char *in;
        void *out;
    } same = { bytes }; /* writev() does not write to it */

    return (struct iovec){ same.out, n };
}

int http2_fill(struct http2_conn *c, struct iovec iov[HTTP2_IOV])
{
    uint64_t at = c->written;
    unsigned ref = 0;
    uint32_t skip = 0;
    struct net_buf *b;
    int n = 0;

    if (c->lost)
        return 0;
    make_data(c);
    if (c->broken)
        return 0;
    b = c->out;
    while (n < HTTP2_IOV && at < c->queued) {
        if (ref < c->n_refs && c->refs[ref].at == at) {
            iov[n++] = piece(c->refs[ref].bytes, c->refs[ref].len);
            at += c->refs[ref++].len;
            continue;
        }
        size_t len = net_buf_len(b) - skip;
        bool cut = ref < c->n_refs && c->refs[ref].at - at < len;

        if (cut)
            len = (size_t)(c->refs[ref].at - at);
        if (len > 0)
            iov[n++] = piece(net_buf_at(b) + skip, len);
        at += len;
        skip = cut ? skip + (uint32_t)len : 0;
        if (!cut)
            b = b->next;
    }
    return n;
}

/* Bytes of buffers have been written. */
static void drop(struct http2_conn *c, size_t n)
{
    while (c->out && n >= net_buf_len(c->out)) {
        struct net_buf *b = c->out;

        n -= net_buf_len(b);
        c->out = b->next;
        if (!c->out)
            c->out_last = NULL;
        net_buf_give(c->shared->bufs, b);
    }
    if (n > 0)
        c->out->begin += (uint32_t)n;
}

/* The first piece has been written: its bytes are the owner's again. */
static void finish_ref(struct http2_conn *c)
{
    struct http2_ref r = c->refs[0];

    memmove(c->refs, c->refs + 1, --c->n_refs * sizeof c->refs[0]);
    free(r.copy);
    if (!r.stream)
        return;
    r.stream->refs--;
    r.stream->piece_len -= r.taken;
    if (!(r.stream->flags & HTTP2_DEAD))
        c->calls->taken(r.stream, r.taken);
}

void http2_written(struct http2_conn *c, size_t n)
{
    for (unsigned i = 0; i < c->n_refs && n > 0; i++) {
        struct http2_ref *r = &c->refs[i];
        uint64_t before = r->at - c->written;
        size_t skip = before < n ? (size_t)before : n;

        drop(c, skip);
        n -= skip;
        c->written += skip;
        skip = n < r->len ? n : r->len;
        r->bytes += skip;
        r->len -= (uint32_t)skip;
        r->at += skip;
        n -= skip;
        c->written += skip;
    }
    drop(c, n);
    c->written += n;
    http2__unsent_written(c);
    while (c->n_refs > 0 && c->refs[0].len == 0)
        finish_ref(c);
}
