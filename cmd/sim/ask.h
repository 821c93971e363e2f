/* bide sim: the request, from flags and operands. */
#ifndef BIDE_CMD_SIM_ASK_H
#define BIDE_CMD_SIM_ASK_H

#include "cmd/common/policy_choice.h"
#include "sim/study/subject.h"

enum { MOST_ASSERTS = 32, MOST_NAMED = 32, MOST_SUBJECTS = 16 };

/* Threads: owned. */
struct sim_ask {
    struct policy_choice policy;
    uint32_t replications; /* 0: a sensible number */
    uint32_t threads;      /* 0: one for each core */
    int64_t duration_ns;   /* 0: the scenario's */
    uint32_t row;          /* of the selftest; 0: all */
    bool list, compare, json, quiet, no_progress;
    const char *print, *csv, *html, *svg, *metric, *loads, *triggers;
    const char *sweeps[2], *asserts[MOST_ASSERTS], *variants[MOST_NAMED];
    uint32_t n_sweeps, n_asserts, n_variants;
    char *command; /* the line that reproduces the result */

    struct sim_subject subjects[MOST_SUBJECTS];
    uint32_t n_subjects;
    struct policy_choice compared[MOST_NAMED]; /* owns the policies that
                                                * are compared */
    uint32_t n_compared;
};

/* The command line without what does not change the result; or NULL. The
 * caller frees it. */
char *sim_command_line(int argc, char **argv);

#endif
