/* A test bed: a small model made by hand, and run.
 *
 *     struct bed bed;
 *     bed_init(&bed);                       // one fleet that calls one service
 *     bed.services[0].workers = 5;
 *     struct sim_result *r = bed_run(&bed);
 *     ...
 *     sim_result_free(r);
 *
 * As it stands: ten calls a second, evenly spaced, from 0.1 s on, for ten
 * seconds (so 99 of them); one attempt each, given up after a second; a service
 * that takes 10 ms for each and has workers enough. */
#ifndef BIDE_TEST_SIM_BED_H
#define BIDE_TEST_SIM_BED_H

#include "sim/oracle/harness.h"
#include "sim/world/stage.h"

enum { BED_MOST = 4 };

struct bed {
    struct sim_model model;
    struct sim_model_policy policies[BED_MOST];
    struct sim_model_fleet fleets[BED_MOST];
    struct sim_model_service services[BED_MOST];
    struct sim_model_edge edges[BED_MOST];
    struct sim_fault faults[BED_MOST];
    struct sim_run_conf run_conf;
    uint64_t seed;
};

static inline void bed_init(struct bed *b)
{
    static char name[BED_MOST][8] = { "a", "b", "c", "d" };
    *b = (struct bed){ .seed = 1 };
    b->model = (struct sim_model){
        .duration_ns = 10 * BIDE_SECOND,
        .policies = b->policies,
        .n_policies = 1,
        .fleets = b->fleets,
        .n_fleets = 1,
        .services = b->services,
        .n_services = 1,
        .faults = b->faults,
    };
    for (int i = 0; i < BED_MOST; i++) {
        b->policies[i].name = name[i];
        b->policies[i].conf = sim_bare_policy(1);
        b->policies[i].conf.attempt_timeout_ns = BIDE_SECOND;
        b->fleets[i] = (struct sim_model_fleet){ .name = name[i],
                                                 .clients = 1,
                                                 .processes = 1,
                                                 .rate = 10,
                                                 .steady = true };
        b->services[i] = (struct sim_model_service){ .name = name[i],
                                                     .workers = SIM_UNBOUNDED,
                                                     .shards = 1,
                                                     .time = sim_constant(
                                                         10 * BIDE_MILLISECOND),
                                                     .queue = SIM_UNBOUNDED };
        b->edges[i] =
            (struct sim_model_edge){ .service = (uint32_t)i + 1, .times = 1 };
        b->faults[i] = (struct sim_fault){ .shard = SIM_NONE,
                                           .fleet = SIM_NONE,
                                           .from_ns = 3 * BIDE_SECOND,
                                           .to_ns = 5 * BIDE_SECOND };
    }
}

/* Each of the first n services calls the next one. */
static inline void bed_chain(struct bed *b, uint32_t n)
{
    b->model.n_services = n;
    for (uint32_t i = 0; i + 1 < n; i++) {
        b->services[i].edges = &b->edges[i];
        b->services[i].n_edges = 1;
    }
}

static inline struct sim_result *bed_run(const struct bed *b)
{
    return sim_run(&b->model, SIM_NONE, b->seed, &b->run_conf);
}

#endif
