/* Subjects: the models of a study, as they were read and as they are run.
 *
 *     struct sim_subject s;
 *     if (sim_subject_read(&s, "metastable", notes) < 0)
 *         bide_diagnostics_print(notes, stderr, false);
 *     sim_subject_compare(&s, policies, 2);   // in place of its variants
 *     struct sim_plan plan = { .model = s.draft, .replications = 10 };
 *     struct sim_summary *summary = sim_replicate(&plan);
 *     sim_subject_done(&s);
 *
 * Threads: owned. */
#ifndef BIDE_SIM_STUDY_SUBJECT_H
#define BIDE_SIM_STUDY_SUBJECT_H

#include "bide/config.h"
#include "sim/model/model.h"

struct sim_subject {
    const char *name;        /* as the user gave it */
    struct sim_model *read;  /* as it was read */
    struct sim_model *draft; /* a copy, which the study changes and runs */
};

/* Whether a name is that of a built-in scenario, or may be that of a file; and
 * whether it names a policy (a file, FILE:NAME, preset:NAME) rather than a
 * scenario. */
bool sim_subject_known(const char *name);
bool sim_subject_is_policy(const char *name);

/* Reads a scenario; a built-in one takes precedence over a file of the same
 * name. The errors are those of sim_scenario_read(). */
int sim_subject_read(struct sim_subject *ret, const char *name,
                     bide_diagnostics *notes);
void sim_subject_done(struct sim_subject *s);

/* Replaces the variants by policies: a variant for each, in which every fleet
 * uses it. Names and rules must outlive the subject. */
struct sim_subject_policy {
    const char *name;
    const bide_policy_conf *conf;
};
void sim_subject_compare(struct sim_subject *s,
                         const struct sim_subject_policy *policies, uint32_t n);

/* Keeps only the variants with these names, or all if n is 0. Returns NULL, or
 * the first name that no variant has: then all stay. */
const char *sim_subject_pick(struct sim_subject *s, const char *const *names,
                             uint32_t n);

/* The first policy that bide_policy_check() refuses, and its error; or NULL. */
const char *sim_subject_bad_policy(const struct sim_subject *s, int *ret_error);

#endif
