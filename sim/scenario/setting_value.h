/* One field of a model, set from text by the table that scenarios are read by.
 * Threads: a draft is one thread's. */
#ifndef BIDE_SIM_SCENARIO_SETTING_VALUE_H
#define BIDE_SIM_SCENARIO_SETTING_VALUE_H

#include "sim/scenario/load.h"
#include "sim/scenario/setting.h"

/* The field that a path such as "queue.limit" leads to, or NULL. */
const struct sim_field *sim_field_find(const struct sim_field *fields,
                                       const char *path);

/* Whether a text can set it at all: maps and lists cannot be. */
bool sim_field_settable(const struct sim_field *field);

enum sim_set sim_field_set(const struct sim_field *field, void *into,
                           const char *text, const char **ret_expected);

#endif
