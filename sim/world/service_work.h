/* A service at work: workers and queues (service.c), and calls to services below
 * (service_below.c). */
#ifndef BIDE_SIM_WORLD_SERVICE_WORK_H
#define BIDE_SIM_WORLD_SERVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/policy.h"
#include "sim/world/target.h"

struct sim_item;
struct sim_service;

/* Initializes an edge before the first request: calls `target` with a policy.
 * Like sim_caller_init(). */
int sim_service_edge(struct sim_service *s, struct sim_world *w, uint32_t i,
                     struct sim_target *target, const bide_policy_conf *conf,
                     uint32_t part);

/* service.c: lets a worker begin, or the item wait for one; assigns work to
 * free workers; releases a worker and counts its time; sends the response that
 * is set in an item, now or one event later; removes an item; and ends the work
 * for an item, including calls below. */
void sim_service_connect(struct sim_service *s);
void sim_service_begin(struct sim_service *s, struct sim_world *w, uint32_t i);
void sim_service_enqueue(struct sim_service *s, uint32_t i);
void sim_service_work_on(struct sim_service *s, struct sim_world *w,
                         uint32_t shard);
void sim_service_release(struct sim_service *s, struct sim_world *w,
                         struct sim_item *item, bool for_nobody);
void sim_service_answer(struct sim_service *s, struct sim_world *w, uint32_t i,
                        bool later);
void sim_service_forget(struct sim_service *s, uint32_t i);
void sim_service_complete(struct sim_service *s, struct sim_world *w,
                          uint32_t i, enum sim_answer_kind kind, int64_t hint);

/* service_below.c: makes the next call below, or completes the item; cancels
 * the running call. */
void sim_service_descend(struct sim_service *s, struct sim_world *w,
                         uint32_t i);
void sim_service_abandon(struct sim_service *s, struct sim_world *w,
                         uint32_t i);

#endif
