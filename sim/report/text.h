/* Words and numbers of the report. */
#ifndef BIDE_SIM_REPORT_TEXT_H
#define BIDE_SIM_REPORT_TEXT_H

#include <stdio.h>

#include "sim/study/summary.h"

enum page_unit {
    PAGE_RATE, /* a second */
    PAGE_COUNT,
    PAGE_SHARE, /* 0..1, as percent */
    PAGE_SECONDS,
    PAGE_TIMES /* so many times something */
};

enum { PAGE_TEXT = 48 }; /* room for a number and its unit */

/* Text from a file, with everything that HTML, XML or a terminal could misread
 * escaped or replaced; NULL writes nothing. */
void page_text(FILE *out, const char *text);

/* The same, with blanks for underscores: "breaker open". */
void page_words(FILE *out, const char *key);

/* Three digits and the unit: "1.23 k/s", "412 ms", "99.9 %", "never". */
const char *page_number(char text[PAGE_TEXT], enum page_unit unit, double x);

/* A mean with half of its confidence interval: "412 ± 3.1 ms". */
const char *page_plus_minus(char text[PAGE_TEXT], enum page_unit unit,
                            const struct sim_interval *i);

/* A duration in a sentence: "30 s", "1 min 30 s". */
const char *page_time(char text[PAGE_TEXT], double ns);

enum page_unit page_figure_unit(enum sim_figure f);

/* The name of a figure where there is room for words. */
const char *page_figure_words(enum sim_figure f);

#endif
