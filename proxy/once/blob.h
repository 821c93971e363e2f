/* proxy/once/blob.h: an answer as a store keeps it.
 *
 *     struct once_answer kept;
 *     if (once_blob_read(op->data, op->len, &kept))
 *         reply(kept.status, kept.lines, kept.body);
 *
 * The bytes, numbers with their most significant byte first:
 *
 *   version   1 byte, ONCE_BLOB
 *   status    2
 *   reason    2, its length
 *   lines     4, their length
 *   reason, then lines ("Name: value" and CRLF, each), then the body to the end
 *
 * A store is not trusted to return what it was given: whoever can write to it
 * could otherwise write into the answers of all clients. So every line is
 * checked as if a stranger had sent it, and a blob that is not exactly so is
 * none. Threads: immutable. */
#ifndef BIDE_PROXY_ONCE_BLOB_H
#define BIDE_PROXY_ONCE_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ONCE_BLOB = 1, ONCE_BLOB_HEAD = 9 };

struct once_answer {
    int status;
    const char *reason; /* none of them ends in NUL */
    size_t reason_len;
    const char *lines;
    size_t lines_len;
    const char *body;
    size_t body_len;
};

/* Writes what comes before the reason into `to`. */
void once_blob_head(uint8_t to[ONCE_BLOB_HEAD], int status, size_t reason_len,
                    size_t lines_len);

/* Reads one; the pointers are into it. False: it is none. */
bool once_blob_read(const void *data, size_t len, struct once_answer *ret);

/* Whether a field of an answer is kept: end-to-end, and nobody's session. `id`
 * is its enum http1_id. */
bool once_keeps_field(const char *name, size_t len, unsigned id);

#endif
