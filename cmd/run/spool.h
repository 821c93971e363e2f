/* bide run: bytes that are kept, in memory up to a bound, then in a file that has
 * no name any more. */
#ifndef BIDE_CMD_RUN_SPOOL_H
#define BIDE_CMD_RUN_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ===== bytes that are kept =====
 *
 * In memory up to a bound, then in a file that has no name any more. All zero is
 * an empty one. Threads: owned. */
struct spool {
    char *memory;
    size_t held;     /* in memory, at most SPOOL_MEMORY */
    int64_t len;     /* of all; what is beyond `held` is in the file */
    int file;        /* 0: none */
};

enum { SPOOL_MEMORY = 1 << 20 };

/* Adds to the end; false, and nothing is added, if there is no room for it. */
bool spool_add(struct spool *s, const void *data, size_t len);

/* Reads from `at` on; how much that gave, -1 on failure. */
ssize_t spool_read(const struct spool *s, int64_t at, void *data, size_t len);
void spool_clear(struct spool *s);
void spool_done(struct spool *s);

#endif
