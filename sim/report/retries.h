/* Sections: retries, breakers and budgets, and waits. */
#ifndef BIDE_SIM_REPORT_RETRIES_H
#define BIDE_SIM_REPORT_RETRIES_H

struct page;

void page_retries(struct page *p);
void page_states(struct page *p); /* breakers, budgets, latency */
void page_waits(struct page *p);

#endif
