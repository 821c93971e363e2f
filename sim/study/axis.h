/* One axis of a sweep: a setting and its values.
 *
 *     struct sim_axis a;
 *     struct sim_fuss fuss;
 *     sim_axis_parse(&a, "backoff.base=50ms..2s:6", &fuss);   // 0
 *     puts(a.values[1]);                                      // 105ms
 *     sim_axis_done(&a);
 *
 * `KEY=a..b` means five values from a to b, `KEY=a..b:n` means n: by equal
 * factors if a and b are far apart (durations and rates ten times, other
 * numbers a hundred times), by equal steps otherwise; each is rounded to three
 * digits, so that the printed values are those that were run. `KEY=v1,v2,v3`
 * lists the values. Threads: owned. */
#ifndef BIDE_SIM_STUDY_AXIS_H
#define BIDE_SIM_STUDY_AXIS_H

#include <stddef.h>
#include <stdint.h>

/* What is wrong with a text that the user typed, and where in it. */
struct sim_fuss {
    size_t at, len;    /* bytes of the text */
    char message[160]; /* what was found, and what was expected */
};

void sim_fuss_set(struct sim_fuss *f, size_t at, size_t len, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));

struct sim_axis {
    char *key;
    char **values;
    uint32_t n;
};

enum { SIM_AXIS_MOST = 200 };

/* 0, or -1 and *ret_fuss. */
int sim_axis_parse(struct sim_axis *ret, const char *text,
                   struct sim_fuss *ret_fuss);
void sim_axis_done(struct sim_axis *a);

#endif
