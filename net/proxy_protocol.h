/* net/proxy_protocol.h: the PROXY protocol of HAProxy, versions 1 and 2: who is
 * at the other end of a connection that somebody else has accepted.
 *
 *     struct net_proxied from;
 *     int n = net_proxied_read(bytes, len, &from);
 *     if (n > 0 && from.known)
 *         client_is(&from.source);              // and n bytes were the header
 *     len = net_proxied_write(text, 2, &client, &here);
 *
 * Whatever the header says is to be believed only if its sender is. It is read
 * strictly: one space between words, decimal ports, addresses of the family
 * that was announced. What follows the addresses in version 2 (TLVs) is
 * skipped. */
#ifndef BIDE_NET_PROXY_PROTOCOL_H
#define BIDE_NET_PROXY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

#include "net/address.h"

enum {
    NET_PROXIED_MAX = 4096, /* bytes of a header that is accepted */
    NET_PROXIED_TEXT = 128  /* ... and of one that is written */
};

/* Threads: owned. */
struct net_proxied {
    bool known; /* otherwise (UNKNOWN, LOCAL) the sender speaks for itself */
    struct net_address source, target; /* a Unix socket has no path here */
};

/* Reads a header: its length; 0 if more of it is to come; -1 if it is none, or
 * longer than NET_PROXIED_MAX. */
int net_proxied_read(const void *bytes, size_t n, struct net_proxied *ret);

/* Writes one, and gives its length. source NULL: the connection is our own
 * (LOCAL, or UNKNOWN in version 1). */
size_t net_proxied_write(char to[NET_PROXIED_TEXT], int version,
                         const struct net_address *source,
                         const struct net_address *target);

#endif
