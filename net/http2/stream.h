/* net/http2/stream.h: the streams of a connection, for its files.
 *
 * Those that are not released are found by number. Of those that are, one bit
 * is kept for each of the last HTTP2_RECENT: whether it was reset. What still
 * arrives on such a stream was on its way, and is ignored; on one that ended in
 * order it is an error. */
#ifndef BIDE_NET_HTTP2_STREAM_H
#define BIDE_NET_HTTP2_STREAM_H

#include "net/http2/send.h"

/* The stream with that number; NULL: idle, or released. */
static inline struct http2_stream *http2__find(const struct http2_conn *c,
                                               uint32_t id)
{
    struct http2_stream *s = c->by_id[id / 2 % HTTP2_BUCKETS];

    while (s && s->id != id)
        s = s->next_by_id;
    return s;
}

/* Whether nobody has opened it yet. */
static inline bool http2__is_idle(const struct http2_conn *c, uint32_t id)
{
    bool theirs = (id & 1) == (c->role == HTTP2_SERVER);

    return theirs ? id > c->last_id : id >= c->next_id;
}

/* Whether frames may still be on their way to a stream that is released. */
bool http2__was_reset(const struct http2_conn *c, uint32_t id);
void http2__note_reset(struct http2_conn *c, uint32_t id);
void http2__forget_reset(struct http2_conn *c, uint32_t from, uint32_t to);

/* It can send, or cannot any more. */
void http2__make_ready(struct http2_stream *s);
void http2__unready(struct http2_stream *s);

/* It is dead, and its owner is told. */
void http2__kill(struct http2_stream *s, enum http2_end how, uint32_t code,
                 bool unprocessed);

/* All that have a number above `last` and may be dead: those of ours if the peer
 * says so, or all. */
void http2__kill_above(struct http2_conn *c, uint32_t last, enum http2_end how,
                       uint32_t code, bool unprocessed);

#endif
