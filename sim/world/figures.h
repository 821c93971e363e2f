/* The figures of a run, when it is over; recovery.c works out one of them. */
#ifndef BIDE_SIM_WORLD_FIGURES_H
#define BIDE_SIM_WORLD_FIGURES_H

#include <stdint.h>

struct sim_record;

/* figures.c and recovery.c */
void sim_figures(struct sim_record *rec);
double sim_recovery(const struct sim_record *rec, int64_t now);

#endif
