/* Lints of routes that accept an Idempotency-Key. */
#ifndef BIDE_CONFIG_LINT_IDEMPOTENCY_LINTS_H
#define BIDE_CONFIG_LINT_IDEMPOTENCY_LINTS_H

#include "bide/config.h"

void bide__lint_idempotency(const bide_config *config, bide_diagnostics *notes);

#endif
