/* A parsed message as text, and a message fed in pieces: what the tests of the
 * parser and its fuzz targets share.
 *
 * All that the parser says of a message is in the text, so that two ways of
 * feeding the same bytes can be compared as strings. */
#ifndef BIDE_TEST_HTTP1_TEXT_H
#define BIDE_TEST_HTTP1_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http1/head.h"

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static inline void
add(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(t->at, t->left, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= t->left)
        abort();
    t->at += n;
    t->left -= (size_t)n;
}

/* Bytes as they are: they may hold anything but control characters. */
static inline void add_bytes(struct text *t, const char *p, size_t len)
{
    add(t, "%.*s", (int)len, p);
}

static inline const char *framing_text(unsigned framing)
{
    static const char *const names[] = { "none", "length", "chunked", "close",
                                         "tunnel" };

    return framing < 5 ? names[framing] : "?";
}

static inline void add_shared(struct text *t, const struct http1_head *h)
{
    add(t, " 1.%u %s", h->minor, framing_text(h->framing));
    if (h->has_length)
        add(t, " len=%llu", (unsigned long long)h->content_length);
    add(t, "%s%s%s%s%s", h->keep_alive ? " keep" : "",
        h->close_named ? " closing" : "", h->expect_continue ? " expect" : "",
        h->upgrade ? " upgrade" : "", h->has_nominated_hop ? " named" : "");
}

/* "GET origin /a ?b h.example 1.1 none keep" */
static inline void add_request(struct text *t, const struct http1_head *h,
                               const char *buf)
{
    static const char *const forms[] = { "origin", "absolute", "authority",
                                         "asterisk" };

    add_bytes(t, buf + h->method, h->method_len);
    add(t, "%s %s ", h->method_id ? "" : "!", forms[h->form]);
    add_bytes(t, buf + h->path, h->path_len);
    if (h->query_len) {
        add(t, " ");
        add_bytes(t, buf + h->path + h->path_len, h->query_len);
    }
    add(t, " @");
    add_bytes(t, buf + h->host, h->host_len);
    add_shared(t, h);
}

/* "200 OK 1.1 close" */
static inline void add_response(struct text *t, const struct http1_head *h,
                                const char *buf)
{
    add(t, "%u ", h->status);
    add_bytes(t, buf + h->reason, h->reason_len);
    add_shared(t, h);
}

/* " | host=a x-b*=c": known names as the table has them, others as they were
 * sent and in quotes, with an underscore before them if they have one; a star for
 * what is not forwarded. */
static inline void add_fields(struct text *t, const struct http1_head *h,
                              const char *buf)
{
    for (unsigned i = 0; i < h->n_fields; i++) {
        const struct http1_field *f = &h->fields[i];

        add(t, " | %s", http1_name(f->id));
        if (f->id <= HTTP1_ID_X_FORWARDED) {
            add(t, f->id == HTTP1_ID_UNDERSCORE ? "_\"" : "\"");
            add_bytes(t, buf + f->line, f->name_len);
            add(t, "\"");
        }
        add(t, "%s=", f->hop ? "*" : "");
        add_bytes(t, buf + f->value, f->value_len);
        add(t, " (%u+%u)", f->line, f->line_len);
    }
}

static inline void add_error(struct text *t, int rc, size_t at)
{
    add(t, "%s @%zu", http1_error_name(rc), at);
}

/* ===== feeding ===== */

/* Where a message is cut: all at once, in two, or byte by byte. */
enum { FEED_WHOLE = -1, FEED_BYTES = -2 };

static inline size_t next_cut(size_t at, size_t len, long cut)
{
    if (cut == FEED_BYTES)
        return at + 1 < len ? at + 1 : len;
    return cut >= 0 && at < (size_t)cut && (size_t)cut < len ? (size_t)cut
                                                             : len;
}

/* A copy of exactly these bytes, so that a sanitizer sees a read past them; to
 * be freed. */
static inline char *exactly(const char *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);

    if (!copy)
        abort();
    if (len)
        memcpy(copy, bytes, len);
    return copy;
}

/* Parses what is there up to each cut, each time in another block of memory.
 * Returns what the last call of http1_parse said. */
static inline int feed_head(struct http1_head *h, const char *bytes, size_t len,
                            long cut)
{
    size_t at = 0;
    int rc = 0;

    do {
        char *copy;

        at = next_cut(at, len, cut);
        copy = exactly(bytes, at);
        rc = http1_parse(h, copy, at);
        free(copy);
    } while (rc == 0 && at < len);
    return rc;
}

#endif
