/* A fleet that replays a log (replay.c), and the times in one (log.c). */
#ifndef BIDE_SIM_SCENARIO_REPLAY_H
#define BIDE_SIM_SCENARIO_REPLAY_H

#include "sim/scenario/load.h"

SIM_READER(sim_read_replay); /* of struct sim_model_fleet */

/* Times of a log, in nanoseconds and in order, the first of them 0. Lines
 * without a time are findings about `path`. */
bool sim_read_log(struct sim_load *l, const char *path, const char *text,
                  size_t len, int64_t **ret, uint32_t *ret_n);

#endif
