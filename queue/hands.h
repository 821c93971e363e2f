/* queue/hands.h: the deliveries that a broker has handed out, by their tokens.
 *
 *     struct hands hands = { 0 };
 *     if (hands_add(&hands, m->token) != 0)
 *         ...                                      // no memory
 *     hands_drop(&hands, m->token);                // settled, or lost
 *     hands_done(&hands);
 *
 * What it is for: when a server's answer is lost, a take may have happened that
 * nobody knows of. Its messages would be under the lease of a worker that lives
 * and beats, and nobody would ever run them. So a broker on a server compares
 * what the server says that this worker has with what is in its hands, and frees
 * the rest. A worker has as many in hand as it runs, so a list is enough. */
#ifndef BIDE_QUEUE_HANDS_H
#define BIDE_QUEUE_HANDS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* All zero is empty. Threads: owned. */
struct hands {
    uint64_t *tokens;
    size_t n, size;
};

static inline int hands_add(struct hands *h, uint64_t token)
{
    if (h->n == h->size) {
        size_t size = h->size ? 2 * h->size : 64;
        uint64_t *more = realloc(h->tokens, size * sizeof *more);
        if (!more)
            return -1;
        h->tokens = more;
        h->size = size;
    }
    h->tokens[h->n++] = token;
    return 0;
}

static inline void hands_drop(struct hands *h, uint64_t token)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->tokens[i] == token) {
            h->tokens[i] = h->tokens[--h->n];
            return;
        }
}

static inline void hands_done(struct hands *h)
{
    free(h->tokens);
    *h = (struct hands){ NULL, 0, 0 };
}

#endif
