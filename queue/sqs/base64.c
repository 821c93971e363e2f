/* Bytes of any length, to and from text. */
#include "queue/sqs/base64.h"

#include <stdlib.h>

#include "base/base64.h"

void sq_base64_write(struct bide__out *out, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i += 3) {
        char four[BIDE__BASE64_SIZE(3)];
        size_t n = len - i < 3 ? len - i : 3;
        bide__out_bytes(out, four, bide__base64(four, p + i, n));
    }
}

unsigned char *sq_base64_read(const char *text, size_t len, size_t *ret_len)
{
    unsigned char *to = malloc(len / 4 * 3 + 1);
    size_t n = 0;

    while (len > 0 && text[len - 1] == '=')
        len--;
    for (size_t i = 0, bits = 0, v = 0; i < len && to; i++) {
        int value = bide__base64_value(text[i]);
        if (value < 0) {
            free(to);
            return NULL;
        }
        v = (v << 6 | (size_t)value) & 0xffff;
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
