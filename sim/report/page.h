/* The report: a summary as one self-contained HTML file, and as a picture.
 *
 *     struct sim_page_context ctx = {
 *         .command = "bide sim flapping --report r.html",
 *         .version = bide_version(),
 *     };
 *     FILE *out = fopen("r.html", "w");
 *     int rc = sim_page_write(out, summary, &ctx);  // -1: out has an error
 *
 * The page loads nothing from outside, is readable without its script, and has
 * the same bytes for the same summary, context and seed: measurements of this
 * machine (summary->took_s) are not in it. Names that come from files may
 * contain anything: they are escaped. Figures may be NaN or infinite.
 *
 * The results of --sweep and `bide sim stability` are passed in the context;
 * both are optional and belong to the caller. Threads: a page belongs to one
 * thread. */
#ifndef BIDE_SIM_REPORT_PAGE_H
#define BIDE_SIM_REPORT_PAGE_H

#include <stdio.h>

#include "sim/study/stability.h"

/* One axis of a map: its name and the label of each column or row, for people
 * ("50ms", "1.2x"). Threads: immutable. */
struct sim_page_axis {
    const char *name;         /* "backoff.base", "load" */
    const char *const *ticks; /* n of them */
    uint32_t n;               /* at least 1 */
};

/* One figure over a grid of settings (--sweep): a heat map, or a curve if y.n
 * is 1. Cell (i, j) is cells[j * x.n + i]; n = 0 if nothing was run. More
 * figures or more variants: more grids, in display order. Threads:
 * immutable. */
struct sim_page_grid {
    const char *variant; /* its variant; NULL or "": the only one */
    enum sim_figure figure;
    struct sim_page_axis x, y; /* y.name NULL: only x was swept */
    const struct sim_interval *cells;
};

/* The map of `bide sim stability`: load against the size of the trigger. Cell
 * (i, j) is cells[j * x.n + i]; row 0 is drawn at the bottom. One map for each
 * variant. Threads: immutable. */
struct sim_page_map {
    const char *variant;       /* NULL or "": the only one */
    struct sim_page_axis x, y; /* x: load, y: trigger */
    const struct sim_cell *cells;
};

struct sim_page_context {
    const char *command; /* that reproduces this page; NULL: not shown */
    const char *version; /* of bide; NULL: not shown */
    const struct sim_page_grid *grids;
    uint32_t n_grids;
    const struct sim_page_map *maps;
    uint32_t n_maps;
};

/* Writes the page. A summary without variants is allowed if there are maps or
 * grids. ctx may be NULL. 0, or -1 if `out` could not be written. */
int sim_page_write(FILE *out, const struct sim_summary *s,
                   const struct sim_page_context *ctx);

/* Writes a standalone SVG for documents: the maps or the grids of the context,
 * if there are any; else load, capacity and goodput of each variant side by
 * side. ctx may be NULL. 0, or -1 if `out` could not be written. */
int sim_page_picture(FILE *out, const struct sim_summary *s,
                     const struct sim_page_context *ctx);

/* Either of the two. */
typedef int sim_page_writer(FILE *out, const struct sim_summary *s,
                            const struct sim_page_context *ctx);

#endif
