/* Services, and the faults that they have (services.c, faults.c). */
#ifndef BIDE_SIM_SCENARIO_SERVICES_H
#define BIDE_SIM_SCENARIO_SERVICES_H

#include "sim/scenario/load.h"

SIM_READER(sim_read_calls); /* of struct sim_model_service */

void sim_load_services(struct sim_load *l);
void sim_load_faults(struct sim_load *l, const struct bide__node *key,
                     const struct bide__node *node);

#endif
