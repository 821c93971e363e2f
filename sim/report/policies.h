/* Sections: policies, and how to read the page. */
#ifndef BIDE_SIM_REPORT_POLICIES_H
#define BIDE_SIM_REPORT_POLICIES_H

struct page;

void page_policies(struct page *p);
void page_notes(struct page *p);

#endif
