/* A world built from a model: its services, callers and fleets, ready to run.
 * Threads: owned. */
#ifndef BIDE_SIM_WORLD_WORLD_BUILD_H
#define BIDE_SIM_WORLD_WORLD_BUILD_H

#include "sim/model/model.h"
#include "sim/world/fleet.h"
#include "sim/world/queue.h"
#include "sim/world/service.h"

struct sim_build {
    const struct sim_model *model;
    uint32_t variant;
    struct sim_world world;
    struct sim_service *services; /* in the order of the model */
    struct sim_fleet *fleets;
    struct sim_marks *marks; /* of each fleet */
    struct sim_caller *fleet_callers;
    struct sim_queue *queues; /* of each fleet; conf.workers 0: it has none */
    struct sim_caller *
        *callers; /* the fleets', then those of the edges, service
                                   * by service */
    uint32_t n_callers;
    struct sim_fault *faults;          /* sorted by service */
    const struct sim_sender **senders; /* of the fleets */
    uint32_t parts;                    /* numbered so far */
};

/* `samples`: clients of each fleet whose attempts are kept. The model must be
 * valid. It must not be moved afterwards. */
void sim_build_init(struct sim_build *c, const struct sim_model *m,
                   uint32_t variant, uint64_t seed, uint32_t samples);
void sim_build_done(struct sim_build *c);

/* The number of the policy of a fleet, or of an edge of a service. */
uint32_t sim_fleet_policy(const struct sim_model *m, uint32_t variant,
                          uint32_t fleet);
uint32_t sim_edge_policy(const struct sim_model *m, uint32_t variant,
                         uint32_t service, uint32_t edge);

/* The queue between a fleet and its service. */
const struct sim_model_queue *sim_fleet_queue(const struct sim_model *m,
                                              uint32_t variant,
                                              uint32_t fleet);

/* How the servers of a service are balanced. */
const struct sim_model_balance *sim_service_balance(const struct sim_model *m,
                                                    uint32_t variant,
                                                    uint32_t service);

#endif
