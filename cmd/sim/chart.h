/* Charts of a summary for a terminal: for each variant the offered load, the
 * capacity and the goodput over time.
 *
 *     sim_chart_print(stdout, summary, terminal_width(stdout),
 *                     use_colours(stdout), use_utf8());
 *
 * All variants have the same scale, so that they can be compared. Nothing is
 * printed if there is nothing to draw. */
#ifndef BIDE_CMD_SIM_CHART_H
#define BIDE_CMD_SIM_CHART_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/study/summary.h"

void sim_chart_print(FILE *out, const struct sim_summary *s, int width,
                     bool colour, bool utf8);

#endif
