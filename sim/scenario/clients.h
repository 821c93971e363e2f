/* Fleets of clients, and variants: their calls by other policies (clients.c,
 * variants.c). */
#ifndef BIDE_SIM_SCENARIO_CLIENTS_H
#define BIDE_SIM_SCENARIO_CLIENTS_H

#include "sim/scenario/load.h"

void sim_load_clients(struct sim_load *l);
void sim_load_variants(struct sim_load *l, const struct bide__node *key,
                       const struct bide__node *node);

#endif
