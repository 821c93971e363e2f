/* queue/make_id.h: names for messages that their producer gave none.
 *
 *     char id[QUEUE_ID_MAX + 1];
 *     queue_make_id(id);            // 32 hexadecimal digits, drawn at random
 */
#ifndef BIDE_QUEUE_MAKE_ID_H
#define BIDE_QUEUE_MAKE_ID_H

#include <stdio.h>
#include <sys/random.h>

#include "queue/message.h"

enum { QUEUE_MADE_ID = 32 };

static inline void queue_make_id(char to[QUEUE_ID_MAX + 1])
{
    unsigned char bytes[QUEUE_MADE_ID / 2];

    while (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        ;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

#endif
