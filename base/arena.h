/* Memory that is allocated piece by piece and freed all at once.
 *
 *     struct bide__arena *arena = bide__arena_new();
 *     char *name = arena ? bide__arena_printf(arena, "%s:%d", host, 80) : NULL;
 *     if (!name)
 *         return -1;              // no memory: nothing else can go wrong
 *     bide__arena_free(arena);    // and the name with it */
#ifndef BIDE_BASE_ARENA_H
#define BIDE_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/* Threads: owned. */
struct bide__arena;

struct bide__arena *bide__arena_new(void); /* NULL: out of memory */
void bide__arena_free(struct bide__arena *arena);

/* Zeroed, aligned for anything; NULL: out of memory. */
void *bide__arena_alloc(struct bide__arena *arena, size_t size);
char *bide__arena_copy(struct bide__arena *arena, const char *text, size_t len);
char *bide__arena_printf(struct bide__arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *bide__arena_vprintf(struct bide__arena *arena, const char *format,
                          va_list args) __attribute__((format(printf, 2, 0)));

#endif
