/* Attempts of some clients put in order: who is shown, and in which line of the
 * plot each attempt stands.
 *
 *     struct page_cast cast = { .x = shown };      // the time that is shown
 *     page_cast_choose(&cast, summary);
 *     struct page_timeline t = page_timeline_of(run, &cast);
 *     for (uint32_t i = 0; i < t.n; i++)
 *         draw(&t.marks[i], t.row[i], t.lane[i]);
 *     page_timeline_done(&t);
 *
 * The same clients in all variants, so that their lines stand side by side.
 * Calls of one client that overlap get lanes of their own. Threads: owned. */
#ifndef BIDE_SIM_REPORT_TIMELINE_H
#define BIDE_SIM_REPORT_TIMELINE_H

#include "sim/report/plot/scale.h"

enum { PAGE_CLIENTS = 12, PAGE_LANES = 3 };

struct page_client {
    uint32_t fleet, client;
};

/* Who is shown, in all variants; and how many lanes each needs. */
struct page_cast {
    struct page_scale x;
    struct page_client who[PAGE_CLIENTS];
    uint32_t n;
    unsigned lanes;
};

/* What a plot is made of. */
struct page_timeline {
    struct sim_mark *marks; /* by client, call and attempt */
    uint8_t *lane;          /* of each mark */
    uint8_t *row;           /* its client's */
    uint32_t n;
};

/* Whether any of an attempt is in the time that is shown. */
bool page_mark_within(const struct sim_mark *m, const struct page_scale *x);

bool page_mark_same_call(const struct sim_mark *a, const struct sim_mark *b);

/* Finds those who do anything in that time, in any variant. */
void page_cast_choose(struct page_cast *cast, const struct sim_summary *s);

/* Raises cast->lanes where more are needed. */
struct page_timeline page_timeline_of(const struct sim_result *r,
                                      struct page_cast *cast);
void page_timeline_done(struct page_timeline *t);

#endif
