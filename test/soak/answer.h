/* An answer of HTTP/1.1 in a buffer: read when all of it is there. */
#ifndef BIDE_TEST_ANSWER_H
#define BIDE_TEST_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

struct answer {
    int status;
    unsigned attempts; /* X-Bide-Attempts */
    bool closes;
    const char *body;  /* of chunks: the first */
    size_t body_len;
};

/* False: there is more to come. What is no answer has status 0. */
bool answer_read(struct answer *ret, const char *data, size_t len);

#endif
