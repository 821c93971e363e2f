/* bide demo: the figures, and a sentence that sums them up. */
#ifndef BIDE_CMD_DEMO_RESULT_H
#define BIDE_CMD_DEMO_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/demo/plan.h"

struct demo_fleet;

/* The figures of one fleet. Threads: owned. */
struct demo_result {
    uint64_t calls, good, failed; /* begun; ended well; ended otherwise */
    uint64_t sent;                /* attempts */
    double seconds;               /* of the run so far */
    double goodput;               /* calls a second that succeeded */
    double usual;                 /* the same before the outage */
    double amplification;         /* attempts per call; 0: no calls */
    double peak;      /* requests a second at the origin, in the worst slot */
    double back_s;    /* from the end of the outage until calls succeed as
                         before; negative: they did not, */
    double watched_s; /* within this time; 0: the outage did not end */
};

/* Up to a time after the start, at most the end of the timetable. */
void demo_result(struct demo_result *ret, const struct demo_fleet *fleet,
                 int64_t until_ns);

/* Writes one sentence about what happened. */
void demo_seen(const struct demo_result r[DEMO_FLEETS], char *to, size_t size);

#endif
