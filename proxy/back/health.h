/* proxy/back/health.h: asking endpoints how they are.
 *
 *     struct health *h = health_new(worker, endpoint);   // begins at once
 *     health_free(h);
 *
 * An endpoint that fails so many checks in a row is put out, as far as so many
 * may be out, whatever its own breaker says; it comes back after so many good
 * ones. The first worker asks for all.
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
