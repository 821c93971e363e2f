/* A buffer that doubles when it is full. */
#include "base/out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 1024 };

bool bide__out_grow(struct bide__out *out, size_t len)
{
    size_t size = out->size ? out->size : FIRST_SIZE;
    while (size - out->len < len && size <= SIZE_MAX / 2)
        size *= 2;
    char *data = size - out->len < len ? NULL : realloc(out->data, size);
    if (!data) {
        out->failed = true;
        return false;
    }
    out->data = data;
    out->size = size;
    return true;
}

void bide__out_text(struct bide__out *out, const char *text)
{
    bide__out_bytes(out, text, strlen(text));
}

void bide__out_u64(struct bide__out *out, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) != 0);
    bide__out_bytes(out, digits + at, sizeof digits - at);
}

void bide__out_i64(struct bide__out *out, int64_t n)
{
    if (n < 0)
        bide__out_char(out, '-');
    bide__out_u64(out, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* The one place that goes through stdio: shortest digits are worth it, and no
 * request waits for them. */
static void put_fraction(struct bide__out *out, double n)
{
    char text[32];
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, n);
        if (strtod(text, NULL) == n)
            break;
    }
    for (char *c = text; *c; c++)
        if (!strchr("0123456789+-e", *c))
            *c = '.'; /* a decimal comma */
    bide__out_text(out, text);
}

void bide__out_double(struct bide__out *out, double n)
{
    if (isnan(n))
        bide__out_text(out, "NaN");
    else if (isinf(n))
        bide__out_text(out, n > 0 ? "+Inf" : "-Inf");
    else if (n == floor(n) && fabs(n) < 9007199254740992.0)
        bide__out_i64(out, (int64_t)n);
    else
        put_fraction(out, n);
}

void bide__out_seconds(struct bide__out *out, uint64_t ns)
{
    char digits[10] = ".";
    size_t len = sizeof digits;
    uint64_t rest = ns % 1000000000;

    for (size_t i = len; i-- > 1; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    while (len > 1 && digits[len - 1] == '0')
        len--;
    bide__out_u64(out, ns / 1000000000);
    if (len > 1)
        bide__out_bytes(out, digits, len);
}

void bide__out_hex(struct bide__out *out, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        bide__out_char(out, digits[bytes[i] >> 4]);
        bide__out_char(out, digits[bytes[i] & 15]);
    }
}

void bide__out_clear(struct bide__out *out)
{
    out->len = 0;
    out->failed = false;
}

void bide__out_done(struct bide__out *out)
{
    free(out->data);
    *out = (struct bide__out){ 0 };
}
