/* proxy/exchange/cacheable.h: which responses a shared cache may store, and how
 * long they are fresh (RFC 9111, RFC 5861), as far as that matters to a cache
 * that serves copies only when there is an error.
 *
 * Where the standard leaves a choice, the cautious one is taken: responses that
 * set cookies are not stored, nor, unless they say `public`, those to requests
 * with cookies or credentials, including a client certificate. Threads:
 * owned. */
#ifndef BIDE_PROXY_EXCHANGE_CACHEABLE_H
#define BIDE_PROXY_EXCHANGE_CACHEABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/http1/head.h"

/* What a response says about itself. */
struct cacheable {
    bool may_keep;       /* it may be stored */
    bool is_public;      /* for any client */
    int64_t age_ns;      /* its current age */
    int64_t fresh_ns;    /* how old it may become; 0 if it does not say */
    int64_t if_error_ns; /* and beyond that, if there is an error; FOREVER: it
                            does not say */
};

/* Reads the head of a response with status 200; wall_s is now, since 1970. */
struct cacheable cacheable_read(const struct http1_head *resp,
                                const char *bytes, int64_t wall_s);

/* Whether a response to this request may be stored, given what the response
 * says; `certified`: the endpoint got the client's certificate. */
bool cacheable_for(const struct cacheable *c, const struct http1_head *req,
                   const char *bytes, bool certified);

/* Whether the request may get a copy: it reads, and does not ask for a fresh
 * response. */
bool cacheable_asks(const struct http1_head *req, const char *bytes);

/* A field by its name, in any case of letters; the one after `after`, or the
 * first. */
const struct http1_field *cacheable_field(const struct http1_head *head,
                                          const char *bytes, const char *name,
                                          size_t len,
                                          const struct http1_field *after);

/* Takes the next member of a list in a field, without blanks: false at the
 * end. */
bool cacheable_member(const char **at, const char *end, const char **ret,
                      size_t *ret_len);

#endif
