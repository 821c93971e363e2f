/* Lints of the section of the worker. */
#ifndef BIDE_CONFIG_LINT_WORKER_LINTS_H
#define BIDE_CONFIG_LINT_WORKER_LINTS_H

#include "bide/config.h"

void bide__lint_worker(const bide_config *config, bide_diagnostics *notes);

#endif
