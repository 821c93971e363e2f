/* Reads and checks the `proxy:` section. */
#ifndef BIDE_CONFIG_PROXY_CHECK_H
#define BIDE_CONFIG_PROXY_CHECK_H

#include "config/doc/tree.h"

struct bide__load;

void bide__load_proxy(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node);

#endif
