/* arena.c: hands out memory from the front of blocks, each larger than the
 * last.
 *
 * The tree of a policy file is thousands of small pieces with one lifetime.
 * Blocks double in size up to a limit, so a file takes only a few calls to
 * malloc(), and as many to free(). */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LAST_BLOCK = 1 << 20 };

struct block {
    struct block *next;
    size_t used, size;
    max_align_t bytes[];
};

struct bide__arena {
    struct block *blocks; /* the first is the one being filled */
    size_t next_size;
};

struct bide__arena *bide__arena_new(void)
{
    struct bide__arena *arena = calloc(1, sizeof *arena);

    if (arena)
        arena->next_size = FIRST_BLOCK;
    return arena;
}

void bide__arena_free(struct bide__arena *arena)
{
    if (!arena)
        return;
    for (struct block *b = arena->blocks; b;) {
        struct block *next = b->next;

        free(b);
        b = next;
    }
    free(arena);
}

static struct block *add_block(struct bide__arena *arena, size_t need)
{
    size_t size = need > arena->next_size ? need : arena->next_size;
    struct block *b = calloc(1, sizeof *b + size);

    if (!b)
        return NULL;
    b->size = size;
    b->next = arena->blocks;
    arena->blocks = b;
    if (arena->next_size < LAST_BLOCK)
        arena->next_size *= 2;
    return b;
}

void *bide__arena_alloc(struct bide__arena *arena, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    struct block *b = arena->blocks;
    void *piece;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + unit - 1) / unit * unit;
    if (!b || b->size - b->used < size)
        b = add_block(arena, size);
    if (!b)
        return NULL;
    piece = (char *)b->bytes + b->used;
    b->used += size;
    return piece;
}

char *bide__arena_copy(struct bide__arena *arena, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? bide__arena_alloc(arena, len + 1) : NULL;

    if (copy && len)
        memcpy(copy, text, len);
    return copy;
}

char *bide__arena_vprintf(struct bide__arena *arena, const char *format,
                          va_list args)
{
    va_list again;
    char *text = NULL;
    int len;

    va_copy(again, args);
    len = vsnprintf(NULL, 0, format, args);
    if (len >= 0)
        text = bide__arena_alloc(arena, (size_t)len + 1);
    if (text)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *bide__arena_printf(struct bide__arena *arena, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = bide__arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
