/* Inputs that are lines of "name: value", as header fields. */
#ifndef BIDE_FUZZ_FIELDS_H
#define BIDE_FUZZ_FIELDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bide/outcome.h"

enum { MAX_FIELDS = 64 };

/* Cuts one line off the input. */
static inline bide_header next_field(const char **at, const char *end)
{
    size_t left = (size_t)(end - *at);
    const char *newline = memchr(*at, '\n', left);
    size_t len = newline ? (size_t)(newline - *at) : left;
    const char *colon = memchr(*at, ':', len);
    bide_header h = { *at, len, NULL, 0 };

    if (colon) {
        h.name_len = (size_t)(colon - *at);
        h.value = colon + 1;
        h.value_len = len - h.name_len - 1;
    }
    *at += len + (newline ? 1 : 0);
    return h;
}

/* Reads the lines; how many there are. */
static inline size_t all_fields(const uint8_t *data, size_t size,
                                bide_header fields[MAX_FIELDS])
{
    const char *at = size ? (const char *)data : "", *end = at + size;
    size_t n = 0;

    while (at < end && n < MAX_FIELDS)
        fields[n++] = next_field(&at, end);
    return n;
}

#endif
