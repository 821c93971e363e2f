/* proxy/exchange/text.h: writing heads into a buffer, without ever leaving it.
 *
 *     struct text t = text_in(buf);
 *     TEXT_LITERAL(&t, "X-Bide-Attempt: ");
 *     text_number(&t, 2);
 *     if (!text_done(&t, buf))
 *         refuse();                      // it did not fit
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_EXCHANGE_TEXT_H
#define BIDE_PROXY_EXCHANGE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "net/buf.h"
#include "net/http1/head.h"

struct text {
    char *at, *end;
    bool full; /* something did not fit, and is missing */
};

static inline struct text text_in(struct net_buf *b)
{
    return (struct text){ b->data + b->end, b->data + b->size, false };
}

static inline bool text_done(const struct text *t, struct net_buf *b)
{
    b->end = (uint32_t)(t->at - b->data);
    return !t->full;
}

static inline void text_put(struct text *t, const char *from, size_t len)
{
    if ((size_t)(t->end - t->at) < len) {
        t->full = true;
        return;
    }
    memcpy(t->at, from, len);
    t->at += len;
}

#define TEXT_LITERAL(t, s) text_put(t, "" s, sizeof(s) - 1)

static inline void text_string(struct text *t, const char *s)
{
    if (s) /* a name that is none */
        text_put(t, s, strlen(s));
}

/* With small letters. */
void text_lower(struct text *t, const char *from, size_t len);

void text_number(struct text *t, uint64_t n);
void text_thousandths(struct text *t,
                      unsigned n); /* ".042", for n under 1000 */

/* Formats, for what is rare. */
void text_format(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A JSON string with its quotes, of at most so many bytes between them. */
void text_json(struct text *t, const char *from, size_t len, size_t most);

/* Copies the header lines of a message, except those that are for one hop only
 * and those in `drop` (a bit for each enum http1_id). */
void text_lines(struct text *t, const struct http1_head *head,
                const char *bytes, uint64_t drop);

#endif
