/* Three bytes in four letters. */
#include "queue/sqs/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void sq_base64_write(struct bide__out *out, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t v = (uint32_t)p[i] << 16 |
                     (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                     (n > 2 ? p[i + 2] : 0);
        char four[4] = { letters[v >> 18], letters[v >> 12 & 63],
                         n > 1 ? letters[v >> 6 & 63] : '=',
                         n > 2 ? letters[v & 63] : '=' };
        bide__out_bytes(out, four, 4);
    }
}

unsigned char *sq_base64_read(const char *text, size_t len, size_t *ret_len)
{
    unsigned char *to = malloc(len / 4 * 3 + 1);
    size_t n = 0;

    while (len > 0 && text[len - 1] == '=')
        len--;
    for (size_t i = 0, bits = 0, v = 0; i < len && to; i++) {
        const char *at = text[i] ? strchr(letters, text[i]) : NULL;
        if (!at) {
            free(to);
            return NULL;
        }
        v = (v << 6 | (size_t)(at - letters)) & 0xffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            to[n++] = (unsigned char)(v >> bits);
        }
    }
    if (to)
        to[n] = '\0';
    *ret_len = n;
    return to;
}
