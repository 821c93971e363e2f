/* The engine's only access to the outside: memory, entropy, and the number of
 * the processor. Everything else in lib/ computes. */
#ifndef BIDE_LIB_HOST_H
#define BIDE_LIB_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/dep.h"

void *bide__host_alloc(const bide_host *host, size_t size);
void bide__host_free(const bide_host *host, void *memory);

/* 64 bits from the kernel; false if it gives none. */
bool bide__host_entropy(uint64_t *ret);

/* A word that holds 1 here and 0 in a process forked from this one; NULL if the
 * system cannot do that. */
uint32_t *bide__host_fork_mark(void);
void bide__host_fork_mark_free(uint32_t *mark);

/* A number that differs between processors that run at the same time, and is
 * cheap; which one does not matter. The C library keeps it where the kernel
 * writes it (rseq), so it is a single load. */
#if defined(__linux__) && defined(__GLIBC__) && defined(__x86_64__) &&         \
    __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

static inline uint32_t bide__host_processor(void)
{
    const char *self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    return ((const struct rseq *)(self + __rseq_offset))->cpu_id;
}
#else
uint32_t bide__host_processor(void);
#define BIDE__HOST_PROCESSOR_IN_C
#endif

#endif
