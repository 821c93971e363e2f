/* bide top: the address of the program, and requests to it. */
#ifndef BIDE_CMD_TOP_FETCH_H
#define BIDE_CMD_TOP_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#include "net/address.h"

/* Threads: owned. */
struct top_place {
    char text[128]; /* "127.0.0.1:9901", for people */
    char host[128]; /* for the Host field; "": use bide fetch, which
                       supports TLS */
    const char *ca; /* a file, for TLS; or NULL */
    struct net_address address;
};

/* Reads "9901", "127.0.0.1:9901", "[::1]:9901", "localhost:9901", also after
 * http://; "unix:/run/admin"; and "https://NAME:9901". False: none of these. */
bool top_place_read(struct top_place *place, const char *text);

/* GETs a path. Returns the body, which the caller frees, or NULL and `why`. */
char *top_fetch(const struct top_place *place, const char *path,
                size_t *ret_len, char *why, size_t size);

/* The same over TLS. */
char *top_fetch_secure(const struct top_place *place, const char *path,
                       size_t *ret_len, char *why, size_t size);

#endif
