/* The importer of Istio resources: where requests go. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_ISTIO_MATCH_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_ISTIO_MATCH_H

#include "config/translate/import_istio.h"

/* Routes of the sidecar for a route: one for each of its hosts and matches, to
 * the servers of `targets`. `match` may be NULL. */
void bide__istio_routes(struct bide__import *im, const struct bide__istio *is,
                        const struct bide__node *match,
                        const struct bide__istio_target *targets,
                        size_t policy);

#endif
