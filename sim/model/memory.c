/* Memory for the simulator. Running out of it ends the program with a message. */
#include "sim/model/memory.h"

#include <stdio.h>
#include <stdlib.h>

static void *checked(void *memory)
{
    if (memory)
        return memory;
    fputs("bide sim: out of memory\n", stderr);
    exit(1);
}

void *sim_new(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size));
}

void *sim_resize(void *memory, size_t n, size_t size)
{
    return checked(n > SIZE_MAX / size ? NULL : realloc(memory, n * size));
}

void *sim_new_aligned(size_t bytes)
{
    return checked(aligned_alloc(bytes, bytes));
}

void *sim_grow(void *list, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return list;
    *room = *room ? *room * 2 : 8;
    return sim_resize(list, *room, size);
}
