/* bide sim: a progress bar for long runs, and Ctrl-C. */
#ifndef BIDE_CMD_SIM_PROGRESS_H
#define BIDE_CMD_SIM_PROGRESS_H

#include "cmd/sim/ask.h"

/* Threads: shared, under the pool's lock. */
struct progress {
    bool shown; /* on a terminal, and wanted */
    double began_s, last_s;
    double from, size; /* the current part of the whole */
    uint64_t before;   /* events of the parts before it */
    uint64_t events;
    int width; /* of the longest line so far */
};

/* From now on Ctrl-C stops the run, and a second Ctrl-C the program. */
void progress_begin(struct progress *p, const struct sim_ask *ask);
bool progress_tell(void *self, double done, uint64_t events);

/* What follows is part n of `of`. */
void progress_part(struct progress *p, uint32_t n, uint32_t of);

/* Removes the bar; returns how long it took in seconds. */
double progress_end(struct progress *p);

/* Whether Ctrl-C was pressed; the exit code is then EXIT_INTERRUPTED. */
bool was_interrupted(void);
enum { EXIT_INTERRUPTED = 130 };

/* Prints how fast it was: only on a terminal, since it differs each time. */
void print_took(double took_s, uint64_t events);

#endif
