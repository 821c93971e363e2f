/* A copy of a model, to be modified before it is run.
 *
 *     struct sim_model *d = sim_copy_new(model);
 *     uint32_t p = sim_copy_policy(d, "mine", &conf);
 *     sim_copy_variant(d, "mine", p);        // all fleets under that policy
 *     ...
 *     sim_copy_free(d);
 *
 * Its lists are copies; what they point to (names, rules of policies, replays,
 * edges) belongs to the original, which must outlive it and is not changed.
 * Threads: owned. */
#ifndef BIDE_SIM_MODEL_MODEL_COPY_H
#define BIDE_SIM_MODEL_MODEL_COPY_H

#include "sim/model/model.h"

struct sim_model *sim_copy_new(const struct sim_model *m);
void sim_copy_free(struct sim_model *d);

/* Adds a policy, and returns its number. Name and rules must outlive the
 * copy. */
uint32_t sim_copy_policy(struct sim_model *d, const char *name,
                         const bide_policy_conf *conf);

/* Adds a variant in which every fleet has this policy; and removes all
 * variants, so that others can replace them. */
void sim_copy_variant(struct sim_model *d, const char *name, uint32_t policy);
void sim_copy_no_variants(struct sim_model *d);

/* Removes variant n. */
void sim_copy_drop(struct sim_model *d, uint32_t variant);

/* Adds a fault. */
void sim_copy_fault(struct sim_model *d, const struct sim_fault *fault);

/* Whether any fleet uses the policy, in the model itself or in a variant. */
bool sim_copy_of_fleets(const struct sim_model *d, uint32_t policy);

#endif
