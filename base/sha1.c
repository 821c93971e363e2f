/* SHA-1, of what is there as a whole. */
#include "base/sha1.h"

#include <string.h>

enum { BLOCK = 64, LENGTH = 8 };

static uint32_t rotated(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static uint32_t mix(unsigned round, const uint32_t s[5])
{
    switch (round / 20) {
    case 0:
        return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5a827999;
    case 1:
        return (s[1] ^ s[2] ^ s[3]) + 0x6ed9eba1;
    case 2:
        return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8f1bbcdc;
    default:
        return (s[1] ^ s[2] ^ s[3]) + 0xca62c1d6;
    }
}

static void add_block(uint32_t state[5], const uint8_t *block)
{
    uint32_t w[80], s[5];

    for (unsigned i = 0; i < 16; i++)
        w[i] = get32(block + 4 * i);
    for (unsigned i = 16; i < 80; i++)
        w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < 80; i++) {
        uint32_t x = rotated(s[0], 5) + mix(i, s) + s[4] + w[i];

        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotated(s[1], 30);
        s[1] = s[0];
        s[0] = x;
    }
    for (unsigned i = 0; i < 5; i++)
        state[i] += s[i];
}

void bide__sha1(const void *data, size_t len, uint8_t digest[BIDE__SHA1_SIZE])
{
    uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                          0xc3d2e1f0 };
    uint8_t last[2 * BLOCK] = { 0 };
    const uint8_t *p = data;
    size_t rest = len % BLOCK;
    size_t padded = rest + 1 + LENGTH > BLOCK ? 2 * BLOCK : BLOCK;

    for (size_t i = 0; i + BLOCK <= len; i += BLOCK)
        add_block(state, p + i);
    if (rest > 0)
        memcpy(last, p + len - rest, rest);
    last[rest] = 0x80;
    for (unsigned i = 0; i < LENGTH; i++)
        last[padded - 1 - i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(state, last + i);
    for (unsigned i = 0; i < BIDE__SHA1_SIZE; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
