/* proxy/once/record.h: the answer of an attempt, copied while it arrives, in the
 * form in which a store keeps it (blob.h).
 *
 *     once_record_begin(a);               // the head is there
 *     once_record_add(a, data, len);      // a piece of the body, unframed
 *     ...
 *     once_record_free(a);                // the attempt ends
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_ONCE_RECORD_H
#define BIDE_PROXY_ONCE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct attempt;
struct once_port;

struct once_record {
    struct once_port *port; /* charged for it */
    size_t before;          /* bytes before the body */
    size_t len, room;
    bool too_large; /* no more is copied */
    char *bytes;
};

/* An answer that releases its key is not copied. */
void once_record_begin(struct attempt *a);
void once_record_add(struct attempt *a, const char *data, size_t len);
void once_record_free(struct attempt *a); /* without one, does nothing */

#endif
