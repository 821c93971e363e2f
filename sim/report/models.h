/* Which model and which run a variant is. */
#ifndef BIDE_SIM_REPORT_MODELS_H
#define BIDE_SIM_REPORT_MODELS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/model/model.h"
#include "sim/study/summary.h"

/* The model that a variant is a run of: one of several, if scenarios are
 * compared; and whether they are. */
const struct sim_model *page_model_of(const struct sim_summary *s, uint32_t v);
bool page_is_mixed(const struct sim_summary *s);

/* Whether all of them have the same fleets and services, by name: only then can
 * those be shown one by one. */
bool page_is_alike(const struct sim_summary *s);

/* Whether all that clients do is to queue messages. */
bool page_is_queue(const struct sim_model *m);

/* Whether repeating an operation does harm in this model. */
bool page_minds_twice(const struct sim_model *m);

#endif
