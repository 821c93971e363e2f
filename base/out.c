/* A buffer that doubles when it is full. */
#include "base/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

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
    char digits[BIDE__WHOLE], *at = bide__whole(n, digits);
    bide__out_bytes(out, at, (size_t)(digits + BIDE__WHOLE - at));
}

void bide__out_i64(struct bide__out *out, int64_t n)
{
    if (n < 0)
        bide__out_char(out, '-');
    bide__out_u64(out, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* The only place that uses stdio: the shortest digits are worth it, and no
 * request waits for them. */
void bide__out_double(struct bide__out *out, double n)
{
    char text[BIDE__NUMBER];

    if (isnan(n))
        bide__out_text(out, "NaN");
    else if (isinf(n))
        bide__out_text(out, n > 0 ? "+Inf" : "-Inf");
    else
        bide__out_text(out, bide__number(n, text));
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
