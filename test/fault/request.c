/* Reading requests: as much HTTP/1.1 as clients in tests speak. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fault.h"

enum { HEAD_MAX = 64 * 1024 };

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void url_decode(const char *from, size_t len, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < size; i++) {
        if (from[i] == '%' && i + 2 < len && hex(from[i + 1]) >= 0 &&
            hex(from[i + 2]) >= 0) {
            out[n++] = (char)(hex(from[i + 1]) * 16 + hex(from[i + 2]));
            i += 2;
        } else {
            out[n++] = from[i] == '+' ? ' ' : from[i];
        }
    }
    out[n] = '\0';
}

bool query_value(const char *query, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    while (*query) {
        size_t len = strcspn(query, "&");
        if (len > n && strncmp(query, name, n) == 0 && query[n] == '=') {
            url_decode(query + n + 1, len - n - 1, out, size);
            return true;
        }
        query += len + (query[len] == '&');
    }
    return false;
}

/* ===== the head ===== */

static void copy(char *out, size_t size, const char *from)
{
    snprintf(out, size, "%.*s", (int)size - 1, from);
}

static void take_field(struct request *r, const char *name, const char *value)
{
    const struct {
        const char *name;
        char *out;
    } kept[] = {
        { "x-test-id", r->id },           { "idempotency-key", r->key },
        { "x-bide-attempt", r->attempt }, { "x-bide-timeout-ms", r->timeout },
        { "traceparent", r->traceparent }, { "range", r->range },
        { "if-range", r->if_range },      { "baggage", r->baggage },
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (strcasecmp(name, kept[i].name) == 0)
            copy(kept[i].out, TEXT_MAX, value);
    if (strcasecmp(name, "content-length") == 0) {
        r->has_length = true;
        r->length = (size_t)strtoull(value, NULL, 10);
    }
    if (strcasecmp(name, "transfer-encoding") == 0)
        r->chunked = strcasecmp(value, "chunked") == 0;
    if (strcasecmp(name, "expect") == 0)
        r->expects = strcasecmp(value, "100-continue") == 0;
    if (strcasecmp(name, "connection") == 0)
        r->closes = strcasecmp(value, "close") == 0;
}

static bool take_line(struct request *r, char *line)
{
    char *target = strchr(line, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version || strncmp(version + 1, "HTTP/1.", 7) != 0)
        return false;
    *target++ = *version = '\0';
    char *query = strchr(target, '?');
    if (query)
        *query++ = '\0';
    copy(r->method, sizeof r->method, line);
    copy(r->path, sizeof r->path, target);
    copy(r->query, sizeof r->query, query ? query : "");
    return true;
}

static void take_id(struct request *r)
{
    if (!query_value(r->query, "id", r->id, sizeof r->id) && !r->id[0])
        copy(r->id, sizeof r->id, r->path);
}

int request_head(struct request *r, struct bytes *in)
{
    char *end = in->at ? memmem(in->at, in->len, "\r\n\r\n", 4) : NULL;
    if (!end)
        return in->len > HEAD_MAX ? -1 : 0;
    *r = (struct request){ .length = 0 };
    char *line = in->at, *next;
    for (bool first = true; line < end + 2; line = next + 2, first = false) {
        next = memmem(line, (size_t)(end + 2 - line), "\r\n", 2);
        *next = '\0';
        char *colon = strchr(line, ':');
        if (first && !take_line(r, line))
            return -1;
        if (first || !colon)
            continue;
        *colon++ = '\0';
        take_field(r, line, colon + strspn(colon, " \t"));
    }
    take_id(r);
    bytes_skip(in, (size_t)(end + 4 - in->at));
    return 1;
}

/* ===== the body ===== */

/* Takes one chunk; false: not all of it is there. */
static bool take_chunk(struct request *r, struct bytes *in, bool *last)
{
    char *line = in->at ? memmem(in->at, in->len, "\r\n", 2) : NULL;
    if (!line)
        return false;
    size_t size = (size_t)strtoull(in->at, NULL, 16);
    size_t all = (size_t)(line - in->at) + 2 + size + 2;
    if (in->len < all)
        return false;
    *last = size == 0;
    r->got += size;
    bytes_skip(in, all);
    return true;
}

bool request_body(struct request *r, struct bytes *in)
{
    bool last = false;
    if (r->chunked) {
        while (!last && take_chunk(r, in, &last))
            ;
        return last;
    }
    size_t left = r->length - r->got, n = in->len < left ? in->len : left;
    bytes_skip(in, n);
    r->got += n;
    return r->got == r->length;
}
