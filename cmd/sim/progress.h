/* bide sim: a bar while a run takes long, and Ctrl-C. */
#ifndef BIDE_CMD_SIM_PROGRESS_H
#define BIDE_CMD_SIM_PROGRESS_H

#include "cmd/sim/ask.h"

/* Threads: shared, by the pool's lock. */
struct progress {
    bool shown; /* on a terminal, and wanted */
    double began_s, last_s;
    double from, size; /* the part of all that is run now */
    uint64_t before;   /* events of the parts before it */
    uint64_t events;
    int width; /* of the longest line so far */
};

/* From here on Ctrl-C stops a run, and a second one the program. */
void progress_begin(struct progress *p, const struct sim_ask *ask);
bool progress_tell(void *self, double done, uint64_t events);

/* What is told from now on is part n of `of`. */
void progress_part(struct progress *p, uint32_t n, uint32_t of);

/* Takes the bar away; gives the seconds that it took. */
double progress_end(struct progress *p);

/* Whether Ctrl-C was pressed; the exit code is then EXIT_INTERRUPTED. */
bool was_interrupted(void);
enum { EXIT_INTERRUPTED = 130 };

/* How fast it went: only on a terminal, for it is not the same each time. */
void print_took(double took_s, uint64_t events);

#endif
