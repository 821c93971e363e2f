/* One protobuf span, in one pass. The bytes before each value are its tag and
 * length; the numbers are the fields of opentelemetry/proto/trace/v1. */
#include "observe/export/otlp_plain.h"

#include <endian.h>
#include <string.h>

static const uint8_t none[8];
static const char delay_key[] = "\x4a\x1b\x0a\x0eretry.delay_ms\x12\x09\x21";

enum {
    PATH_MOST = 96, /* so that each length is one byte */
    PATH_HEAD = 15, /* of the attribute, before the path itself */
    DELAY = sizeof delay_key - 1 + 8,
    IDS_AND_TIMES = 18 + 10 + 9 + 9,
    PARENT = 10
};

static bool is_ascii(const char *text, size_t len)
{
    unsigned char any = 0;
    for (size_t i = 0; i < len; i++)
        any |= (unsigned char)text[i];
    return any < 0x80;
}

static bool is_plain(const struct bide__event *e, const char *path, size_t len)
{
    bool call = e->kind == BIDE__EVENT_CALL;

    return !e->http2 && !e->rpc &&
           (call ? e->reason == BIDE_BECAUSE_SUCCESS && !e->slept_ns &&
                       !e->len[BIDE__REQUEST_ID]
                 : e->cls == BIDE_SUCCESS) &&
           len > 0 && len < PATH_MOST && is_ascii(path, len);
}

static char *put(char *to, const void *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

static char *put_length(char *to, size_t n)
{
    for (; n >= 0x80; n >>= 7)
        *to++ = (char)(n | 0x80);
    *to++ = (char)n;
    return to;
}

static char *put_id(char *to, char tag, const uint8_t *id, size_t len)
{
    *to++ = tag;
    *to++ = (char)len;
    return put(to, id, len);
}

static char *put_fixed64(char *to, uint64_t n)
{
    n = htole64(n);
    return put(to, &n, sizeof n);
}

static char *put_time(char *to, char tag, int64_t ns)
{
    *to++ = tag;
    return put_fixed64(to, (uint64_t)ns);
}

static char *put_path(char *to, const char *path, size_t len)
{
    *to++ = 0x4a;
    *to++ = (char)(PATH_HEAD - 2 + len);
    to = put(to, "\x0a\x08url.path\x12", 11);
    *to++ = (char)(2 + len);
    return put_id(to, 0x0a, (const uint8_t *)path, len);
}

static char *put_delay(char *to, int64_t slept_ns)
{
    double ms = (double)slept_ns / 1e6;
    uint64_t bits;

    memcpy(&bits, &ms, sizeof bits);
    return put_fixed64(put(to, delay_key, sizeof delay_key - 1), bits);
}

bool bide__otlp_plain(struct bide__out *out, int64_t wall_offset_ns,
                      const struct bide__event *e,
                      const struct bide__known_part *part, const char *path,
                      size_t path_len)
{
    enum { HEAD = 1 + 3 }; /* tag and length of it all */
    bool child = memcmp(e->trace.parent_id, none, sizeof none) != 0;
    bool attempt = e->kind == BIDE__EVENT_ATTEMPT;

    if (!is_plain(e, path, path_len))
        return false;
    size_t len = path_len + PATH_HEAD + IDS_AND_TIMES;
    len += part->len;
    len += child ? PARENT : 0;
    len += attempt ? DELAY : 0;
    char *to = bide__out_room(out, HEAD + len);
    if (!to)
        return false;
    *to++ = 0x12;
    to = put_length(to, len);
    to = put_id(to, 0x0a, e->trace.trace_id, 16);
    to = put_id(to, 0x12, e->trace.span_id, 8);
    if (child)
        to = put_id(to, 0x22, e->trace.parent_id, 8);
    to = put_time(to, 0x39, e->begin_ns + wall_offset_ns);
    to = put_time(to, 0x41, e->end_ns + wall_offset_ns);
    to = put(to, part->data, part->len);
    to = put_path(to, path, path_len);
    if (attempt)
        to = put_delay(to, e->slept_ns);
    out->len = (size_t)(to - out->data);
    return true;
}
