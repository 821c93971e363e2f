/* Three bytes in four letters. */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t bide__base64(char *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t v = (uint32_t)p[i] << 16 |
                     (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                     (left > 2 ? p[i + 2] : 0);

        *out++ = letters[v >> 18];
        *out++ = letters[v >> 12 & 63];
        *out++ = left > 1 ? letters[v >> 6 & 63] : '=';
        *out++ = left > 2 ? letters[v & 63] : '=';
    }
    return BIDE__BASE64_SIZE(n);
}

int bide__base64_value(char letter)
{
    const char *at = letter ? strchr(letters, letter) : NULL;

    return at ? (int)(at - letters) : -1;
}
