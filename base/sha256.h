/* SHA-256 (FIPS 180-4), for fingerprints of requests.
 *
 *     struct bide__sha256 sum;
 *     uint8_t digest[32];
 *     bide__sha256_init(&sum);
 *     bide__sha256_add(&sum, "POST", 4);      // as often as there is more
 *     bide__sha256_end(&sum, digest);
 *
 * Plain C, no tables that depend on the data: the time it takes depends on the
 * length alone. */
#ifndef BIDE_BASE_SHA256_H
#define BIDE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { BIDE__SHA256_BLOCK = 64, BIDE__SHA256_SIZE = 32 };

/* Threads: owned. */
struct bide__sha256 {
    uint32_t state[8];
    uint64_t len; /* in bytes, so far */
    uint8_t block[BIDE__SHA256_BLOCK];
};

void bide__sha256_init(struct bide__sha256 *sum);
void bide__sha256_add(struct bide__sha256 *sum, const void *data, size_t len);

/* The sum must be initialized again before it is used again. */
void bide__sha256_end(struct bide__sha256 *sum,
                      uint8_t digest[BIDE__SHA256_SIZE]);

#endif
