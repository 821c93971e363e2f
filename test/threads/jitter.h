/* Atomics that are slow to come to the point: before each one, the thread may
 * give way to another. What goes wrong only between two instructions then goes
 * wrong often enough to be seen. Included before everything else (-include) in
 * the library and in the stress tests that are built once more this way. */
#ifndef BIDE_TEST_JITTER_H
#define BIDE_TEST_JITTER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

static inline void give_way(void)
{
    static _Thread_local uint64_t x;
    if (x == 0)
        x = (uint64_t)(uintptr_t)&x | 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    if ((x >> 20) % 10 == 0)
        sched_yield();
}

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit

#if defined(__clang__)
#define GIVE_WAY(op, ...)                 (give_way(), __c11_atomic_##op(__VA_ARGS__))
#define atomic_load_explicit(p, o)        GIVE_WAY(load, p, o)
#define atomic_store_explicit(p, v, o)    GIVE_WAY(store, p, v, o)
#define atomic_exchange_explicit(p, v, o) GIVE_WAY(exchange, p, v, o)
#define atomic_compare_exchange_strong_explicit(p, e, v, s, f)                 \
    GIVE_WAY(compare_exchange_strong, p, e, v, s, f)
#define atomic_compare_exchange_weak_explicit(p, e, v, s, f)                   \
    GIVE_WAY(compare_exchange_weak, p, e, v, s, f)
#else
#define GIVE_WAY(op, ...)                 (give_way(), __atomic_##op(__VA_ARGS__))
#define atomic_load_explicit(p, o)        GIVE_WAY(load_n, p, o)
#define atomic_store_explicit(p, v, o)    GIVE_WAY(store_n, p, v, o)
#define atomic_exchange_explicit(p, v, o) GIVE_WAY(exchange_n, p, v, o)
#define atomic_compare_exchange_strong_explicit(p, e, v, s, f)                 \
    GIVE_WAY(compare_exchange_n, p, e, v, 0, s, f)
#define atomic_compare_exchange_weak_explicit(p, e, v, s, f)                   \
    GIVE_WAY(compare_exchange_n, p, e, v, 1, s, f)
#endif
#define atomic_fetch_add_explicit(p, v, o) GIVE_WAY(fetch_add, p, v, o)
#define atomic_fetch_sub_explicit(p, v, o) GIVE_WAY(fetch_sub, p, v, o)

#define atomic_load(p)     atomic_load_explicit(p, memory_order_seq_cst)
#define atomic_store(p, v) atomic_store_explicit(p, v, memory_order_seq_cst)
#define atomic_fetch_add(p, v)                                                 \
    atomic_fetch_add_explicit(p, v, memory_order_seq_cst)
#define atomic_fetch_sub(p, v)                                                 \
    atomic_fetch_sub_explicit(p, v, memory_order_seq_cst)
#define atomic_compare_exchange_strong(p, e, v)                                \
    atomic_compare_exchange_strong_explicit(p, e, v, memory_order_seq_cst,     \
                                            memory_order_seq_cst)

#endif
