/* proxy/back/health.h: health checks of endpoints.
 *
 *     struct health *h = health_new(worker, endpoint);   // begins at once
 *     health_free(h);
 *
 * An endpoint that fails a number of checks in a row is ejected, if another may
 * be, whatever its own breaker says; it returns after a number of successful
 * checks. The first worker checks all endpoints.
 *
 * Threads: owned. */
#ifndef BIDE_PROXY_BACK_HEALTH_H
#define BIDE_PROXY_BACK_HEALTH_H

#include <stdbool.h>

struct endpoint;
struct health;
struct worker;

/* NULL: no memory. */
struct health *health_new(struct worker *w, struct endpoint *e);
void health_free(struct health *h);

/* Those of all endpoints of the worker's state, and of no others. False: no
 * memory for all. */
bool health_follow(struct worker *w);
void health_end_all(struct worker *w);

#endif
