/* net/resolve.h: from a name to its addresses.
 *
 *     struct net_addresses *all = net_resolve("pay.internal", 443, &why);
 *     if (!all)
 *         die(why);
 *     for (unsigned i = 0; i < all->n; i++)
 *         use(&all->list[i]);
 *     free(all);
 *
 * Blocks for as long as the resolver takes, for a name; never for an address.
 */
#ifndef BIDE_NET_RESOLVE_H
#define BIDE_NET_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "net/address.h"

enum { NET_ADDRESSES_MAX = 16 };

/* In an order that does not depend on that of the answer. Threads:
 * immutable. */
struct net_addresses {
    unsigned n; /* 1 .. NET_ADDRESSES_MAX */
    struct net_address list[];
};

/* malloc()ed; or NULL and why, a constant. */
struct net_addresses *net_resolve(const char *host, uint16_t port,
                                  const char **ret_why);

/* A copy of them with another port; NULL: no memory. */
struct net_addresses *net_addresses_at(const struct net_addresses *all,
                                       uint16_t port);

bool net_addresses_same(const struct net_addresses *a,
                        const struct net_addresses *b);

/* Whether this is one of them, ignoring ports. */
bool net_addresses_have(const struct net_addresses *all,
                        const struct net_address *a);

/* Whether it is already an address, and needs no lookup. */
bool net_is_address(const char *host);

#endif
