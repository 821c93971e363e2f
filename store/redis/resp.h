/* store/redis/resp.h: the protocol of Redis, RESP2 and RESP3, without I/O.
 *
 *     struct redis_scan scan = REDIS_SCAN_INIT;
 *     if (redis_scan(&scan, data, len) > 0) {            // a whole reply
 *         struct redis_reply reply;
 *         if (redis_read_reply(data, scan.at, arena, &reply) == 0)
 *             use(&reply);
 *     }
 *
 * Reading takes two steps. redis_scan() finds the end of a reply: it goes on
 * where it stopped, so a large reply that arrives in a thousand pieces is
 * scanned once. Then redis_read_reply() builds the reply from whole bytes. It
 * copies no text: the reply points into the buffer.
 *
 * Whatever a server sends, both stay inside the buffer, and memory is bounded
 * by its length. */
#ifndef BIDE_STORE_REDIS_RESP_H
#define BIDE_STORE_REDIS_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/out.h"

/* ===== commands ===== */

/* A command is an array of `n` bulk strings: begin, then n arguments. */
void redis_put_command(struct bide__out *out, unsigned n);
void redis_put_bytes(struct bide__out *out, const void *bytes, size_t len);
void redis_put_text(struct bide__out *out, const char *text);
void redis_put_int(struct bide__out *out, int64_t n);

/* ===== replies ===== */

enum redis_type {
    REDIS_NIL,     /* also a missing bulk string or array of RESP2 */
    REDIS_STATUS,  /* +OK */
    REDIS_ERROR,   /* -ERR ..., and !: the text says what */
    REDIS_INTEGER, /* also a boolean */
    REDIS_STRING,  /* bulk and verbatim strings; doubles and large numbers as
                      they are written */
    REDIS_ARRAY    /* also a set and a push; a map is keys and values in turn */
};

/* Threads: immutable. */
struct redis_reply {
    enum redis_type type;
    int64_t integer;
    const char *text; /* status, error, string; not NUL-terminated */
    size_t len;
    const struct redis_reply *items; /* array */
    size_t n;
};

enum {
    REDIS_MAX_REPLY = 64 << 20, /* bytes of a reply */
    REDIS_MAX_LINE = 64 << 10,  /* of a line, which each piece is added to */
    REDIS_MAX_DEPTH = 8         /* arrays inside of arrays */
};

/* How far a reply has been scanned. Threads: owned. */
struct redis_scan {
    size_t at;     /* where the next element begins */
    size_t wanted; /* elements that are still to come */
};
#define REDIS_SCAN_INIT { 0, 1 }

/* 1: the reply ends at scan->at. 0: more bytes are needed. -1: not RESP, or
 * larger than REDIS_MAX_REPLY. */
int redis_scan(struct redis_scan *scan, const char *data, size_t len);

/* Reads a reply that is whole. -1: too deep, or no memory. */
int redis_read_reply(const char *data, size_t len, struct bide__arena *arena,
                     struct redis_reply *ret);

/* Whether a reply is a status, a string or an error that begins with this. */
bool redis_reply_begins(const struct redis_reply *reply, const char *text);

/* A reply as an integer: of REDIS_INTEGER, or of digits in a string. False:
 * neither, and *ret is unchanged. */
bool redis_reply_int(const struct redis_reply *reply, int64_t *ret);

#endif
