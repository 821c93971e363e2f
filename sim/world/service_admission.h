/* How a service admits requests (service_admission.c), and how it records what it
 * has done (service_commit.c). */
#ifndef BIDE_SIM_WORLD_SERVICE_ADMISSION_H
#define BIDE_SIM_WORLD_SERVICE_ADMISSION_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/world/target.h"

struct sim_service;

/* service_admission.c */
void sim_service_begin_admission(struct sim_service *s);

/* service_commit.c: records what has been done. `accepted`: the response
 * reaches its client at this moment; otherwise that is not known yet. */
void sim_service_commit(struct sim_service *s, const struct sim_request *r,
                        bool accepted);
void sim_service_accepted(struct sim_service *s, const struct sim_request *r);
uint64_t sim_operation_of(const struct sim_request *r);

#endif
