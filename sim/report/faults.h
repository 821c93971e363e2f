/* The faults of a model: when, and in words. */
#ifndef BIDE_SIM_REPORT_FAULTS_H
#define BIDE_SIM_REPORT_FAULTS_H

#include <stdint.h>

#include "sim/report/text.h"

struct page;

struct page_band {
    double from_ns, to_ns;
    const struct sim_fault *fault;
};

/* The times at which a fault was active; at most `room`; returns how many. */
uint32_t page_bands(const struct sim_model *m, double end_ns,
                    struct page_band *bands, uint32_t room);

/* "stop", "5 times slower", "30 % of capacity". */
const char *page_fault_words(char text[PAGE_TEXT], const struct sim_fault *f);

/* All of them as a list of sentences. */
void page_faults_list(struct page *p);

#endif
