/* net/resolve.h: from a name to an address.
 *
 *     struct net_address a;
 *     if (net_resolve("pay.internal", 443, &a, &why) < 0)
 *         complain(why);
 *
 * Blocks for as long as the resolver takes, for a name; never for an address. */
#ifndef BIDE_NET_RESOLVE_H
#define BIDE_NET_RESOLVE_H

#include <stdint.h>

#include "address.h"

/* 0; or -1 and why, a constant. */
int net_resolve(const char *host, uint16_t port, struct net_address *ret,
                const char **ret_why);

#endif
