/* The figures of a run, when it is over. */
#ifndef BIDE_SIM_WORLD_FIGURES_H
#define BIDE_SIM_WORLD_FIGURES_H

struct sim_record;

/* Those of the whole model, of each fleet and of each service. */
void sim_figures(struct sim_record *rec);

#endif
