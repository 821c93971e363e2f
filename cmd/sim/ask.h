/* bide sim: what was asked for, by flags and operands. */
#ifndef BIDE_CMD_SIM_ASK_H
#define BIDE_CMD_SIM_ASK_H

#include "cmd/common/policy_choice.h"
#include "sim/study/subject.h"

enum { MOST_ASSERTS = 32, MOST_NAMED = 32, MOST_SUBJECTS = 16 };

/* All that was asked for. Threads: owned. */
struct sim_ask {
    struct policy_choice policy;
    uint32_t replications; /* 0: as many as are sensible */
    uint32_t threads;      /* 0: one for each core */
    int64_t duration_ns;   /* 0: the scenario's */
    uint32_t row;          /* of the selftest; 0: all */
    bool list, compare, json, quiet, no_progress;
    const char *print, *csv, *html, *svg, *metric, *loads, *triggers;
    const char *sweeps[2], *asserts[MOST_ASSERTS], *variants[MOST_NAMED];
    uint32_t n_sweeps, n_asserts, n_variants;
    char *command; /* the line that gives the same again */

    struct sim_subject subjects[MOST_SUBJECTS];
    uint32_t n_subjects;
    struct policy_choice compared[MOST_NAMED]; /* the policies beside each
                                                * other; their memory */
    uint32_t n_compared;
};

/* The line without what changes nothing of the result; or NULL. To be freed. */
char *sim_command_line(int argc, char **argv);

#endif
