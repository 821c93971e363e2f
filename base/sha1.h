/* base/sha1.h: SHA-1 (FIPS 180-4), because WebSocket's handshake is made with it. It
 * protects nothing: use sha256.h for what must not be forged.
 *
 *     uint8_t digest[BIDE__SHA1_SIZE];
 *     bide__sha1("abc", 3, digest);
 */
#ifndef BIDE_BASE_SHA1_H
#define BIDE_BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { BIDE__SHA1_SIZE = 20 };

void bide__sha1(const void *data, size_t len, uint8_t digest[BIDE__SHA1_SIZE]);

#endif
