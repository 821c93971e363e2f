/* Lints of the section of the worker. */
#ifndef BIDE_CONFIG_LINT_WORKER_LINTS_H
#define BIDE_CONFIG_LINT_WORKER_LINTS_H

#include "bide/config.h"
#include "bide/policy.h"

void bide__lint_worker(const bide_config *config, bide_diagnostics *notes);

/* What is risky about a policy for a worker, each time with the code of the lint and
 * what to change; for the lints, and for a worker that starts. */
typedef void bide__worker_found(void *arg, const char *code, const char *found,
                                const char *change);
void bide__worker_policy(const bide_policy_conf *policy, bide__worker_found *fn,
                         void *arg);

#endif
