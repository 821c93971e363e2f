/* proxy/dep_memory.h: breakers and budgets in memory that outlives the serving
 * process.
 *
 *     struct dep_memory *m = dep_memory_open(fd, seat, others);
 *     dep_memory_make(m, &block, &dep, "pay/default", policy, &host);
 *     ...
 *     dep_memory_sweep(m);            // all that there is has been claimed
 *     dep_memory_free(m);             // when no dependency is left
 *
 * The supervisor creates an in-memory file; each serving process maps from it
 * what the engine can share between processes (`bide_host.shared`, like `bide
 * run --key`), so that a breaker that was open is still open after a crash, and
 * a budget that was spent stays spent.
 *
 *   page 0..   header; a table of entries: name, fingerprint, place, users
 *   then       the shared part of each dependency, on pages of its own
 *
 * A dependency is found by its name ("upstream/policy") and a fingerprint of
 * its policy; a process that is alone also finds one whose policy has changed,
 * and takes its state over (bide_dep_new_in). One of a build with another layout
 * starts afresh in a separate entry. The table changes under a lock that the kernel
 * releases when a process dies; an entry is valid only once its state has been
 * created, so a process that is killed in between leaves only an entry to be
 * swept. The inside of a dependency needs no lock: the engine changes it by
 * atomic words, and reclaims what dead processes held (bide_host.alone).
 *
 * Each process has a seat, a number that no other living one has; an entry
 * records its users as bits. If anything fails (too many entries, no memory, a
 * lock that cannot be taken) the dependency gets private memory: it works, but
 * will not be remembered.
 *
 * Threads: opened, claimed from and swept by one thread; a block may be released
 * by any. */
#ifndef BIDE_PROXY_DEP_MEMORY_H
#define BIDE_PROXY_DEP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/bide.h"

struct dep_memory;

enum { DEP_SEATS = 16 };

/* The memory of a dependency. Threads: owned. */
struct dep_block {
    struct dep_memory *memory; /* NULL: in private memory */
    size_t entry;
    void *base; /* of the mapping */
    size_t mapped;
    size_t shared; /* bytes of it that outlive us */
};

/* An empty file for the supervisor to hold. -1 and errno. */
int dep_memory_file(void);

/* Uses the file. `seat` is ours; `others`: bits of the seats of other living
 * processes; without any, what is found is reclaimed. fd stays the caller's and
 * must stay open. NULL: it cannot be used. */
struct dep_memory *dep_memory_open(int fd, unsigned seat, uint32_t others);

/* Creates a dependency in a block; m may be NULL. Like bide_dep_new_in();
 * `host` has the other hooks, and its ctx must be the block, or something that
 * begins with it. It must outlive the dependency. */
int dep_memory_make(struct dep_memory *m, struct dep_block *block,
                    bide_dep **ret, const char *name,
                    const bide_policy_conf *policy, const bide_host *host);

/* Frees such a dependency; any thread. */
void dep_memory_release(struct dep_block *block, bide_dep *dep);

/* Frees unused entries, after a configuration has been applied. NULL is fine,
 * here and below. */
void dep_memory_sweep(struct dep_memory *m);

void dep_memory_free(struct dep_memory *m);

#endif
