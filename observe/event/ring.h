/* A ring of events from one thread to another, which never waits: when it is
 * full, new events are dropped and counted.
 *
 *     struct bide__event *e = bide__ring_next(ring);   // the producer
 *     if (e) {
 *         fill(e);
 *         bide__ring_commit(ring);
 *     }
 *
 *     const struct bide__event *first;                 // the consumer
 *     size_t n;
 *     while ((first = bide__ring_first(ring, &n))) {
 *         ...                                      // n events from `first` on
 *         bide__ring_drop(ring, n);
 *     }
 *
 * One ring for each thread that produces. Neither side makes a system call or
 * writes a cache line that the other writes. */
#ifndef BIDE_OBSERVE_EVENT_RING_H
#define BIDE_OBSERVE_EVENT_RING_H

#include <stdatomic.h>

#include "observe/event/event.h"

/* Threads: shared, by one producer and one consumer. */
struct bide__ring {
    _Alignas(64) _Atomic uint64_t written; /* by the producer ... */
    _Atomic uint64_t dropped;
    uint64_t seen_read;                 /* `read`, as last seen */
    _Alignas(64) _Atomic uint64_t read; /* ... and by the consumer */
    _Alignas(64) uint64_t mask;
    struct bide__event events[];
};

/* Makes one for `size` events, rounded up to a power of 2. NULL: no memory. */
struct bide__ring *bide__ring_new(size_t size);
void bide__ring_free(struct bide__ring *ring);

/* The slot for the next event; NULL, and counted, if there is none. */
static inline struct bide__event *bide__ring_next(struct bide__ring *r)
{
    uint64_t at = atomic_load_explicit(&r->written, memory_order_relaxed);
    if (at - r->seen_read > r->mask) {
        r->seen_read = atomic_load_explicit(&r->read, memory_order_acquire);
        if (at - r->seen_read > r->mask) {
            atomic_fetch_add_explicit(&r->dropped, 1, memory_order_relaxed);
            return NULL;
        }
    }
    return &r->events[at & r->mask];
}

/* Publishes it. */
static inline void bide__ring_commit(struct bide__ring *r)
{
    uint64_t at = atomic_load_explicit(&r->written, memory_order_relaxed);
    atomic_store_explicit(&r->written, at + 1, memory_order_release);
}

/* The oldest published events, as many as are contiguous, and their number;
 * NULL if there are none. */
static inline const struct bide__event *bide__ring_first(struct bide__ring *r,
                                                         size_t *ret_n)
{
    uint64_t at = atomic_load_explicit(&r->read, memory_order_relaxed);
    uint64_t n = atomic_load_explicit(&r->written, memory_order_acquire) - at;
    uint64_t in_row = r->mask + 1 - (at & r->mask);
    *ret_n = (size_t)(n < in_row ? n : in_row);
    return n ? &r->events[at & r->mask] : NULL;
}

/* Frees the slots of n of them. */
static inline void bide__ring_drop(struct bide__ring *r, size_t n)
{
    uint64_t at = atomic_load_explicit(&r->read, memory_order_relaxed);
    atomic_store_explicit(&r->read, at + n, memory_order_release);
}

static inline uint64_t bide__ring_dropped(const struct bide__ring *r)
{
    return atomic_load_explicit(&r->dropped, memory_order_relaxed);
}

#endif
