/* The data of the charts (chart.h), column by column. Threads: owned. */
#ifndef BIDE_CMD_SIM_CHART_DATA_H
#define BIDE_CMD_SIM_CHART_DATA_H

#include "sim/report/plot/scale.h"

enum { CHART_WIDEST = 120 }; /* columns */

struct chart {
    FILE *out;
    const struct sim_summary *s;
    int columns;
    bool colour, utf8;
    double end_ns;
    struct page_scale scale;
};

/* What a column shows. */
struct columns {
    double offered[CHART_WIDEST], good[CHART_WIDEST], capacity[CHART_WIDEST];
};

/* Sets the end of the time axis, and one scale for all variants. False: nothing
 * to draw. */
bool chart_measure(struct chart *c);

/* Fills the columns of a variant. */
void chart_fill(const struct chart *c, uint32_t v, struct columns *to);

#endif
