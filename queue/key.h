/* queue/key.h: the idempotency key of a message.
 *
 *     char key[QUEUE_IDEMPOTENCY_KEY];
 *     queue_idempotency_key(key, "default", m);          // default:7f3a...
 *
 * Made of the queue's name, the message's id, and how often it was redriven with a
 * fresh key: the same on every delivery, on every worker. Bytes of an id that cannot
 * stand in a header are written as %XX, so that two ids never have one key. */
#ifndef BIDE_QUEUE_KEY_H
#define BIDE_QUEUE_KEY_H

#include "queue/message.h"

enum { QUEUE_IDEMPOTENCY_KEY = QUEUE_NAME_MAX + 3 * QUEUE_ID_MAX + 16 };

void queue_idempotency_key(char to[QUEUE_IDEMPOTENCY_KEY], const char *queue,
                           const struct queue_message *m);

/* A text with its unusual bytes as %XX; `size` bytes at most. */
void queue_escape(char *to, size_t size, const char *text);

#endif
