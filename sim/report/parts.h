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
 * Curves are SVG that is stretched to the width there is; words are HTML beside
 * it, so that they keep their size. Threads: owned, all of it. */
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
    const char *title;   /* of the row that is being written, */
    const char *variant; /* and of the plot; ... */
    const struct sim_model *model; /* ... that it is a run of */
};

/* ===== text.c, number.c: words and numbers ===== */

enum page_unit {
    PAGE_RATE, /* a second */
    PAGE_COUNT,
    PAGE_SHARE, /* 0..1, as percent */
    PAGE_SECONDS,
    PAGE_TIMES /* so many times something */
};

enum { PAGE_TEXT = 48 }; /* room for a number and its unit */

/* Text from a file, with all that HTML, XML or a terminal could misread
 * escaped or replaced; NULL writes nothing. */
void page_text(FILE *out, const char *text);

/* The same, with blanks for underscores: "breaker open". */
void page_words(FILE *out, const char *key);

/* Three digits and the unit: "1.23 k/s", "412 ms", "99.9 %", "never". */
const char *page_number(char text[PAGE_TEXT], enum page_unit unit, double x);

/* A mean with half of its confidence interval: "412 ± 3.1 ms". */
const char *page_plus_minus(char text[PAGE_TEXT], enum page_unit unit,
                            const struct sim_interval *i);

/* A duration in a sentence: "30 s", "1 min 30 s". */
const char *page_time(char text[PAGE_TEXT], double ns);

enum page_unit page_figure_unit(enum sim_figure f);

/* What a figure is called where there is room for words. */
const char *page_figure_words(enum sim_figure f);

/* ===== scale.c: from values to places ===== */

/* The inside of every plot, in units of its SVG. */
enum { PAGE_W = 1500, PAGE_H = 600, PAGE_TICKS = 12 };

struct page_scale {
    double from, to; /* to > from */
    bool log;
    enum page_unit unit; /* or ... */
    bool time;           /* ... ns, on a time axis */
};

/* 0 at `from`, 1 at `to`; not cut off. */
double page_place(const struct page_scale *s, double x);

/* Round values for about `wanted` ticks; how many there are. */
int page_ticks(const struct page_scale *s, int wanted, double at[PAGE_TICKS]);

/* How a tick is named. */
const char *page_tick(char text[PAGE_TEXT], const struct page_scale *s,
                      double x);

/* A scale from 0 to a little over `most`. */
struct page_scale page_scale_to(double most, enum page_unit unit);

/* ===== path.c: curves ===== */

/* Values over time; NaN: a gap. */
struct page_curve {
    double *y;
    uint32_t n;
    double step_ns;
};

/* The scales of a plot. */
struct page_axes {
    struct page_scale x, y;
};

void page_path_line(FILE *out, const struct page_axes *a,
                    const struct page_curve *c);
void page_path_steps(FILE *out, const struct page_axes *a,
                     const struct page_curve *c);

/* Between two curves of the same steps; below NULL: the axis. Gaps count as the
 * lower edge. */
void page_path_area(FILE *out, const struct page_axes *a,
                    const struct page_curve *c, const double *below);

/* ===== curves.c, services.c: what is drawn ===== */

/* Fills y[r->n_steps]; false: there is nothing of that. */
typedef bool page_get(const struct sim_result *r, uint32_t what, double *y);

page_get page_of_fleets;       /* a channel of all fleets together, a second */
page_get page_level_of_fleets; /* the same, a number at a time */
page_get page_first_attempts;  /* attempts that are neither retry nor hedge */
page_get page_capacity;        /* of the services that fleets call, a second */
page_get page_breakers; /* a channel: mean over processes of all callers */
page_get page_budget;
page_get page_p50; /* seconds */
page_get page_p99;
page_get page_reason;         /* calls that ended for it, a second */
page_get page_fleet_attempts; /* of fleet `what`, a second */
page_get page_fleet_goodput;
page_get page_queue;    /* of service `what` */
page_get page_arrivals; /* at service `what`, a second */

/* What service `what` finished for somebody who waited, a second: well, and
 * with an error. */
page_get page_useful, page_erroneous;

/* A channel of a service, a second: what = service * 16 + channel. */
page_get page_of_service;
#define PAGE_OF(service, channel) ((service)*16 + (uint32_t)(channel))

/* Whether a fleet calls this service itself. */
bool page_is_front(const struct sim_model *m, uint32_t service);

/* The model that a variant is a run of: one of several, if scenarios are put
 * side by side; and whether they are. */
const struct sim_model *page_model_of(const struct sim_summary *s, uint32_t v);
bool page_is_mixed(const struct sim_summary *s);

/* Whether all of them have the same fleets and services, by name: only then can
 * those be told one by one. */
bool page_is_alike(const struct sim_summary *s);

/* The run of a variant; NULL if there is none to draw. */
const struct sim_result *page_run(const struct sim_summary *s, uint32_t v);

/* With no more points than a plot has room for. y is NULL if there is nothing;
 * to be freed. */
struct page_curve page_curve(const struct sim_result *r, page_get *get,
                             uint32_t what, uint32_t points);

/* Whether doing something twice does harm in this model. */
bool page_minds_twice(const struct sim_model *m);

enum page_how {
    PAGE_LINE,
    PAGE_STEPS, /* a thin line of right angles */
    PAGE_AREA,  /* a line with a tint under it */
    PAGE_STACK, /* on top of the stack before it */
    PAGE_OVER   /* a tint where layer 0 exceeds this */
};

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
    double top;      /* of it; 0: as the values are */
    bool legend;     /* under the title, instead of names at the curves */
    int height_px;   /* 0: as most are */
    uint32_t points; /* of a curve; 0: as many as there is room for */
    const struct page_layer *layers;
    uint32_t n_layers;
};

/* ===== sheet.c: the curves of a row ===== */

struct page_sheet {
    const struct sim_summary *of;
    const struct page_row *row;
    struct page_curve *curve; /* v * n_layers + l */
    bool *shown;              /* layers that have something in some variant */
    struct page_scale scale;
};

/* False if there is nothing in any layer but PAGE_STEPS and PAGE_OVER; to be
 * done with in any case. */
bool page_sheet_make(struct page_sheet *s, const struct sim_summary *of,
                     const struct page_row *row);
void page_sheet_done(struct page_sheet *s);

struct page_curve *page_sheet_curve(const struct page_sheet *s, uint32_t v,
                                    uint32_t l);

/* The names of a variant's curves at the places where those end, from the top
 * down, moved apart where they would stand on each other; at most PAGE_LABELS
 * of them. How many there are. */
enum { PAGE_LABELS = 12 };

struct page_label {
    const struct page_layer *layer;
    double top_px;
};

int page_sheet_labels(const struct page_sheet *s, uint32_t v, int height_px,
                      int gap_px, struct page_label labels[PAGE_LABELS]);

/* Once only: a stack is added up in place. */
void page_sheet_draw(FILE *out, const struct page_sheet *s,
                     const struct page_axes *a, uint32_t v);

/* ===== row.c, frame.c: plots ===== */

/* Writes nothing if there is nothing to show. */
void page_row(struct page *p, const struct page_row *row);

/* A row's head, and its foot. */
void page_row_open(struct page *p, const char *title, const char *about);
void page_row_close(struct page *p);

/* The caption of a plot: a variant's name, and something more or NULL. */
void page_plot_open(struct page *p, uint32_t v, const char *more);
void page_plot_close(struct page *p);

/* The frame, with the faults shaded on a time axis; between open and close
 * goes SVG, after `svg_close` HTML. height_px is that of the inside. */
void page_frame_open(struct page *p, const struct page_axes *a, int height_px,
                     bool y_lines);
void page_frame_svg_close(struct page *p);
void page_frame_close(struct page *p, const struct page_axes *a, bool y_ticks);

/* ===== faults.c ===== */

struct page_band {
    double from_ns, to_ns;
    const struct sim_fault *fault;
};

/* The times at which a fault was on; at most `room`; how many there are. */
uint32_t page_bands(const struct sim_model *m, double end_ns,
                    struct page_band *bands, uint32_t room);

/* "stop", "5 times slower", "30 % of capacity". */
const char *page_fault_words(char text[PAGE_TEXT], const struct sim_fault *f);

/* All of them as a list of sentences. */
void page_faults_list(struct page *p);

/* ===== sections, one file each ===== */

void page_model(struct page *p);    /* model.c */
void page_verdicts(struct page *p); /* table.c */
void page_table(struct page *p);
bool page_figure_shown(const struct sim_summary *s, enum sim_figure f);
extern const struct page_row page_load_row; /* load.c */
void page_loads(struct page *p);
void page_work(struct page *p);     /* work.c: goodput, work, queue */
void page_fleets(struct page *p);   /* fleets.c */
void page_retries(struct page *p);  /* retries.c */
void page_states(struct page *p);   /* breakers, budgets, latency */
void page_waits(struct page *p);    /* waits.c */
void page_clients(struct page *p);  /* clients.c */
void page_grids(struct page *p);    /* grid.c */
void page_maps(struct page *p);     /* map.c */
void page_policies(struct page *p); /* policies.c */
void page_notes(struct page *p);    /* notes.c */

/* ===== page.css, page.js, as the build puts them into page_assets.c ===== */

extern const char page_style[], page_script[];
extern const char page_script_hash[]; /* sha256-..., for the content policy */

#endif
