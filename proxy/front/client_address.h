/* proxy/front/client_address.h: a client's address: from its socket, or by the
 * PROXY protocol (client_proxied.c). */
#ifndef BIDE_PROXY_FRONT_CLIENT_ADDRESS_H
#define BIDE_PROXY_FRONT_CLIENT_ADDRESS_H

#include <stdbool.h>

struct client;
struct net_address;
struct sockaddr;

void client_set_address(struct client *c, const struct sockaddr *from);
void client_address(const struct client *c, struct net_address *ret);

/* Determines whether it is trusted, by the worker's current configuration. */
void client_set_trust(struct client *c);

/* ===== client_proxied.c ===== */

/* Whether it has to identify itself. */
bool client_is_proxied(const struct client *c);

/* One step towards that; false: nothing more can be done now. */
bool client_read_proxied(struct client *c);

#endif
