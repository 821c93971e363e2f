/* One side of a sweep: a setting and the values it is given.
 *
 *     struct sim_axis a;
 *     struct sim_fuss fuss;
 *     sim_axis_parse(&a, "backoff.base=50ms..2s:6", &fuss);   // 0
 *     puts(a.values[1]);                                      // 105ms
 *     sim_axis_done(&a);
 *
 * `KEY=a..b` is five values, `KEY=a..b:n` is n, from a to b: by equal factors
 * if they are far apart (durations and rates ten times, other numbers a hundred
 * times), by equal steps otherwise; each to three digits, so that what is
 * printed is what was run. `KEY=v1,v2,v3` is just these. Threads: owned. */
#ifndef BIDE_SIM_STUDY_AXIS_H
#define BIDE_SIM_STUDY_AXIS_H

#include <stddef.h>
#include <stdint.h>

/* What is wrong with a text that somebody typed, and where in it. */
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
