/* Reads and writes traceparent fields, and makes ids.
 *
 *   version "-" trace-id "-" parent-id "-" flags, all lower-case hexadecimal */
#include "observe/event/traceparent.h"

#include <string.h>
#include <sys/random.h>

#include "base/hex.h"

enum { TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, SAMPLED = 1 };

bool bide__ids_init(struct bide__ids *ids)
{
    if (getrandom(ids->state, sizeof ids->state, 0) !=
        (ssize_t)sizeof ids->state)
        return false;
    ids->state[0] |= 1; /* all zero would stay zero */
    return true;
}

/* xorshift128+ (Vigna 2014). */
static uint64_t draw(struct bide__ids *ids)
{
    uint64_t a = ids->state[0], b = ids->state[1];
    ids->state[0] = b;
    a ^= a << 23;
    ids->state[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
    return ids->state[1] + b;
}

/* An id of all zeros is invalid, so a bit is always set. */
static void new_id(struct bide__ids *ids, uint8_t *to, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        uint64_t n = draw(ids);
        memcpy(to + i, &n, 8);
    }
    to[0] |= 1;
}

/* False if it is not lower-case hexadecimal. */
static bool read_hex(uint8_t *to, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const char *two = text + 2 * i;
        int byte = bide__hex_byte(two);
        if (byte < 0 || !(two[0] & two[1] & 0x20)) /* upper case lacks it */
            return false;
        to[i] = (uint8_t)byte;
    }
    return true;
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

/* A later version may be longer, after another dash; 00 may not, and ff is
 * invalid. */
static bool right_length(uint8_t version, const char *text, size_t len)
{
    if (version == 0xff || len < BIDE__TRACEPARENT)
        return false;
    return len == BIDE__TRACEPARENT ||
           (version != 0 && text[BIDE__TRACEPARENT] == '-');
}

bool bide__traceparent_read(struct bide__trace *trace, const char *text,
                            size_t len)
{
    struct bide__trace t = { .sampled = false };
    uint8_t version, flags;

    if (len < BIDE__TRACEPARENT || !read_hex(&version, text, 1) ||
        !right_length(version, text, len) || text[TRACE_AT - 1] != '-' ||
        text[PARENT_AT - 1] != '-' || text[FLAGS_AT - 1] != '-' ||
        !read_hex(t.trace_id, text + TRACE_AT, 16) ||
        !read_hex(t.parent_id, text + PARENT_AT, 8) ||
        !read_hex(&flags, text + FLAGS_AT, 1) || is_zero(t.trace_id, 16) ||
        is_zero(t.parent_id, 8))
        return false;
    t.sampled = flags & SAMPLED;
    *trace = t;
    return true;
}

void bide__trace_start(struct bide__trace *trace, struct bide__ids *ids,
                       bool sampled)
{
    *trace = (struct bide__trace){ .sampled = sampled };
    new_id(ids, trace->trace_id, 16);
    new_id(ids, trace->span_id, 8);
}

void bide__trace_enter(struct bide__trace *trace, struct bide__ids *ids)
{
    new_id(ids, trace->span_id, 8);
}

struct bide__trace bide__trace_child(const struct bide__trace *trace,
                                     struct bide__ids *ids)
{
    struct bide__trace child = *trace;
    memcpy(child.parent_id, trace->span_id, 8);
    new_id(ids, child.span_id, 8);
    return child;
}

void bide__traceparent_write(const struct bide__trace *trace,
                             char to[BIDE__TRACEPARENT + 1])
{
    memcpy(to, "00-", 3);
    to = bide__hex_write(to + 3, trace->trace_id, 16);
    *to++ = '-';
    to = bide__hex_write(to, trace->span_id, 8);
    memcpy(to, trace->sampled ? "-01" : "-00", 4);
}
