/* Makes and frees rings of events. */
#include "observe/event/ring.h"

#include <stdlib.h>
#include <string.h>

struct bide__ring *bide__ring_new(size_t size)
{
    size_t n = 2;
    while (n < size && n < (size_t)1 << 24)
        n *= 2;
    size_t bytes = sizeof(struct bide__ring) + n * sizeof(struct bide__event);
    bytes = (bytes + 63) / 64 * 64;
    struct bide__ring *r = aligned_alloc(64, bytes);
    if (!r)
        return NULL;
    /* The events are left untouched: pages that no event reaches stay the
     * kernel's. */
    memset(r, 0, sizeof *r);
    r->mask = n - 1;
    return r;
}

void bide__ring_free(struct bide__ring *ring)
{
    free(ring);
}
