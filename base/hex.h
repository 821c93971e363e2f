/* Reading and writing hexadecimal digits.
 *
 *     char text[32];
 *     bide__hex_write(text, id, 16);            // 4bf92f3577b34da6...
 *     int c = bide__hex_byte("e9");             // 233; -1: no two digits
 *     text[0] = bide__hex_upper[c >> 4];        // 'E'
 *     char name[16];
 *     if (!bide__percent_decode(name, sizeof name, "caf%C3%A9", 9))
 *         return;                               // too long, or %, or %00 */
#ifndef BIDE_BASE_HEX_H
#define BIDE_BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define bide__hex_lower "0123456789abcdef"
#define bide__hex_upper "0123456789ABCDEF"

/* The value of a digit, lower or upper case; -1: not a digit. */
static inline int bide__hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Two digits as a byte, or -1. */
static inline int bide__hex_byte(const char *two)
{
    int high = bide__hex_value(two[0]);
    int low = high < 0 ? -1 : bide__hex_value(two[1]);

    return low < 0 ? -1 : high << 4 | low;
}

/* Copies a part of a URL, decodes %XX, and ends it. False: it does not fit into `room`
 * bytes, has a % without two digits, or a NUL. `to` may be `text`. */
static inline bool bide__percent_decode(char *to, size_t room, const char *text,
                                        size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++, n++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            c = len - i < 3 ? -1 : bide__hex_byte(text + i + 1);
            i += 2;
        }
        if (c <= 0 || n + 1 >= room)
            return false;
        to[n] = (char)c;
    }
    to[n] = '\0';
    return true;
}

/* Writes two digits for each byte, and returns the end of what it wrote. It
 * converts four bytes at a time, with no table and no branch: it spreads each
 * nibble into a byte of its own, and turns those bytes into digits. */
static inline char *bide__hex_write(char *to, const uint8_t *bytes, size_t len)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    size_t i = 0;

    for (; i + 4 <= len; i += 4, to += 8) {
        uint64_t n = bytes[i] | (uint64_t)bytes[i + 1] << 8 |
                     (uint64_t)bytes[i + 2] << 16 |
                     (uint64_t)bytes[i + 3] << 24;
        n = (n | n << 16) & UINT64_C(0x0000ffff0000ffff);
        n = (n | n << 8) & UINT64_C(0x00ff00ff00ff00ff);
        n = (n >> 4 & 15 * (each & UINT64_C(0x00ff00ff00ff00ff))) |
            (n & 15 * (each & UINT64_C(0x00ff00ff00ff00ff))) << 8;
        uint64_t letters = (n + 6 * each) >> 4 & each; /* 10 and more */
        n += '0' * each + letters * ('a' - '0' - 10);
        for (int byte = 0; byte < 8; byte++) /* one store */
            to[byte] = (char)(n >> 8 * byte & 0xff);
    }
    for (; i < len; i++) {
        *to++ = bide__hex_lower[bytes[i] >> 4];
        *to++ = bide__hex_lower[bytes[i] & 15];
    }
    return to;
}

#endif
