/* What scripts/embed.py makes of sim/scenario/builtin/. */
#ifndef BIDE_SIM_SCENARIO_BUILTIN_TABLE_H
#define BIDE_SIM_SCENARIO_BUILTIN_TABLE_H

#include "sim/scenario/builtin.h"

extern const struct sim_builtin sim_builtin_table[];
extern const size_t sim_builtin_count;

#endif
