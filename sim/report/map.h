/* Sections: what --sweep and `bide sim stability` found. */
#ifndef BIDE_SIM_REPORT_MAP_H
#define BIDE_SIM_REPORT_MAP_H

struct page;

void page_grids(struct page *p);
void page_maps(struct page *p);

#endif
