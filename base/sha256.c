/* SHA-256, as FIPS 180-4 writes it: names and letters are those of section 6.2. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t word(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           p[3];
}

static void expand(uint32_t W[64], const uint8_t block[64])
{
    for (int t = 0; t < 16; t++)
        W[t] = word(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        uint32_t a = W[t - 15], b = W[t - 2];
        W[t] = (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10) + W[t - 7] +
               (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + W[t - 16];
    }
}

static void compress(uint32_t H[8], const uint8_t block[64])
{
    uint32_t W[64];
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5],
             g = H[6], h = H[7];
    expand(W, block);
    for (int t = 0; t < 64; t++) {
        uint32_t T1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                      ((e & f) ^ (~e & g)) + K[t] + W[t];
        uint32_t T2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                      ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + T1;
        d = c;
        c = b;
        b = a;
        a = T1 + T2;
    }
    H[0] += a;
    H[1] += b;
    H[2] += c;
    H[3] += d;
    H[4] += e;
    H[5] += f;
    H[6] += g;
    H[7] += h;
}

void bide__sha256_init(struct bide__sha256 *sum)
{
    *sum = (struct bide__sha256){
        .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
    };
}

void bide__sha256_add(struct bide__sha256 *sum, const void *data, size_t len)
{
    const uint8_t *p = data;
    size_t at = sum->len % BIDE__SHA256_BLOCK;
    sum->len += len;
    while (len > 0) {
        if (at == 0 && len >= BIDE__SHA256_BLOCK) {
            compress(sum->state, p);
            p += BIDE__SHA256_BLOCK;
            len -= BIDE__SHA256_BLOCK;
            continue;
        }
        size_t n = BIDE__SHA256_BLOCK - at < len ? BIDE__SHA256_BLOCK - at : len;
        memcpy(sum->block + at, p, n);
        p += n;
        len -= n;
        at = (at + n) % BIDE__SHA256_BLOCK;
        if (at == 0)
            compress(sum->state, sum->block);
    }
}

void bide__sha256_end(struct bide__sha256 *sum,
                      uint8_t digest[BIDE__SHA256_SIZE])
{
    static const uint8_t pad[BIDE__SHA256_BLOCK] = { 0x80 };
    uint64_t bits = sum->len * 8;
    uint8_t tail[8];
    size_t at = sum->len % BIDE__SHA256_BLOCK;
    for (int i = 0; i < 8; i++)
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    bide__sha256_add(sum, pad, at < 56 ? 56 - at : 120 - at);
    bide__sha256_add(sum, tail, sizeof tail);
    for (int i = 0; i < 8; i++)
        for (int b = 0; b < 4; b++)
            digest[4 * i + b] = (uint8_t)(sum->state[i] >> (24 - 8 * b));
}
