/* Structures of a program that may know fewer members than we do, or more: see
 * include/bide/version.h. */
#ifndef BIDE_LIB_SIZED_H
#define BIDE_LIB_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Returns the caller's structure as one of ours: itself, or a copy of it in
 * `room`, where members that the caller does not know are zero. NULL if it uses
 * a member that we do not know. */
static inline const void *bide__sized_in(const void *from, size_t from_size,
                                         void *room, size_t size)
{
    const unsigned char *bytes = from;
    if (from_size == size)
        return from;
    for (size_t i = size; i < from_size; i++)
        if (bytes[i] != 0)
            return NULL;
    memset(room, 0, size);
    memcpy(room, from, from_size < size ? from_size : size);
    return room;
}

/* Fills in the caller's structure with as much of ours as it knows. */
static inline void bide__sized_out(void *to, size_t to_size, const void *from,
                                   size_t size)
{
    if (to_size > size)
        memset((char *)to + size, 0, to_size - size);
    memcpy(to, from, to_size < size ? to_size : size);
}

#endif
