/* Labels of foreign producers, brought into form. */
#include "queue/foreign.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>


enum { HASH_TEXT = 17 }; /* '~' and 16 digits */

/* FNV-1a: it keeps apart what nobody forged; ids are not a defence. */
static uint64_t hash_of(const char *bytes, size_t len)
{
    uint64_t h = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return h;
}

static bool is_in_form(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 127)
            return false;
    return len <= QUEUE_ID_MAX;
}

void foreign_id(char to[QUEUE_ID_MAX + 1], const char *bytes, size_t len)
{
    if (is_in_form(bytes, len)) {
        memcpy(to, bytes, len);
        to[len] = '\0';
        return;
    }
    size_t n = len < QUEUE_ID_MAX - HASH_TEXT ? len : QUEUE_ID_MAX - HASH_TEXT;
    while (n > 0 && n < len && ((unsigned char)bytes[n] & 0xc0) == 0x80)
        n--; /* not in the middle of a character */
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        to[i] = c < ' ' || c == 127 ? '?' : bytes[i];
    }
    snprintf(to + n, HASH_TEXT + 1, "~%016llx",
             (unsigned long long)hash_of(bytes, len));
}

void foreign_name(char *to, size_t size, const char *bytes, size_t len)
{
    size_t n = len < size - 1 ? len : size - 1;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        to[i] = c < 128 && (isalnum(c) || strchr("_-.", c)) && c ? bytes[i]
                                                                 : '_';
    }
    to[n] = '\0';
}

int foreign_priority(long long n)
{
    return n > QUEUE_PRIORITY_MAX    ? QUEUE_PRIORITY_MAX
           : n < -QUEUE_PRIORITY_MAX ? -QUEUE_PRIORITY_MAX
                                     : (int)n;
}
