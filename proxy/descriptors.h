/* proxy/descriptors.h: a worker's share of the process's descriptors, and what
 * to do when there are none left. */
#ifndef BIDE_PROXY_DESCRIPTORS_H
#define BIDE_PROXY_DESCRIPTORS_H

#include <stdbool.h>

#include "net/loop.h"

struct worker;

/* Sets how many clients it may have, and how many descriptors endpoints get. */
void worker_set_limits(struct worker *w);

/* Serves the lines of all pools soon. */
void worker_serve_pools(struct worker *w);

/* Closes an idle connection to an endpoint; false: there is none. */
bool worker_ease(struct worker *w);

/* There is no descriptor for an attempt: tries again soon. */
void worker_starve(struct worker *w);
void worker_look_again(struct net_timer *t);

#endif
