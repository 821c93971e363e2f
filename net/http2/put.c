/* net/http2/put.c: writing heads.
 *
 * Fields are encoded where they will be sent from, the connection's last
 * buffer, after room for a frame's head, which is filled in when the frame is
 * complete. A head that does not fit goes on in another buffer, as
 * CONTINUATION. */
#include "net/http2/put.h"

#include <assert.h>
#include <string.h>

#include "net/http2/hpack.h"
#include "net/http2/put_known.h"
#include "net/http2/queue.h"
#include "net/http2/stream.h"

enum { HEAD_ROOM = 256 }; /* a buffer with less is left to others */

/* ===== frames ===== */

/* Without memory the head stays half written: nothing may follow. */
static void no_memory(struct http2_conn *c)
{
    c->broken = true;
}

/* Room for a frame's head, at the end of the last buffer. */
static bool begin_frame(struct http2_conn *c, uint32_t need)
{
    if ((!c->out_last || net_buf_space(c->out_last) < need) &&
        !http2__add_buf(c)) {
        no_memory(c);
        return false;
    }
    c->head_from = c->out_last->end;
    c->out_last->end += HTTP2__FRAME_HEAD;
    return true;
}

static uint32_t frame_len(const struct http2_conn *c)
{
    return c->out_last->end - c->head_from - HTTP2__FRAME_HEAD;
}

/* Fills in the frame's head. The first has its flags' place noted. */
static void end_frame(struct http2_conn *c, uint32_t id, unsigned flags)
{
    char *p = c->out_last->data + c->head_from;

    http2__put_frame(p, frame_len(c),
                     c->head_flags ? HTTP2__CONTINUATION : HTTP2__HEADERS,
                     flags, id);
    if (!c->head_flags)
        c->head_flags = p + 4;
    c->queued += HTTP2__FRAME_HEAD + frame_len(c);
}

/* Where n bytes can be written, at most HTTP2__FRAME_MAX / 2; NULL: they cannot
 * in one piece. */
static char *room(struct http2_conn *c, size_t n)
{
    if (c->broken || net_buf_space(c->out_last) < n ||
        frame_len(c) + n > HTTP2__FRAME_MAX)
        return NULL;
    return net_buf_room(c->out_last);
}

static void wrote(struct http2_conn *c, const char *end)
{
    c->out_last->end = (uint32_t)(end - c->out_last->data);
}

/* Bytes that go on in the next frame where this one ends. */
static void append(struct http2_stream *s, const char *bytes, size_t n)
{
    struct http2_conn *c = s->conn;

    while (n > 0 && !c->broken) {
        size_t fits = net_buf_space(c->out_last);

        if (fits > HTTP2__FRAME_MAX - frame_len(c))
            fits = HTTP2__FRAME_MAX - frame_len(c);
        if (fits == 0) {
            end_frame(c, s->id, 0);
            begin_frame(c, HEAD_ROOM);
            continue;
        }
        if (fits > n)
            fits = n;
        memcpy(net_buf_room(c->out_last), bytes, fits);
        c->out_last->end += (uint32_t)fits;
        bytes += fits;
        n -= fits;
    }
}

/* ===== fields ===== */

static void lower(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] |= 0x20;
}

/* The rare field that does not fit into what is left of the frame. */
static void put_split(struct http2_stream *s, unsigned how, const char *name,
                      size_t name_len, const char *value, size_t value_len)
{
    char part[64],
        *p = hpack__int(part, how & 0x80 ? HPACK__NEVER : 0, 4, how & 0x7f);

    if ((how & 0x7f) == 0) {
        p = hpack__int(p, 0, 7, name_len);
        append(s, part, (size_t)(p - part));
        for (size_t i = 0; i < name_len; i += sizeof part) {
            size_t n = name_len - i < sizeof part ? name_len - i : sizeof part;

            memcpy(part, name + i, n);
            lower(part, n);
            append(s, part, n);
        }
        p = part;
    }
    p = hpack__int(p, 0, 7, value_len);
    append(s, part, (size_t)(p - part));
    append(s, value, value_len);
}

void http2__put_known(struct http2_stream *s, unsigned id, const char *name,
                      size_t name_len, const char *value, size_t value_len)
{
    struct http2_conn *c = s->conn;
    unsigned how = hpack__names[id];
    char *p = room(c, name_len + value_len + HPACK__OVERHEAD);

    if (!p) {
        put_split(s, how, name, name_len, value, value_len);
        return;
    }
    p = hpack__int(p, how & 0x80 ? HPACK__NEVER : 0, 4, how & 0x7f);
    if (how == 0) {
        p = hpack__int(p, 0, 7, name_len);
        for (size_t i = 0; i < name_len; i++)
            p[i] = name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 0x20 : name[i];
        p += name_len;
    }
    p = hpack__int(p, 0, 7, value_len);
    memcpy(p, value, value_len);
    wrote(c, p + value_len);
}

void http2_put(struct http2_stream *s, const char *name, size_t name_len,
               const char *value, size_t value_len)
{
    http2__put_known(s, http1_name_id(name, name_len), name, name_len, value,
                     value_len);
}

/* A pseudo-header: whole from the static table, or its name. */
static void put_pseudo(struct http2_stream *s, unsigned index, bool whole,
                       const char *name, const char *value, size_t len)
{
    struct http2_conn *c = s->conn;
    size_t name_len = index ? 0 : strlen(name);
    char *p = room(c, len + name_len + HPACK__OVERHEAD);

    if (!p) {
        put_split(s, index, name, name_len, value, len);
        return;
    }
    if (whole) {
        wrote(c, hpack__indexed(p, index));
        return;
    }
    p = hpack__int(p, 0, 4, index);
    if (index == 0) {
        p = hpack__int(p, 0, 7, name_len);
        memcpy(p, name, name_len);
        p += name_len;
    }
    p = hpack__int(p, 0, 7, len);
    memcpy(p, value, len);
    wrote(c, p + len);
}

void http2_put_status(struct http2_stream *s, unsigned status)
{
    static const uint16_t table[] = { 200, 204, 206, 304, 400, 404, 500 };
    char digits[3] = { (char)('0' + status / 100 % 10),
                       (char)('0' + status / 10 % 10),
                       (char)('0' + status % 10) };

    if (status >= 200)
        s->flags |= HTTP2_HEAD_OUT;
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i] == status) {
            put_pseudo(s, HPACK__STATUS_200 + i, true, "", digits, 3);
            return;
        }
    put_pseudo(s, HPACK__STATUS_200, false, "", digits, 3);
}

void http2_put_request(struct http2_stream *s, const struct http2_request *r)
{
    bool get = r->method_len == 3 && memcmp(r->method, "GET", 3) == 0;
    bool post = r->method_len == 4 && memcmp(r->method, "POST", 4) == 0;
    bool https = r->scheme && strcmp(r->scheme, "https") == 0;

    if (r->method_len == 4 && memcmp(r->method, "HEAD", 4) == 0)
        s->flags |= HTTP2_NO_BODY;
    s->flags |= HTTP2_HEAD_OUT;
    put_pseudo(s, post ? HPACK__METHOD_POST : HPACK__METHOD_GET, get || post,
               "", r->method, r->method_len);
    if (r->protocol)
        put_pseudo(s, 0, false, ":protocol", r->protocol, strlen(r->protocol));
    if (r->scheme)
        put_pseudo(s, https ? HPACK__HTTPS : HPACK__HTTP, true, "", r->scheme,
                   strlen(r->scheme));
    if (r->path)
        put_pseudo(s, HPACK__PATH, r->path_len == 1 && r->path[0] == '/', "",
                   r->path, r->path_len);
    if (r->authority)
        put_pseudo(s, HPACK__AUTHORITY, false, "", r->authority,
                   r->authority_len);
}

/* ===== heads ===== */

void http2_head_begin(struct http2_stream *s)
{
    struct http2_conn *c = s->conn;

    assert(!c->head_open && s->piece_len == 0);
    c->head_open = true;
    c->head_flags = NULL;
    if (s->head_at == 0 || s->head_at == UINT64_MAX)
        s->head_at = c->queued;
    if (!c->broken && begin_frame(c, HEAD_ROOM) && !c->table_told) {
        c->table_told = true; /* RFC 7541, 6.3: its size is 0 */
        *net_buf_room(c->out_last) = 0x20;
        c->out_last->end++;
    }
}

/* A head that nobody will read: its stream has died. It is still one frame, at
 * the end of the last buffer. */
static void forget(struct http2_conn *c)
{
    if (c->out_last->data[c->head_from + HTTP2__FRAME_HEAD] == 0x20)
        c->table_told = false;
    c->out_last->end = c->head_from;
}

int http2_head_end(struct http2_stream *s, bool end)
{
    struct http2_conn *c = s->conn;
    bool dead = s->flags & HTTP2_DEAD;

    c->head_open = false;
    if (c->broken)
        return -1;
    if (dead && !c->head_flags) {
        forget(c);
        return c->failed ? -1 : 0;
    }
    end_frame(c, s->id, HTTP2__END_HEADERS);
    if (end && !dead) {
        *c->head_flags |= HTTP2__END_STREAM;
        s->flags |= HTTP2_OUT_ENDED;
    }
    return c->failed ? -1 : 0;
}
