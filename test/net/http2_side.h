/* http2_side.h: one side of an HTTP/2 connection for tests: the owner that answers
 * requests, or makes them, and writes down what it is told; and the frames that
 * it is fed, made from text (http2_rules.txt says how).
 *
 *     struct side s;
 *     side_begin(&s, HTTP2_SERVER, NULL);
 *     side_play(&s, "HEADERS 1 es,eh @get ; DATA 1 - \"x\"");
 *     assert_string_equal(side_said(&s), "RST_STREAM 1 STREAM_CLOSED\n");
 *     side_end(&s);
 *
 * Requests are answered when they are complete, but for these paths: /wait never,
 * /refuse is not accepted, /stall is not consumed, /early is answered at once,
 * /none with no body, /big with 300 000 bytes, /trailers with some. */
#ifndef BIDE_TEST_HTTP2_SIDE_H
#define BIDE_TEST_HTTP2_SIDE_H

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http2/drain.h"
#include "net/http2/frame.h"
#include "net/http2/put.h"
#include "net/http2/receive.h"
#include "net/http2/send.h"

enum { SIDE_BIG = 300000, SIDE_SAID = 1 << 20, SIDE_STREAMS = 4096 };

struct side_stream {
    struct http2_stream stream; /* first */
    struct side *side;
    char path[64];
    size_t got, unconsumed;
    bool complete, answered, trailers, closed;
    int closed_how;
    uint32_t closed_code;
    bool closed_unprocessed;
    uint16_t status;
};

struct side {
    struct http2_conn c;
    struct http2_conf conf;
    struct net_bufs bufs;
    struct http2_shared shared;
    int64_t now_ns;
    char *heard; /* what it was told */
    char *said;  /* what it wrote, as text */
    char *wire;  /* ... as bytes, not yet made text */
    size_t heard_len, said_len, wire_len, wire_size;
    bool keep_wire; /* for who wants the bytes */
    bool stuck;     /* the peer reads nothing */
    char *big;
    struct side_stream *streams[SIDE_STREAMS];
    unsigned n_streams;
};

static inline void side_note(struct side *s, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (s->heard_len < SIDE_SAID - 8192)
        s->heard_len += (size_t)vsnprintf(
            s->heard + s->heard_len, SIDE_SAID - s->heard_len, format, args);
    va_end(args);
}

/* ===== the owner ===== */

static inline void side_release(struct side_stream *t, enum http2_code code)
{
    struct side *s = t->side;

    for (unsigned i = 0; i < s->n_streams; i++)
        if (s->streams[i] == t) {
            s->streams[i] = s->streams[--s->n_streams];
            break;
        }
    http2_release(&t->stream, code);
    free(t);
}

static inline struct side_stream *side_find(struct side *s, uint32_t id)
{
    for (unsigned i = 0; i < s->n_streams; i++)
        if (s->streams[i]->stream.id == id)
            return s->streams[i];
    return NULL;
}

static inline struct side_stream *side_new(struct side *s)
{
    struct side_stream *t = calloc(1, sizeof *t);

    if (!t || s->n_streams == SIDE_STREAMS)
        abort();
    t->side = s;
    s->streams[s->n_streams++] = t;
    return t;
}

static inline void side_over(struct side_stream *t)
{
    if (http2_is_over(&t->stream) && strcmp(t->path, "/wait") != 0)
        side_release(t, HTTP2_NO_ERROR);
}

static inline void side_answer(struct side_stream *t)
{
    struct http2_stream *st = &t->stream;
    static const char lines[] = "Content-Type: text/plain\r\n"
                                "Connection: close\r\nX-Long: yes\r\n";

    t->answered = true;
    t->trailers = strcmp(t->path, "/trailers") == 0;
    http2_head_begin(st);
    http2_put_status(st, strcmp(t->path, "/big") == 0 ? 206 : 200);
    http2_put_lines(st, lines, sizeof lines - 1);
    http2_head_end(st, strcmp(t->path, "/none") == 0);
    if (strcmp(t->path, "/none") == 0)
        side_over(t);
    else if (strcmp(t->path, "/big") == 0)
        http2_send(st, t->side->big, SIDE_BIG, true);
    else
        http2_send(st, "ok\n", 3, !t->trailers);
}

static inline void side_complete(struct side_stream *t)
{
    t->complete = true;
    if (t->side->c.role == HTTP2_CLIENT)
        return;
    if (!t->answered && strcmp(t->path, "/wait") != 0)
        side_answer(t);
    else
        side_over(t);
}

static inline void side_head_text(struct side *s, const struct http2_head *h)
{
    if (h->error)
        side_note(s, " error %d", h->error);
    if (h->protocol)
        side_note(s, " protocol %s", h->protocol);
    if (h->head->head_len)
        side_note(s, "%s\n%.*s", h->end ? " end" : "", (int)h->head->head_len,
                  h->text);
    else
        side_note(s, "%s\n", h->end ? " end" : "");
}

static void side_request(struct http2_conn *c, const struct http2_head *h)
{
    struct side *s = c->user;
    struct side_stream *t;

    side_note(s, "request");
    side_head_text(s, h);
    if (h->head->path_len >= sizeof t->path ||
        (h->head->path_len == 7 &&
         memcmp(h->text + h->head->path, "/refuse", 7) == 0))
        return;
    t = side_new(s);
    memcpy(t->path, h->text + h->head->path, h->head->path_len);
    http2_accept(c, &t->stream);
    if (h->error || strcmp(t->path, "/early") == 0)
        side_answer(t);
    if (h->end)
        side_complete(t);
}

static void side_response(struct http2_stream *st, const struct http2_head *h)
{
    struct side_stream *t = (struct side_stream *)st;

    t->status = h->head->status;
    side_note(t->side, "response %u", (unsigned)st->id);
    side_head_text(t->side, h);
    if (h->end && h->head->status >= 200)
        t->complete = true;
}

static void side_data(struct http2_stream *st, const char *bytes, size_t n,
                      bool end)
{
    struct side_stream *t = (struct side_stream *)st;

    (void)bytes;
    t->got += n;
    t->unconsumed += n;
    if (strcmp(t->path, "/stall") != 0) {
        http2_consumed(st, t->unconsumed);
        t->unconsumed = 0;
    }
    if (end)
        side_note(t->side, "data %u %zu end\n", (unsigned)st->id, t->got);
    if (end)
        side_complete(t);
}

static void side_trailers(struct http2_stream *st, const struct http2_head *h)
{
    struct side_stream *t = (struct side_stream *)st;

    side_note(t->side, "trailers %u", (unsigned)st->id);
    side_head_text(t->side, h);
    side_complete(t);
}

static void side_taken(struct http2_stream *st, size_t n)
{
    struct side_stream *t = (struct side_stream *)st;

    (void)n;
    if (st->piece_len > 0 || t->side->c.role == HTTP2_CLIENT)
        return;
    if (t->trailers) {
        t->trailers = false;
        http2_head_begin(st);
        http2_put(st, "grpc-status", 11, "0", 1);
        http2_head_end(st, true);
    }
    side_over(t);
}

static void side_closed(struct http2_stream *st, enum http2_end how,
                        uint32_t code, bool unprocessed)
{
    static const char *const hows[] = { "peer", "us", "lost" };
    struct side_stream *t = (struct side_stream *)st;

    t->closed = true;
    t->closed_how = (int)how;
    t->closed_code = code;
    t->closed_unprocessed = unprocessed;
    side_note(t->side, "closed %u by %s %s%s\n", (unsigned)st->id, hows[how],
              http2_code_name(code), unprocessed ? " unprocessed" : "");
    if (strcmp(t->path, "/wait") != 0)
        side_release(t, HTTP2_CANCEL);
}

static void side_goaway(struct http2_conn *c, const char *debug, size_t n)
{
    side_note(c->user, "goaway %u %s \"%.*s\"\n", (unsigned)c->goaway_last,
              http2_code_name(c->goaway_code), (int)n, debug);
}

static void side_pong(struct http2_conn *c, int64_t took_ns)
{
    side_note(c->user, "pong %lld\n", (long long)took_ns);
}

static void side_settings(struct http2_conn *c)
{
    side_note(c->user, "settings\n");
}

static const struct http2_calls side_calls = {
    .request = side_request,
    .response = side_response,
    .data = side_data,
    .trailers = side_trailers,
    .taken = side_taken,
    .closed = side_closed,
    .goaway = side_goaway,
    .pong = side_pong,
    .settings = side_settings,
};

/* ===== what it writes ===== */

static inline void side_wire(struct side *s, const struct iovec *iov)
{
    if (s->wire_len + iov->iov_len > s->wire_size) {
        s->wire_size = 2 * (s->wire_len + iov->iov_len);
        s->wire = realloc(s->wire, s->wire_size);
        if (!s->wire)
            abort();
    }
    memcpy(s->wire + s->wire_len, iov->iov_base, iov->iov_len);
    s->wire_len += iov->iov_len;
}

/* A frame as text. What every connection begins with is left out: SETTINGS, and
 * the WINDOW_UPDATE after it. */
static inline void side_frame_text(struct side *s, const uint8_t *p)
{
    static const char *const names[] = {
        "DATA",         "HEADERS", "PRIORITY", "RST_STREAM",    "SETTINGS",
        "PUSH_PROMISE", "PING",    "GOAWAY",   "WINDOW_UPDATE", "CONTINUATION"
    };
    struct http2_frame f = http2__get_frame(p);
    char *to = s->said + s->said_len;
    size_t room = SIDE_SAID - s->said_len;
    const char *end = f.flags & 1 ? " es" : "";
    int n = 0;

    if (room < 256)
        return;
    p += 9;
    if (f.type == HTTP2__RST_STREAM)
        n = snprintf(to, room, "RST_STREAM %u %s\n", f.id,
                     http2_code_name(http2__get32(p)));
    else if (f.type == HTTP2__GOAWAY)
        n = snprintf(to, room, "GOAWAY %u %s\n", http2__get32(p),
                     http2_code_name(http2__get32(p + 4)));
    else if (f.type == HTTP2__WINDOW_UPDATE)
        n = snprintf(to, room, "WINDOW_UPDATE %u %u\n", f.id, http2__get32(p));
    else if (f.type == HTTP2__DATA)
        n = snprintf(to, room, "DATA %u %u%s\n", f.id, f.len, end);
    else if (f.type == HTTP2__HEADERS)
        n = snprintf(to, room, "HEADERS %u%s\n", f.id, end);
    else
        n = snprintf(to, room, "%s%s\n", names[f.type],
                     f.flags & 1 ? " ack" : "");
    s->said_len += (size_t)n;
}

/* Writes all that can be, `most` bytes at a time. */
static inline void side_write(struct side *s, size_t most)
{
    struct iovec iov[HTTP2_IOV];
    int n;

    while (!s->stuck && (n = http2_fill(&s->c, iov)) > 0) {
        size_t written = 0;

        for (int i = 0; i < n && written < most; i++) {
            if (iov[i].iov_len > most - written)
                iov[i].iov_len = most - written;
            side_wire(s, &iov[i]);
            written += iov[i].iov_len;
        }
        http2_written(&s->c, written);
    }
}

static inline const char *side_said(struct side *s)
{
    size_t at = 0;

    side_write(s, SIZE_MAX);
    if (s->wire_len >= HTTP2_PREFACE && memcmp(s->wire, "PRI", 3) == 0)
        at = HTTP2_PREFACE;
    s->said_len = 0;
    s->said[0] = '\0';
    while (s->wire_len - at >= 9) {
        const uint8_t *p = (const uint8_t *)s->wire + at;

        at += 9 + http2__get_frame(p).len;
        side_frame_text(s, p);
    }
    if (at != s->wire_len)
        snprintf(s->said, SIDE_SAID, "half a frame");
    s->wire_len = 0;
    return s->said;
}

static inline const char *side_heard(struct side *s)
{
    static char last[SIDE_SAID];

    memcpy(last, s->heard, s->heard_len + 1);
    s->heard_len = 0;
    s->heard[0] = '\0';
    return last;
}

/* ===== what it is fed ===== */

static inline int side_hex(char c)
{
    return c >= 'a' ? c - 'a' + 10 : c - '0';
}

/* One word of a payload. */
static inline uint8_t *side_literal(uint8_t *p, const char *name, size_t len,
                                    const char *value, size_t value_len)
{
    const char *parts[2] = { name, value };
    size_t lens[2] = { len, value_len };

    *p++ = 0;
    for (int i = 0; i < 2; i++) {
        uint8_t *length = p++, *from;

        if (lens[i] > 1000)
            abort();
        if (lens[i] >= 127)
            p++;
        from = p;
        for (size_t k = 0; k < lens[i]; k++) {
            char c = parts[i][k];

            if (c == '%') {
                c = (char)(side_hex(parts[i][k + 1]) << 4 |
                           side_hex(parts[i][k + 2]));
                k += 2;
            } else if (c == '_') {
                c = ' ';
            }
            *p++ = (uint8_t)c;
        }
        if (lens[i] >= 127) {
            size_t rest = (size_t)(p - from) - 127;

            if (rest >= 128)
                abort();
            length[0] = 127;
            length[1] = (uint8_t)rest;
        } else {
            *length = (uint8_t)(p - from);
        }
    }
    return p;
}

static inline uint8_t *side_field(uint8_t *p, const char *word)
{
    const char *colon = strchr(word + 1, ':');

    return side_literal(p, word, (size_t)(colon - word), colon + 1,
                        strlen(colon + 1));
}

static inline uint8_t *side_request_head(uint8_t *p, const char *method,
                                         const char *path)
{
    char word[128];

    snprintf(word, sizeof word, ":method:%s", method);
    p = side_field(p, word);
    p = side_field(p, ":scheme:http");
    snprintf(word, sizeof word, ":path:%s", path);
    p = side_field(p, word);
    return side_field(p, ":authority:a");
}

static inline uint8_t *side_word(uint8_t *p, const char *word)
{
    unsigned n;
    size_t len = strlen(word);

    if (strcmp(word, "@get") == 0)
        return side_request_head(p, "GET", "/wait");
    if (strcmp(word, "@ok") == 0)
        return side_request_head(p, "GET", "/");
    if (strcmp(word, "@put") == 0)
        return side_request_head(p, "PUT", "/wait");
    if (strcmp(word, "@post") == 0)
        return side_request_head(p, "POST", "/");
    if (word[0] == '@')
        return side_request_head(p, "POST", word + 1);
    if (sscanf(word, "0*%u", &n) == 1) {
        memset(p, 0, n);
        return p + n;
    }
    if (word[0] == '"') {
        memcpy(p, word + 1, len - 2);
        return p + len - 2;
    }
    if (strchr(word + 1, ':'))
        return side_field(p, word);
    for (size_t i = 1; i + 1 < len; i += 2)
        *p++ = (uint8_t)(side_hex(word[i]) << 4 | side_hex(word[i + 1]));
    return p;
}

static inline unsigned side_flags(char *text)
{
    static const struct {
        const char *name;
        unsigned flag;
    } all[] = { { "es", 1 },  { "ack", 1 },  { "eh", 4 },
                { "pad", 8 }, { "pri", 32 }, { "-", 0 } };
    unsigned flags = 0;
    char *save;

    for (char *f = strtok_r(text, ",", &save); f;
         f = strtok_r(NULL, ",", &save))
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            if (strcmp(f, all[i].name) == 0)
                flags |= all[i].flag;
    return flags;
}

/* A frame as bytes, from its text, which is taken apart. Returns its length. */
static inline size_t side_make_frame(uint8_t *to, char *text)
{
    static const char *const types[] = {
        "DATA",         "HEADERS", "PRIORITY", "RST_STREAM",    "SETTINGS",
        "PUSH_PROMISE", "PING",    "GOAWAY",   "WINDOW_UPDATE", "CONTINUATION"
    };
    char *save, *type = strtok_r(text, " ", &save);
    uint32_t id = (uint32_t)strtoul(strtok_r(NULL, " ", &save), NULL, 10);
    unsigned flags = side_flags(strtok_r(NULL, " ", &save)), code = 0xbe;
    uint8_t *p = to + 9;

    for (unsigned i = 0; i < 10; i++)
        if (strcmp(type, types[i]) == 0)
            code = i;
    if (strcmp(type, "PING_f0") == 0) {
        code = HTTP2__PING;
        flags = 0xf0;
    }
    for (char *w = strtok_r(NULL, " ", &save); w;
         w = strtok_r(NULL, " ", &save))
        p = side_word(p, w);
    http2__put_frame((char *)to, (uint32_t)(p - to) - 9, code, flags, id);
    return (size_t)(p - to);
}

/* Frames as bytes; the text is separated by ";". */
static inline size_t side_make(uint8_t *to, const char *text)
{
    char *copy = strdup(text), *save;
    size_t n = 0;

    for (char *f = strtok_r(copy, ";", &save); f;
         f = strtok_r(NULL, ";", &save))
        n += side_make_frame(to + n, f);
    free(copy);
    return n;
}

static inline int side_feed(struct side *s, const void *bytes, size_t n)
{
    return http2_receive(&s->c, bytes, n, s->now_ns);
}

/* Feeds frames, `cut` bytes at a time; 0: all at once. */
static inline int side_play_cut(struct side *s, const char *text, size_t cut)
{
    uint8_t *bytes = malloc(1 << 20);
    size_t n = side_make(bytes, text), at = 0;
    int rc = 0;

    while (at < n && rc == 0) {
        size_t some = cut && cut < n - at ? cut : n - at;
        char *exact = malloc(some); /* so that ASan sees a read beyond it */

        memcpy(exact, bytes + at, some);
        rc = side_feed(s, exact, some);
        free(exact);
        at += some;
    }
    free(bytes);
    return rc;
}

static inline int side_play(struct side *s, const char *text)
{
    return side_play_cut(s, text, 0);
}

/* ===== its life ===== */

/* Without a word; conf NULL: as it comes. */
static inline void side_init(struct side *s, enum http2_role role,
                             const struct http2_conf *conf)
{
    static const struct http2_conf usual = HTTP2_CONF_INIT;

    memset(s, 0, sizeof *s);
    s->conf = conf ? *conf : usual;
    s->heard = calloc(1, SIDE_SAID);
    s->said = calloc(1, SIDE_SAID);
    s->big = calloc(1, SIDE_BIG);
    s->now_ns = INT64_C(1000000000);
    net_bufs_init(&s->bufs, 4096, NET_SPARES(8));
    http2_shared_init(&s->shared, &s->bufs, s->conf.headers,
                      s->conf.header_bytes);
    if (!s->heard || !s->said || !s->big ||
        !http2_init(&s->c, role, &s->conf, &side_calls, &s->shared, s->now_ns))
        abort();
    s->c.user = s;
}

/* The other side has said what it says first, and so have we. */
static inline void side_begin(struct side *s, enum http2_role role,
                              const struct http2_conf *conf)
{
    side_init(s, role, conf);
    if (role == HTTP2_SERVER)
        side_feed(s, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP2_PREFACE);
    side_play(s, "SETTINGS 0 - ; SETTINGS 0 ack");
    side_said(s);
    side_heard(s);
}

static inline void side_end(struct side *s)
{
    http2_lost(&s->c);
    while (s->n_streams)
        side_release(s->streams[0], HTTP2_CANCEL);
    http2_done(&s->c);
    http2_shared_done(&s->shared);
    net_bufs_done(&s->bufs);
    free(s->heard);
    free(s->said);
    free(s->big);
    free(s->wire);
}

#endif
