/* A few figures of a variant, for a quick look: in green what is good, in red
 * what is bad, in amber what is neither. */
#ifndef BIDE_SIM_REPORT_VERDICT_H
#define BIDE_SIM_REPORT_VERDICT_H

#include <stdint.h>

struct page;

void page_verdict(struct page *p, uint32_t v);

#endif
