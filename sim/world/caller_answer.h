/* What a caller does with an answer. */
#ifndef BIDE_SIM_WORLD_CALLER_ANSWER_H
#define BIDE_SIM_WORLD_CALLER_ANSWER_H

#include "sim/world/timeouts.h"

struct sim_caller;

/* caller_answer.c: an attempt has reached its timeout. */
void sim_caller_expired(struct sim_caller *c, struct sim_world *w,
                        const struct sim_timeout *t);

/* Connects it to its events: what init() leaves to caller_answer.c. */
void sim_caller_connect(struct sim_caller *c);

#endif
