/* proxy/front/client_limits.h: the limits of a client, by its address. */
#ifndef BIDE_PROXY_FRONT_CLIENT_LIMITS_H
#define BIDE_PROXY_FRONT_CLIENT_LIMITS_H

#include <stdbool.h>

struct client;

/* Whether it may stay, by what its address already has; call it when the
 * address is known. False: it got a response, if possible. */
bool client_admit(struct client *c);
void client_leave(struct client *c);

/* Whether there may be one more beside it: a request of its that goes on without it
 * (once/apart.h) is one. */
bool client_may_leave(const struct client *c);

/* The configuration, or whether it is trusted, has changed. */
void client_follow(struct client *c);

/* Whether its request may be served; otherwise it got a response. */
bool client_may_ask(struct client *c);

#endif
