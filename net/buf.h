/* net/buf.h: buffers of one size, on a free list.
 *
 *     struct net_bufs bufs;
 *     net_bufs_init(&bufs, 16384, 64);
 *     struct net_buf *b = net_buf_take(&bufs);      // NULL: no memory
 *     ssize_t n = recv(fd, net_buf_room(b), net_buf_space(b), 0);
 *     b->end += (uint32_t)n;
 *     ...                                           // from b->begin to b->end
 *     b->begin += used;
 *     net_buf_give(&bufs, b);
 *
 * The buffer returned last is taken first, while it is still in the cache. A
 * connection that waits for its next message holds none.
 *
 * Threads: owned. */
#ifndef BIDE_NET_BUF_H
#define BIDE_NET_BUF_H

#include <stddef.h>
#include <stdint.h>

/* How many unused objects to keep: none under AddressSanitizer, which does not
 * know that what is on a free list is free, and would miss a use after that. */
#if defined(__SANITIZE_ADDRESS__)
#define NET_SPARES(n) 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NET_SPARES(n) 0
#endif
#endif
#ifndef NET_SPARES
#define NET_SPARES(n) (n)
#endif

/* The bytes from begin to end have not been used yet. */
struct net_buf {
    struct net_buf *next; /* on the free list, or in a chain */
    uint32_t begin, end, size;
    char data[];
};

struct net_bufs {
    struct net_buf *free;
    uint32_t size;
    uint32_t n_free, max_free;
    uint64_t n_taken;   /* in use now */
    uint64_t max_taken; /* for net_buf_take_if() */
};

/* Keeps up to max_free unused ones. */
void net_bufs_init(struct net_bufs *bufs, uint32_t size, uint32_t max_free);
void net_bufs_done(struct net_bufs *bufs);

struct net_buf *net_buf_new(struct net_bufs *bufs); /* if the list is empty */
void net_buf_drop(struct net_bufs *bufs, struct net_buf *b);

static inline struct net_buf *net_buf_take(struct net_bufs *bufs)
{
    struct net_buf *b = bufs->free;
    if (!b)
        return net_buf_new(bufs);
    bufs->free = b->next;
    bufs->n_free--;
    bufs->n_taken++;
    b->next = NULL;
    b->begin = b->end = 0;
    return b;
}

/* NULL also if max_taken are in use: for amounts that others decide. */
static inline struct net_buf *net_buf_take_if(struct net_bufs *bufs)
{
    return bufs->n_taken < bufs->max_taken ? net_buf_take(bufs) : NULL;
}

/* NULL is fine. */
static inline void net_buf_give(struct net_bufs *bufs, struct net_buf *b)
{
    if (!b)
        return;
    bufs->n_taken--;
    if (bufs->n_free == bufs->max_free) {
        net_buf_drop(bufs, b);
        return;
    }
    b->next = bufs->free;
    bufs->free = b;
    bufs->n_free++;
}

static inline char *net_buf_room(struct net_buf *b)
{
    return b->data + b->end;
}
static inline size_t net_buf_space(const struct net_buf *b)
{
    return b->size - b->end;
}
static inline char *net_buf_at(struct net_buf *b)
{
    return b->data + b->begin;
}
static inline size_t net_buf_len(const struct net_buf *b)
{
    return b->end - b->begin;
}

#endif
