/* The two halves of the gRPC exporter. */
#ifndef BIDE_CONFIG_TRANSLATE_EXPORT_GRPC_H
#define BIDE_CONFIG_TRANSLATE_EXPORT_GRPC_H

#include "config/translate/translate.h"

/* Writes the budget as retryThrottling, if there is one and anything to limit.
 */
void bide__grpc_tokens(struct bide__translation *t, struct bide__json *j,
                       bool any_policy);

#endif
