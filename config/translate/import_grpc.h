/* The two halves of the importer of gRPC service configs. */
#ifndef BIDE_CONFIG_TRANSLATE_IMPORT_GRPC_H
#define BIDE_CONFIG_TRANSLATE_IMPORT_GRPC_H

#include "config/translate/import.h"

/* One methodConfig while it is being read. */
struct bide__grpc_method {
    struct bide__named_policy p;
    const struct bide__node *retry, *hedging; /* their keys; or NULL */
    const struct bide__node *names;           /* or NULL */
    const struct bide__node *base_node;
    bool attempts, base, cap, factor, codes; /* were given */
    bool waits;                              /* for a connection */
};

/* Read `retryPolicy` and `hedgingPolicy` of a struct bide__grpc_method. */
void bide__grpc_retry(struct bide__import *im, void *method,
                      struct bide__node *key, struct bide__node *value);
void bide__grpc_hedging(struct bide__import *im, void *method,
                        struct bide__node *key, struct bide__node *value);

#endif
