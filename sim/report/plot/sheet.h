/* The curves of a row (sheet.c), and their names beside them (label.c). */
#ifndef BIDE_SIM_REPORT_PLOT_SHEET_H
#define BIDE_SIM_REPORT_PLOT_SHEET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/report/plot/curves.h"
#include "sim/study/summary.h"

enum page_how {
    PAGE_LINE,
    PAGE_STEPS, /* a thin line of right angles */
    PAGE_AREA,  /* a line with a tint under it */
    PAGE_STACK, /* on top of the stack before it */
    PAGE_OVER   /* a tint where layer 0 exceeds this */
};

struct page;

struct page_layer {
    const char *name;
    const char *colour; /* the class c-... of the style sheet */
    enum page_how how;
    page_get *get;
    uint32_t what;
};

struct page_row {
    const char *title, *about;
    enum page_unit unit;
    bool log;        /* the values' scale */
    double top;      /* of it; 0: from the values */
    bool of_load;    /* from the traffic: neither a capacity far above it nor a
                      * storm far above the capacity may flatten the rest */
    bool legend;     /* under the title, instead of labels at the curves */
    int height_px;   /* 0: the default */
    uint32_t points; /* of a curve; 0: as many as fit */
    const struct page_layer *layers;
    uint32_t n_layers;
    void (*under)(struct page *p, uint32_t v); /* each plot; or NULL */
};

struct page_sheet {
    const struct sim_summary *of;
    const struct page_row *row;
    struct page_curve *curve; /* v * n_layers + l */
    bool *shown;              /* layers that have something in some variant */
    struct page_scale scale;
};

/* False if there is nothing in any layer but PAGE_STEPS and PAGE_OVER; call
 * done in any case. */
bool page_sheet_make(struct page_sheet *s, const struct sim_summary *of,
                     const struct page_row *row);
void page_sheet_done(struct page_sheet *s);

/* The greatest value of a variant's layer if it is above the scale, else 0: its
 * curve runs along the upper edge there, and a reader must be told. */
double page_sheet_beyond(const struct page_sheet *s, uint32_t v, uint32_t l);

/* Whether a variant has anything to draw but a capacity. */
bool page_sheet_has(const struct page_sheet *s, uint32_t v);

struct page_curve *page_sheet_curve(const struct page_sheet *s, uint32_t v,
                                    uint32_t l);

/* The labels of a variant's curves at their ends, from the top down, moved
 * apart if they would overlap; at most PAGE_LABELS of them. Returns how many
 * there are. */
enum { PAGE_LABELS = 12 };

struct page_label {
    const struct page_layer *layer;
    double top_px;
};

int page_sheet_labels(const struct page_sheet *s, uint32_t v, int height_px,
                      int gap_px, struct page_label labels[PAGE_LABELS]);

/* Call it only once: a stack is summed in place. */
void page_sheet_draw(FILE *out, const struct page_sheet *s,
                     const struct page_axes *a, uint32_t v);

#endif
