/* The response of a transfer, held back until it is known whether it is
 * used. */
#ifndef BIDE_CURL_ANSWER_H
#define BIDE_CURL_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

struct bide__curl_call;

struct bide__bytes {
    char *at;
    size_t len, cap;
    bool lent;               /* the driver's memory: not ours to free */
};

/* The response of a transfer, held back until it is known whether it is
 * used. */
struct bide__answer {
    struct bide__bytes head; /* lines, as libcurl gave them; if asked for */
    struct bide__bytes body;
};

size_t bide__answer_write(char *data, size_t size, size_t n, void *transfer);
size_t bide__answer_header(char *data, size_t size, size_t n, void *transfer);

/* Delivers a response that was held back to the caller; false if it refuses. */
bool bide__answer_deliver(struct bide__curl_call *c,
                          const struct bide__answer *a);
void bide__answer_free(struct bide__answer *a);

/* Frees the unused part of the buffer: it may be kept for long. */
void bide__answer_trim(struct bide__answer *a);

#endif
