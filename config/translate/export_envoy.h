/* The two halves of the Envoy exporter. */
#ifndef BIDE_CONFIG_TRANSLATE_EXPORT_ENVOY_H
#define BIDE_CONFIG_TRANSLATE_EXPORT_ENVOY_H

#include "config/translate/translate.h"

/* Writes the breaker as outlier_detection of a cluster, if there is one. */
void bide__envoy_outliers(struct bide__translation *t, struct bide__json *j);

#endif
