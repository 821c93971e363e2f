/* What all pictures have, and the picture of a run, with its measures in px. */
#ifndef BIDE_SIM_REPORT_PICTURE_PICTURE_H
#define BIDE_SIM_REPORT_PICTURE_PICTURE_H

#include "sim/report/page.h"
#include "sim/report/plot/sheet.h"

enum {
    PAD = 24,
    LEFT = 50,  /* of a plot, for its ticks */
    RIGHT = 70, /* for the names of curves */
    TOP = 64,   /* title */
    NAME = 40,  /* above a plot */
    HEIGHT = 160,
    UNDER = 84, /* ticks and figures below it */
    FOOT = 44
};

/* The figure in bold under each plot: where the variants differ most. */
enum shown { RECOVERY, TAIL, GOODPUT, TWICE, DEATHS };

/* Threads: owned. */
struct picture {
    FILE *out;
    const struct sim_summary *s;
    const struct sim_model *model; /* of the plot that is drawn */
    struct page_sheet sheet;
    uint32_t deep; /* the service whose load is shown, or SIM_NONE: all that
                    * clients call */
    enum shown shows;
    double end_ns;
    int columns, width, column; /* px */
};

/* ===== what all pictures have ===== */

/* The head of the file, its colours, and the title. */
void picture_open(FILE *out, const struct sim_summary *s, int width,
                  int height);

/* Text from a file, cut to fit into so many px, with an ellipsis if it was; and
 * how many px that takes. */
void picture_text(FILE *out, const char *text, int px);
int picture_text_px(const char *text, int px);

/* ===== a run ===== */

/* One variant with its name and figures, its upper left corner at x, y. */
void picture_plot(struct picture *p, uint32_t v, int x, int y);

#endif
