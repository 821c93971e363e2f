/* bide sim stability: what its files share. */
#ifndef BIDE_CMD_SIM_STABILITY_H
#define BIDE_CMD_SIM_STABILITY_H

#include "cmd/sim/cmd.h"

/* Threads: owned. */
struct stability_cmd {
    const struct sim_ask *ask;
    const struct sim_model *model;
    struct sim_axis loads, triggers; /* as they are shown */
    struct sim_stability *map;
};

/* "" where there are none. */
static inline const char *variant_name(const struct stability_cmd *c,
                                       uint32_t v)
{
    return c->model->n_variants ? c->model->variants[v].name : "";
}

/* Maps of signs, one for each variant. */
void stability_print(const struct stability_cmd *c);

void stability_json(const struct stability_cmd *c);

/* -1 to go on, else an exit code. */
int stability_csv(const struct stability_cmd *c);
int stability_html(const struct stability_cmd *c);

#endif
