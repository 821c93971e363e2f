/* The idempotency key of a message. */
#include "queue/key.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == '/' || c == '@' || c == '+';
}

void queue_escape(char *to, size_t size, const char *text)
{
    char *end = to + size - 1;

    for (; *text && end - to >= 3; text++) {
        if (is_plain(*text)) {
            *to++ = *text;
            continue;
        }
        *to++ = '%';
        *to++ = bide__hex_upper[(unsigned char)*text >> 4];
        *to++ = bide__hex_upper[*text & 15];
    }
    *to = 0;
}

void queue_idempotency_key(char to[QUEUE_IDEMPOTENCY_KEY], const char *queue,
                           const struct queue_message *m)
{
    int n = snprintf(to, QUEUE_NAME_MAX + 2, "%s:", queue);

    queue_escape(to + n, 3 * QUEUE_ID_MAX + 4, m->id);
    if (m->generation) {
        size_t len = strlen(to);
        snprintf(to + len, QUEUE_IDEMPOTENCY_KEY - len, ":%u", m->generation);
    }
}
