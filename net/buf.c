/* The slow paths of buffers: allocating one when the free list is empty,
 * freeing one when it is full. */
#include "net/buf.h"

#include <stdlib.h>

void net_bufs_init(struct net_bufs *bufs, uint32_t size, uint32_t max_free)
{
    *bufs = (struct net_bufs){ .size = size,
                               .max_free = max_free,
                               .max_taken = UINT64_MAX };
}

void net_bufs_done(struct net_bufs *bufs)
{
    while (bufs->free) {
        struct net_buf *b = bufs->free;
        bufs->free = b->next;
        free(b);
    }
    bufs->n_free = 0;
}

struct net_buf *net_buf_new(struct net_bufs *bufs)
{
    struct net_buf *b = malloc(sizeof *b + bufs->size);
    if (!b)
        return NULL;
    b->next = NULL;
    b->begin = b->end = 0;
    b->size = bufs->size;
    bufs->n_taken++;
    return b;
}

void net_buf_drop(struct net_bufs *bufs, struct net_buf *b)
{
    (void)bufs;
    free(b);
}
