/* Sections: load, and the work that came of it. */
#ifndef BIDE_SIM_REPORT_LOAD_H
#define BIDE_SIM_REPORT_LOAD_H

struct page;
struct page_row;

extern const struct page_row page_load_row;
void page_loads(struct page *p);
void page_work(struct page *p); /* goodput, work, queue */

#endif
