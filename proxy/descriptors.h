/* proxy/descriptors.h: a worker's share of the process's descriptors, and what is
 * done when there are none left. */
#ifndef BIDE_PROXY_DESCRIPTORS_H
#define BIDE_PROXY_DESCRIPTORS_H

#include <stdbool.h>

#include "net/loop.h"

struct worker;

/* How many clients it may have, and how many descriptors endpoints. */
void worker_set_limits(struct worker *w);

/* Serves the lines of all pools soon. */
void worker_serve_pools(struct worker *w);

/* Closes a connection to an endpoint that is not in use; false: there is none.
 */
bool worker_ease(struct worker *w);

/* There is no descriptor for an attempt: looks again, soon. */
void worker_starve(struct worker *w);
void worker_look_again(struct net_timer *t);

#endif
