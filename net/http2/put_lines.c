/* net/http2/put_lines.c: fields from lines of HTTP/1.1. */
#include <string.h>

#include "net/http1/scan.h"
#include "net/http2/put.h"
#include "net/http2/put_known.h"

/* Whether a field belongs to HTTP/1.1's connections (RFC 9113, 8.2.2), or is a
 * pseudo-header here. */
static bool stays_behind(unsigned id, const char *value, size_t len)
{
    switch (id) {
    case HTTP1_ID_HOST:
    case HTTP1_ID_CONNECTION:
    case HTTP1_ID_KEEP_ALIVE:
    case HTTP1_ID_PROXY_CONNECTION:
    case HTTP1_ID_TRANSFER_ENCODING:
    case HTTP1_ID_UPGRADE:
    case HTTP1_ID_HTTP2_SETTINGS:
        return true;
    case HTTP1_ID_TE:
        return !HTTP1_IS_WORD(value, len, "trailers");
    default:
        return false;
    }
}

static void put(struct http2_stream *s, unsigned id, const char *name,
                size_t name_len, const char *value, size_t value_len)
{
    if (!stays_behind(id, value, value_len))
        http2__put_known(s, id, name, name_len, value, value_len);
}

void http2_put_field(struct http2_stream *s, const struct http1_field *f,
                     const char *text)
{
    put(s, f->id, text + f->line, f->name_len, text + f->value, f->value_len);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void put_line(struct http2_stream *s, const char *line, const char *end)
{
    const char *colon = memchr(line, ':', (size_t)(end - line)), *value;
    size_t name_len;

    if (!colon || colon == line)
        return;
    name_len = (size_t)(colon - line);
    value = colon + 1;
    while (value < end && is_blank(*value))
        value++;
    while (end > value && (is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    put(s, http1_name_id(line, name_len), line, name_len, value,
        (size_t)(end - value));
}

void http2_put_lines(struct http2_stream *s, const char *text, size_t len)
{
    const char *end = text + len;

    while (text < end) {
        const char *lf = memchr(text, '\n', (size_t)(end - text));

        if (!lf)
            lf = end;
        put_line(s, text, lf);
        text = lf + 1;
    }
}
