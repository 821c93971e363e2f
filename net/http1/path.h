/* net/http1/path.h: the normal form of a path. */
#ifndef BIDE_NET_HTTP1_PATH_H
#define BIDE_NET_HTTP1_PATH_H

#include "net/http1/head.h"

/* Normalizes a path that begins with "/" (RFC 3986, 6.2.2), in place: returns
 * its new length, never more than before. HTTP1_ETARGET: it has no normal form,
 * or one that some servers would still read in another way (path.c); the bytes
 * are then undefined. Idempotent. */
int http1_path_normalize(char *path, size_t len);

/* The same for the path of a request whose head has been read; the query moves
 * along. `buf` is what it was read from. False: it has no normal form. */
bool http1_normalize(struct http1_head *head, char *buf);

#endif
