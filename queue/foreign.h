/* queue/foreign.h: what producers write that are not bide, brought into the form
 * that queue/message.h promises.
 *
 *     char id[QUEUE_ID_MAX + 1];
 *     foreign_id(id, "order 7\n", 8);            // "order 7?~9c0f..."
 *     char name[QUEUE_ATTRIBUTE_MAX];
 *     foreign_name(name, sizeof name, "Content Type", 12);    // "Content_Type"
 *
 * A message is handled whatever its producer has written; only its labels are
 * changed, never its body. An id or key that has to be changed gets a hash of
 * the whole behind it: two different ones stay different, because a handler
 * would take the second for a repetition of the first. */
#ifndef BIDE_QUEUE_FOREIGN_H
#define BIDE_QUEUE_FOREIGN_H

#include <stddef.h>

#include "queue/message.h"

/* Also for keys. An empty one stays empty. */
void foreign_id(char to[QUEUE_ID_MAX + 1], const char *bytes, size_t len);

/* The name of an attribute: what is not allowed becomes '_'. */
void foreign_name(char *to, size_t size, const char *bytes, size_t len);

/* From -9 to 9, whatever was written. */
int foreign_priority(long long n);

#endif
