/* What the files of the report share. A page is a list of rows; a row is a
 * title and one plot for each variant, all on the same scale; a plot is a frame
 * with layers in it.
 *
 *     static const struct page_layer layers[] = {
 *         { "goodput", "good", PAGE_LINE, page_of_fleets, SIM_SUCCESSES },
 *     };
 *     page_row(p, &(struct page_row){ .title = "Goodput", .unit = PAGE_RATE,
 *                                     .layers = layers, .n_layers = 1 });
 *
 * Curves are SVG that is stretched to the available width; words are HTML
 * beside it, so that they keep their size. Threads: owned, all of it. */
#ifndef BIDE_SIM_REPORT_PARTS_H
#define BIDE_SIM_REPORT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/report/page.h"

struct page {
    FILE *out;
    const struct sim_summary *s;
    const struct sim_page_context *ctx;
    double end_ns;       /* of the time axis */
    uint32_t rows;       /* written so far: the first one explains more */
    const char *title;   /* of the current row, */
    const char *variant; /* and of the plot; ... */
    const struct sim_model *model; /* ... whose run it is */
};

/* ===== page.css, page.js, as the build puts them into page_assets.c ===== */

extern const char page_style[], page_script[];
extern const char page_script_hash[]; /* sha256-..., for the content policy */

#endif
