/* net/proxy_protocol.h: the PROXY protocol of HAProxy, versions 1 and 2: who is
 * at the other end of a connection that another proxy has accepted.
 *
 *     struct net_proxied from;
 *     int n = net_proxied_read(bytes, len, &from);
 *     if (n > 0 && from.known)
 *         client_is(&from.source);              // and n bytes were the header
 *     len = net_proxied_write(text, 2, &client, &here);
 *
 * Trust the header only if you trust its sender. It is read strictly: one space
 * between words, decimal ports, addresses of the announced family. What follows
 * the addresses in version 2 (TLVs) is skipped. */
#ifndef BIDE_NET_PROXY_PROTOCOL_H
#define BIDE_NET_PROXY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

#include "net/address.h"

enum {
    NET_PROXIED_MAX = 4096, /* bytes of the longest header accepted */
    NET_PROXIED_TEXT = 128  /* ... and of the longest written */
};

/* Threads: owned. */
struct net_proxied {
    bool known; /* otherwise (UNKNOWN, LOCAL) the sender is the client */
    struct net_address source, target; /* a Unix socket has no path here */
};

/* Reads a header: returns its length; 0 if it is incomplete; -1 if it is not
 * one, or longer than NET_PROXIED_MAX. */
int net_proxied_read(const void *bytes, size_t n, struct net_proxied *ret);

/* Writes one, and returns its length. source NULL: the connection is our own
 * (LOCAL, or UNKNOWN in version 1). */
size_t net_proxied_write(char to[NET_PROXIED_TEXT], int version,
                         const struct net_address *source,
                         const struct net_address *target);

#endif
