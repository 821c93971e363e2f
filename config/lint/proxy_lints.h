/* Lints of the section of the sidecar. */
#ifndef BIDE_CONFIG_LINT_PROXY_LINTS_H
#define BIDE_CONFIG_LINT_PROXY_LINTS_H

#include <stdbool.h>

#include "bide/config.h"

struct bide__proxy_address;

/* Whether only this machine reaches it. */
bool bide__is_near(const struct bide__proxy_address *a);

/* Those that look at the section of the sidecar. */
void bide__lint_proxy(const bide_config *config, bide_diagnostics *notes);
void bide__lint_routes(const bide_config *config, bide_diagnostics *notes);

#endif
