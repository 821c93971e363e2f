/* What the exporters for Envoy and Istio share: both configure the same proxy. */
#ifndef BIDE_CONFIG_TRANSLATE_MESH_H
#define BIDE_CONFIG_TRANSLATE_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/policy.h"
#include "config/policy/retry_set.h"

struct bide__translation;

/* What Envoy and Istio share: both are configurations of the same proxy. */
struct bide__mesh {
    struct bide__retry_set retried;
    const char *conditions; /* of retry_on, without status codes */
    bool any_5xx;           /* `5xx` is among them: the codes need no list */
    bool has_budget;
    double budget_percent;
    uint32_t budget_min;
};
void bide__mesh_plan(struct bide__mesh *mesh, struct bide__translation *t);

/* The share of successes that may be followed by a retry, in the long run. */
double bide__budget_share(const bide_budget_conf *b);

/* Withdraws the budget if it turns out that nothing will be retried. */
void bide__mesh_no_budget(struct bide__mesh *mesh, struct bide__translation *t);

/* The time limit of the whole call, or BIDE_FOREVER. The timeout of a call's
 * only attempt counts as one. */
int64_t bide__call_timeout(struct bide__translation *t);

/* Records what every proxy does instead of backoff.factor and
 * backoff.jitter. */
void bide__mesh_shape(struct bide__translation *t);

#endif
