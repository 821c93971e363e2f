/* Charts of a summary for a terminal: for each variant the load that was
 * offered over time, what the services could have served, and what succeeded.
 *
 *     sim_chart_print(stdout, summary, terminal_width(stdout),
 *                     use_colours(stdout), use_utf8());
 *
 * The same scale for all variants, so that the eye may compare. Nothing is
 * printed where there is nothing to draw. */
#ifndef BIDE_CMD_SIM_CHART_H
#define BIDE_CMD_SIM_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/study/summary.h"

void sim_chart_print(FILE *out, const struct sim_summary *s, int width,
                     bool colour, bool utf8);

#endif
