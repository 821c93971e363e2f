/* Attributes: KeyValue { key = 1, value = 2 }, and the AnyValue in it.
 *
 * Most of what is sent is these, so in protobuf they are assembled by hand: all
 * lengths are computed first, and nothing is moved. */
#include <string.h>

#include "base/utf8.h"
#include "observe/export/otlp_writer.h"

enum { ANY_STRING = 1, ANY_BOOL = 2, ANY_INT = 3, ANY_DOUBLE = 4 };
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

/* ===== protobuf ===== */

static size_t varint_len(uint64_t n)
{
    size_t len = 1;
    for (; n >= 0x80; n >>= 7)
        len++;
    return len;
}

static char *put_varint(char *to, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        *to++ = (char)(n | 0x80);
    *to++ = (char)n;
    return to;
}

static char *put_text(char *to, const char *text, size_t len)
{
    to = put_varint(to, len);
    memcpy(to, text, len);
    return to + len;
}

/* Writes everything up to the value itself, which is `len` bytes long including
 * its tag; returns where that goes, or NULL. */
static char *open_binary(struct bide__otlp *w, unsigned field, const char *key,
                         size_t key_len, size_t len)
{
    size_t all = 1 + varint_len(key_len) + key_len + 1 + varint_len(len) + len;
    char *to = bide__out_room(w->out, varint_len((uint64_t)field << 3) +
                                          varint_len(all) + all);
    if (!to)
        return NULL;
    to = put_varint(to, (uint64_t)field << 3 | LENGTH);
    to = put_varint(to, all);
    *to++ = 1 << 3 | LENGTH;
    to = put_text(to, key, key_len);
    *to++ = 2 << 3 | LENGTH;
    return put_varint(to, len);
}

static void close_binary(struct bide__otlp *w, const char *end)
{
    w->out->len = (size_t)(end - w->out->data);
}

/* A protobuf `string` must be UTF-8, or the whole batch is refused. */
static bool is_utf8(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = (unsigned char)text[i] < 0x80
                       ? 1
                       : bide__utf8_next(text + i, len - i, NULL);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

static void binary_text(struct bide__otlp *w, unsigned field, const char *key,
                        size_t key_len, const char *text, size_t len)
{
    char *to = open_binary(w, field, key, key_len, 1 + varint_len(len) + len);
    if (!to)
        return;
    *to++ = ANY_STRING << 3 | LENGTH;
    close_binary(w, put_text(to, text, len));
}

static void binary_varint(struct bide__otlp *w, unsigned field, const char *key,
                          size_t key_len, unsigned kind, uint64_t value)
{
    char *to = open_binary(w, field, key, key_len, 1 + varint_len(value));
    if (!to)
        return;
    *to++ = (char)(kind << 3 | VARINT);
    close_binary(w, put_varint(to, value));
}

static void binary_double(struct bide__otlp *w, unsigned field, const char *key,
                          size_t key_len, double value)
{
    uint64_t bits;
    char *to = open_binary(w, field, key, key_len, 9);
    if (!to)
        return;
    memcpy(&bits, &value, sizeof bits);
    *to++ = ANY_DOUBLE << 3 | FIXED64;
    for (int i = 0; i < 8; i++)
        *to++ = (char)(bits >> 8 * i);
    close_binary(w, to);
}

/* ===== both ===== */

static void open_slowly(struct bide__otlp *w, unsigned field, const char *key)
{
    bide__otlp_message(w, field, NULL);
    bide__otlp_text(w, 1, "key", key);
    bide__otlp_message(w, 2, "value");
}

static void close_slowly(struct bide__otlp *w)
{
    bide__otlp_end(w);
    bide__otlp_end(w);
}

void bide__otlp_attribute(struct bide__otlp *w, unsigned field, const char *key,
                          size_t key_len, const char *text)
{
    size_t len = strlen(text);
    if (!w->json && is_utf8(text, len)) {
        binary_text(w, field, key, key_len, text, len);
        return;
    }
    open_slowly(w, field, key);
    bide__otlp_text(w, ANY_STRING, "stringValue", text);
    close_slowly(w);
}

void bide__otlp_attribute_int(struct bide__otlp *w, unsigned field,
                              const char *key, size_t key_len, int64_t value)
{
    if (!w->json) {
        binary_varint(w, field, key, key_len, ANY_INT, (uint64_t)value);
        return;
    }
    open_slowly(w, field, key);
    bide__otlp_int64(w, ANY_INT, "intValue", value);
    close_slowly(w);
}

void bide__otlp_attribute_flag(struct bide__otlp *w, unsigned field,
                               const char *key, size_t key_len, bool value)
{
    if (!w->json) {
        binary_varint(w, field, key, key_len, ANY_BOOL, value);
        return;
    }
    open_slowly(w, field, key);
    bide__otlp_flag(w, ANY_BOOL, "boolValue", value);
    close_slowly(w);
}

void bide__otlp_attribute_double(struct bide__otlp *w, unsigned field,
                                 const char *key, size_t key_len, double value)
{
    if (!w->json) {
        binary_double(w, field, key, key_len, value);
        return;
    }
    open_slowly(w, field, key);
    bide__otlp_double(w, ANY_DOUBLE, "doubleValue", value);
    close_slowly(w);
}
