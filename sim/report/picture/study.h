/* The picture of a sweep or of a stability map. */
#ifndef BIDE_SIM_REPORT_PICTURE_STUDY_H
#define BIDE_SIM_REPORT_PICTURE_STUDY_H

#include "sim/report/page.h"

/* The maps or the grids of the context. 0, or -1 if `out` has an error. */
int picture_study(FILE *out, const struct sim_summary *s,
                  const struct sim_page_context *ctx);

/* The size of a block of it, in px. */
struct picture_size {
    int wide, tall;
};

#endif
