/* Attempts of some clients put in order: which clients are shown, and on which
 * line of the plot each attempt is.
 *
 *     struct page_cast cast = { .x = shown };      // the time that is shown
 *     page_cast_choose(&cast, summary);
 *     struct page_timeline t = page_timeline_of(run, &cast);
 *     for (uint32_t i = 0; i < t.n; i++)
 *         draw(&t.marks[i], t.row[i], t.lane[i]);
 *     page_timeline_done(&t);
 *
 * The same clients in all variants, so that their lines can be compared.
 * Overlapping calls of one client get separate lanes. Threads: owned. */
#ifndef BIDE_SIM_REPORT_TIMELINE_H
#define BIDE_SIM_REPORT_TIMELINE_H

#include "sim/report/plot/scale.h"

enum { PAGE_CLIENTS = 12, PAGE_LANES = 3 };

struct page_client {
    uint32_t fleet, client;
};

/* The clients that are shown in all variants, and how many lanes each needs. */
struct page_cast {
    struct page_scale x;
    struct page_client who[PAGE_CLIENTS];
    uint32_t n;
    unsigned lanes;
};

/* The content of a plot. */
struct page_timeline {
    struct sim_mark *marks; /* by client, call and attempt */
    uint8_t *lane;          /* of each mark */
    uint8_t *row;           /* its client's */
    uint32_t n;
};

/* Whether any part of an attempt is in the time that is shown. */
bool page_mark_within(const struct sim_mark *m, const struct page_scale *x);

bool page_mark_same_call(const struct sim_mark *a, const struct sim_mark *b);

/* Finds the clients that do anything in that time, in any variant. */
void page_cast_choose(struct page_cast *cast, const struct sim_summary *s);

/* Raises cast->lanes if more are needed. */
struct page_timeline page_timeline_of(const struct sim_result *r,
                                      struct page_cast *cast);
void page_timeline_done(struct page_timeline *t);

#endif
