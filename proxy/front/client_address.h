/* proxy/front/client_address.h: who a client is: by its socket, or by the PROXY
 * protocol (client_proxied.c). */
#ifndef BIDE_PROXY_FRONT_CLIENT_ADDRESS_H
#define BIDE_PROXY_FRONT_CLIENT_ADDRESS_H

#include <stdbool.h>

struct client;
struct net_address;
struct sockaddr;

void client_set_address(struct client *c, const struct sockaddr *from);
void client_address(const struct client *c, struct net_address *ret);

/* Whether it is trusted, by the worker's present configuration. */
void client_set_trust(struct client *c);

/* ===== client_proxied.c ===== */

/* Whether it is to say who it is. */
bool client_is_proxied(const struct client *c);

/* One step towards knowing; false: nothing more can be done now. */
bool client_read_proxied(struct client *c);

#endif
