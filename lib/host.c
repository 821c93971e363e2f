/* The only file of lib/ that calls the system.
 *
 * Only bide__host_processor() is on the path of a decision, and it merely picks
 * the lane to count in, which changes no decision. */
#define _GNU_SOURCE
#include "lib/host.h"

#include <stdlib.h>

#if defined(__linux__)
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#endif

void *bide__host_alloc(const bide_host *host, size_t size)
{
    return host->alloc ? host->alloc(host->ctx, size) : malloc(size);
}

void bide__host_free(const bide_host *host, void *memory)
{
    if (host->alloc) {
        if (host->release)
            host->release(host->ctx, memory);
    } else {
        free(memory);
    }
}

#if defined(__linux__)

bool bide__host_entropy(uint64_t *ret)
{
    return getrandom(ret, sizeof *ret, 0) == (ssize_t)sizeof *ret;
}

uint32_t *bide__host_fork_mark(void)
{
    uint32_t *mark = mmap(NULL, sizeof *mark, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mark == MAP_FAILED)
        return NULL;
    if (madvise(mark, sizeof *mark, MADV_WIPEONFORK) != 0) {
        munmap(mark, sizeof *mark);
        return NULL;
    }
    *mark = 1;
    return mark;
}

void bide__host_fork_mark_free(uint32_t *mark)
{
    if (mark)
        munmap(mark, sizeof *mark);
}

#ifdef BIDE__HOST_PROCESSOR_IN_C
uint32_t bide__host_processor(void)
{
    return (uint32_t)sched_getcpu();
}
#endif

#else

#include <stdio.h>

bool bide__host_entropy(uint64_t *ret)
{
    FILE *f = fopen("/dev/urandom", "rb");
    bool ok = f && fread(ret, sizeof *ret, 1, f) == 1;
    if (f)
        fclose(f);
    return ok;
}

uint32_t *bide__host_fork_mark(void)
{
    return NULL;
}

void bide__host_fork_mark_free(uint32_t *mark)
{
    (void)mark;
}

/* Threads have their stacks at different addresses. */
uint32_t bide__host_processor(void)
{
    int here;
    return (uint32_t)((uintptr_t)&here >> 16);
}

#endif
