/* The importer of Istio resources: DestinationRule. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_ISTIO_RULE_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_ISTIO_RULE_H

#include "config/doc/tree.h"
#include "config/translate/import.h"

struct bide__istio;

/* Reads `spec` of a DestinationRule into the policies for its host, or into a
 * new one if there is none. */
void bide__istio_destination(struct bide__import *im, struct bide__istio *is,
                             const struct bide__node *spec);

#endif
