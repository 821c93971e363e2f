/* proxy/exchange/stale.h: copies of responses, for when there are no fresh
 * ones.
 *
 *     struct stale *s = stale_new();
 *     stale_resize(s, 16 << 20);            // at the start, and at a reload
 *     struct stale_copy *c = stale_copy_new(s, &shape, body_room);
 *     if (c) {                              // NULL: no room
 *         ...                               // fills in c->bytes
 *         stale_put(c);
 *     }
 *     c = stale_get(s, key, key_len, fits, ctx);
 *     ...                                   // it is held
 *     stale_unref(c);
 *
 * One for all workers: a request need not come on the same connection as the
 * one before. A lock guards the table and the list, and is held for a few
 * comparisons; only routes with `fallback.stale` use it at all.
 *
 * The limit covers everything: three quarters for copies, including evicted
 * ones that are still being sent, one quarter for those being made. When it is
 * reached, the least recently used are evicted; a client that asks for a
 * million resources evicts others, but nothing grows. Copies of one path, the
 * part of a key before the question mark, get an eighth of the limit, and at
 * most 16 copies of one key may differ by fields: made-up queries or fields
 * evict only each other. Threads: shared. */
#ifndef BIDE_PROXY_EXCHANGE_STALE_H
#define BIDE_PROXY_EXCHANGE_STALE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stale;

/* The length of each part of a copy; they are contiguous. */
struct stale_shape {
    uint32_t key_len;
    uint32_t vary_len;  /* fields of the request that it depends on: "name:
                           value\n" */
    uint32_t lines_len; /* of the head, as they are sent */
    uint32_t body_len;
};

/* An answer. What is behind `shape` does not change once it is put.
 * Threads: shared. */
struct stale_copy {
    struct stale *owner;
    atomic_uint refs;
    bool listed; /* under the lock, as are the links */
    struct stale_copy *next;
    struct stale_copy *newer, *older;
    struct stale_copy *path_newer, *path_older; /* among those of its path */
    uint64_t hash, path_hash;
    size_t room; /* bytes that it is charged for */
    struct stale_shape shape;
    bool is_public; /* the response said so: it is for any client */
    int64_t stored_ns;
    int64_t age_ns;      /* it had, when it was stored */
    int64_t fresh_ns;    /* how old it may be, by itself */
    int64_t if_error_ns; /* and beyond that, where there is an error; FOREVER:
                            it does not say (RFC 5861) */
    char bytes[];
};

static inline const char *stale_key(const struct stale_copy *c)
{
    return c->bytes;
}
static inline const char *stale_vary(const struct stale_copy *c)
{
    return c->bytes + c->shape.key_len;
}
static inline const char *stale_lines(const struct stale_copy *c)
{
    return stale_vary(c) + c->shape.vary_len;
}
static inline char *stale_body(struct stale_copy *c)
{
    return c->bytes + c->shape.key_len + c->shape.vary_len + c->shape.lines_len;
}

struct stale *stale_new(void);    /* NULL: no memory */
void stale_free(struct stale *s); /* nothing of it may be held any more */

/* Sets the limit; 0: nothing is kept. The excess is evicted. */
void stale_resize(struct stale *s, size_t bytes);

/* A new copy, with `body_room` bytes for the body after the rest of its shape.
 * NULL: no memory, or too many are being made. Put it or drop it. */
struct stale_copy *stale_copy_new(struct stale *s,
                                  const struct stale_shape *shape,
                                  size_t body_room);
void stale_copy_drop(struct stale_copy *c); /* NULL is fine */

/* More room for the body; it may move. NULL: there is none; it is unchanged. */
struct stale_copy *stale_copy_grow(struct stale_copy *c, size_t body_room);

/* Adds it, replacing one with the same key and fields. */
void stale_put(struct stale_copy *c);

/* A copy for this key that fits the request, or NULL. Holds a reference. */
struct stale_copy *stale_get(struct stale *s, const char *key, size_t len,
                             bool (*fits)(const struct stale_copy *c,
                                          const void *ctx),
                             const void *ctx);
void stale_unref(struct stale_copy *c); /* NULL is fine */

/* Removes all copies for this key. */
void stale_forget(struct stale *s, const char *key, size_t len);

/* What there is. */
void stale_count(struct stale *s, size_t *ret_copies, size_t *ret_bytes);

#endif
