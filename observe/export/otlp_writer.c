/* Protobuf's wire format, and JSON, behind one interface. */
#include "observe/export/otlp_writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/utf8.h"

enum wire { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

/* ===== protobuf ===== */

static size_t varint(uint8_t to[10], uint64_t n)
{
    size_t len = 0;
    for (; n >= 0x80; n >>= 7)
        to[len++] = (uint8_t)(n | 0x80);
    to[len++] = (uint8_t)n;
    return len;
}

static void put_varint(struct bide__out *out, uint64_t n)
{
    uint8_t bytes[10];
    if (n < 0x80) { /* nearly always */
        bide__out_char(out, (char)n);
        return;
    }
    bide__out_bytes(out, bytes, varint(bytes, n));
}

static void put_tag(struct bide__out *out, unsigned field, enum wire wire)
{
    put_varint(out, (uint64_t)field << 3 | wire);
}

static void put_fixed64(struct bide__out *out, uint64_t n)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(n >> 8 * i);
    bide__out_bytes(out, bytes, sizeof bytes);
}

static uint64_t bits_of(double x)
{
    uint64_t n;
    memcpy(&n, &x, sizeof n);
    return n;
}

/* Inserts the length of what was written since `at` before it. */
static void close_length(struct bide__out *out, size_t at)
{
    uint8_t bytes[10];
    size_t len = out->len - at, n = varint(bytes, len);

    if (!bide__out_room(out, n))
        return;
    memmove(out->data + at + n, out->data + at, len);
    memcpy(out->data + at, bytes, n);
    out->len += n;
}

static bool is_ascii(const char *text, size_t len)
{
    unsigned char all = 0;
    for (size_t i = 0; i < len; i++)
        all |= (unsigned char)text[i];
    return all < 0x80;
}

/* A protobuf `string` must be UTF-8, or the whole batch is refused. */
static void put_utf8(struct bide__out *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = bide__utf8_next(text + i, len - i, NULL);
        if (n)
            bide__out_bytes(out, text + i, n);
        else
            bide__out_text(out, "\xef\xbf\xbd");
        i += n ? n : 1;
    }
}

/* ===== JSON ===== */

/* Elements of a list have no name. */
static const char *key(const struct bide__otlp *w, const char *name)
{
    return w->depth == 0 || !w->level[w->depth].list ? name : NULL;
}

/* Numbers that JSON cannot represent are strings in proto3's JSON. */
static void json_double(struct bide__otlp *w, const char *name, double x)
{
    if (isfinite(x))
        bide__json_number(&w->j, key(w, name), x);
    else
        bide__json_text(&w->j, key(w, name),
                        isnan(x) ? "NaN"
                        : x > 0  ? "Infinity"
                                 : "-Infinity");
}

static void json_u64(struct bide__otlp *w, const char *name, uint64_t value)
{
    char digits[BIDE__WHOLE], *at = bide__whole(value, digits);

    bide__json_text_n(&w->j, key(w, name), at,
                      (size_t)(digits + BIDE__WHOLE - at));
}

static void json_i64(struct bide__otlp *w, const char *name, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)value);
    bide__json_text(&w->j, key(w, name), text);
}

/* ===== nesting ===== */

static void enter(struct bide__otlp *w, bool list)
{
    assert(w->depth + 1 < BIDE__OTLP_DEPTH);
    w->level[++w->depth] = (struct bide__otlp_level){ w->out->len, list };
}

void bide__otlp_begin(struct bide__otlp *w)
{
    w->depth = 0;
    w->level[0] = (struct bide__otlp_level){ w->out->len, false };
    if (!w->json)
        return;
    bide__json_into(&w->j, w->out);
    bide__json_object(&w->j, NULL);
}

void bide__otlp_element(struct bide__otlp *w, bool first)
{
    bide__json_into(&w->j, w->out);
    w->j.begun = !first;
}

void bide__otlp_finish(struct bide__otlp *w)
{
    assert(w->depth == 0);
    if (w->json)
        bide__json_end(&w->j);
}

void bide__otlp_list(struct bide__otlp *w, const char *name)
{
    if (w->json)
        bide__json_list(&w->j, key(w, name));
    enter(w, true);
}

void bide__otlp_message(struct bide__otlp *w, unsigned field, const char *name)
{
    if (w->json)
        bide__json_object(&w->j, key(w, name));
    else
        put_tag(w->out, field, LENGTH);
    enter(w, false);
}

void bide__otlp_end(struct bide__otlp *w)
{
    struct bide__otlp_level *l = &w->level[w->depth--];
    if (w->json)
        bide__json_end(&w->j);
    else if (!l->list)
        close_length(w->out, l->at);
}

void bide__otlp_lengths(struct bide__otlp *w, unsigned field, size_t len)
{
    put_tag(w->out, field, LENGTH);
    put_varint(w->out, len);
}

size_t bide__otlp_length_len(unsigned field, size_t len)
{
    uint8_t bytes[10];
    return varint(bytes, (uint64_t)field << 3 | LENGTH) + varint(bytes, len);
}

/* ===== values ===== */

void bide__otlp_text(struct bide__otlp *w, unsigned field, const char *name,
                     const char *text)
{
    if (!text)
        return;
    if (w->json) {
        bide__json_text(&w->j, key(w, name), text);
        return;
    }
    size_t len = strlen(text);
    put_tag(w->out, field, LENGTH);
    if (is_ascii(text, len)) {
        put_varint(w->out, len);
        bide__out_bytes(w->out, text, len);
        return;
    }
    size_t at = w->out->len;
    put_utf8(w->out, text, len);
    close_length(w->out, at);
}

void bide__otlp_id(struct bide__otlp *w, unsigned field, const char *name,
                   const uint8_t *bytes, size_t len)
{
    if (w->json) {
        bide__json_hex(&w->j, key(w, name), bytes, len);
        return;
    }
    put_tag(w->out, field, LENGTH);
    put_varint(w->out, len);
    bide__out_bytes(w->out, bytes, len);
}

void bide__otlp_enum(struct bide__otlp *w, unsigned field, const char *name,
                     unsigned value)
{
    if (value == 0)
        return;
    if (w->json) {
        bide__json_count(&w->j, key(w, name), value);
        return;
    }
    put_tag(w->out, field, VARINT);
    put_varint(w->out, value);
}

void bide__otlp_fixed64(struct bide__otlp *w, unsigned field, const char *name,
                        uint64_t value)
{
    if (value == 0)
        return;
    if (w->json) {
        json_u64(w, name, value);
        return;
    }
    put_tag(w->out, field, FIXED64);
    put_fixed64(w->out, value);
}

void bide__otlp_sfixed64(struct bide__otlp *w, unsigned field, const char *name,
                         int64_t value)
{
    if (w->json) {
        json_i64(w, name, value);
        return;
    }
    put_tag(w->out, field, FIXED64);
    put_fixed64(w->out, (uint64_t)value);
}

void bide__otlp_flag(struct bide__otlp *w, unsigned field, const char *name,
                     bool value)
{
    if (w->json) {
        bide__json_flag(&w->j, key(w, name), value);
        return;
    }
    put_tag(w->out, field, VARINT);
    put_varint(w->out, value);
}

void bide__otlp_int64(struct bide__otlp *w, unsigned field, const char *name,
                      int64_t value)
{
    if (w->json) {
        json_i64(w, name, value);
        return;
    }
    put_tag(w->out, field, VARINT);
    put_varint(w->out, (uint64_t)value);
}

void bide__otlp_double(struct bide__otlp *w, unsigned field, const char *name,
                       double value)
{
    if (w->json) {
        json_double(w, name, value);
        return;
    }
    put_tag(w->out, field, FIXED64);
    put_fixed64(w->out, bits_of(value));
}

void bide__otlp_counts(struct bide__otlp *w, unsigned field, const char *name,
                       const uint64_t *values, size_t n)
{
    if (w->json) {
        bide__otlp_list(w, name);
        for (size_t i = 0; i < n; i++)
            json_u64(w, NULL, values[i]);
        bide__otlp_end(w);
        return;
    }
    put_tag(w->out, field, LENGTH);
    put_varint(w->out, 8 * n);
    for (size_t i = 0; i < n; i++)
        put_fixed64(w->out, values[i]);
}

void bide__otlp_doubles(struct bide__otlp *w, unsigned field, const char *name,
                        const double *values, size_t n)
{
    if (w->json) {
        bide__otlp_list(w, name);
        for (size_t i = 0; i < n; i++)
            json_double(w, NULL, values[i]);
        bide__otlp_end(w);
        return;
    }
    put_tag(w->out, field, LENGTH);
    put_varint(w->out, 8 * n);
    for (size_t i = 0; i < n; i++)
        put_fixed64(w->out, bits_of(values[i]));
}
