/* Sections: fleets and single clients. */
#ifndef BIDE_SIM_REPORT_FLEETS_H
#define BIDE_SIM_REPORT_FLEETS_H

struct page;

void page_fleets(struct page *p);
void page_clients(struct page *p);

#endif
