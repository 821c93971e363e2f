/* proxy/front/client_linger.h: closing so that the client can read what was sent. */
#ifndef BIDE_PROXY_FRONT_CLIENT_LINGER_H
#define BIDE_PROXY_FRONT_CLIENT_LINGER_H

#include <stdbool.h>

struct client;

/* Closes after the client had time to read what was sent. */
void client_linger(struct client *c);

/* Discards what arrives meanwhile; false: nothing more can be done now. */
bool client_discard(struct client *c);

#endif
