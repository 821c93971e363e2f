/* What happened, a row each, for people or machines. */
#ifndef BIDE_REPLAY_PRINT_H
#define BIDE_REPLAY_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "replay/driver.h"

/* Threads: owned. */
struct replay_printer {
    FILE *out;
    bool json;
    bool calls; /* a row per call, not per decision */
    int width;  /* of the lines of prose */
    int name_width;
    const char *wrong_start; /* after BIDE_EINVAL: why it makes no sense */
    uint64_t rows;
};

/* Prints a row; `name` is the call's. */
void replay_print_row(struct replay_printer *p, const struct replay *r,
                      const struct replay_row *row, const char *name);
void replay_print_json(struct replay_printer *p, const struct replay *r,
                       const struct replay_row *row, const char *name);
const char *replay_cause_name(enum replay_cause cause);
const char *replay_mode_name(bide_breaker_mode mode);

#endif
