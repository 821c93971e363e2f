/* net/http2/hpack.h: HPACK's encodings (RFC 7541) that need no dynamic table.
 *
 * A field is an index into the static table, or a literal, its name an index
 * where there is one. Nothing is Huffman-coded: that saves a quarter of the
 * bytes and costs both sides more time than the copy. Fields that carry
 * secrets are marked as never to be indexed. */
#ifndef BIDE_NET_HTTP2_HPACK_H
#define BIDE_NET_HTTP2_HPACK_H

#include <stddef.h>
#include <stdint.h>

#include "net/http1/names.h"

enum {
    HPACK__AUTHORITY = 1,
    HPACK__METHOD_GET = 2,
    HPACK__METHOD_POST = 3,
    HPACK__PATH = 4, /* "/" */
    HPACK__HTTP = 6,
    HPACK__HTTPS = 7,
    HPACK__STATUS_200 = 8,
    HPACK__NEVER = 0x10,  /* a literal's first byte: never indexed */
    HPACK__OVERHEAD = 18, /* bytes of a literal besides name and value */
};

/* Where a name is in the static table; with 0x80 its values are never to be
 * indexed. 0: not there. */
extern const uint8_t hpack__names[HTTP1_IDS];

/* A whole field of the static table. */
static inline char *hpack__indexed(char *p, unsigned index)
{
    *p++ = (char)(0x80 | index);
    return p;
}

/* An integer after a prefix of `bits` bits, which begins with `first`. */
static inline char *hpack__int(char *p, unsigned first, unsigned bits, size_t x)
{
    unsigned most = (1u << bits) - 1;

    if (x < most) {
        *p++ = (char)(first | x);
        return p;
    }
    *p++ = (char)(first | most);
    for (x -= most; x >= 0x80; x >>= 7)
        *p++ = (char)(0x80 | (x & 0x7f));
    *p++ = (char)x;
    return p;
}

#endif
