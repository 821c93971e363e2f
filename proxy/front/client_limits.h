/* proxy/front/client_limits.h: what a client may have, by its address. */
#ifndef BIDE_PROXY_FRONT_CLIENT_LIMITS_H
#define BIDE_PROXY_FRONT_CLIENT_LIMITS_H

#include <stdbool.h>

struct client;

/* Whether it may stay, by what its address has already; to be asked when that is
 * known. False: it was told so, where that could be done. */
bool client_admit(struct client *c);
void client_leave(struct client *c);

/* The configuration, or whether it is trusted, has changed. */
void client_follow(struct client *c);

/* Whether its request may be served; otherwise it has been answered. */
bool client_may_ask(struct client *c);

#endif
