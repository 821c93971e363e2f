/* Distributions of durations (dist.c), and those that are made of parts
 * (parts.c). */
#ifndef BIDE_SIM_SCENARIO_DIST_H
#define BIDE_SIM_SCENARIO_DIST_H

#include "sim/scenario/load.h"

SIM_READER(sim_read_dist); /* struct sim_dist */

/* Stretches a distribution so that what it is named by becomes a duration. */
bool sim_set_dist(const struct bide__field *f, void *into, const char *text,
                  size_t len);

/* A map with one of the shapes of distributions, and perhaps a share; those that
 * are made of parts. */
bool sim_read_shape(struct sim_load *l, struct sim_dist *ret,
                    const struct bide__node *key, const struct bide__node *map,
                    bool with_share);
bool sim_read_mixture(struct sim_load *l, struct sim_dist *ret,
                      const struct bide__node *key,
                      const struct bide__node *node);
bool sim_read_histogram(struct sim_load *l, struct sim_dist *ret,
                        const struct bide__node *key,
                        const struct bide__node *node);

bool sim_read_percentiles(struct sim_load *l, struct sim_dist *ret,
                          const struct bide__node *key,
                          const struct bide__node *node);

#endif
