/* Sections: the model in words, and its figures as a table. */
#ifndef BIDE_SIM_REPORT_TABLE_H
#define BIDE_SIM_REPORT_TABLE_H

#include <stdbool.h>

#include "sim/study/summary.h"

struct page;

void page_model(struct page *p);
void page_table(struct page *p);

/* Whether any variant has a value for a figure; and whether that is worth a
 * line. */
bool page_figure_known(const struct sim_summary *s, enum sim_figure f);
bool page_figure_shown(const struct sim_summary *s, enum sim_figure f);

/* Begins a table that has a column for each variant, with their names. */
void page_table_open(struct page *p, const char *classes);

#endif
