/* Addresses, URLs and networks in the `proxy:` section. New texts live in the
 * tree's arena. */
#ifndef BIDE_CONFIG_PROXY_ADDRESS_H
#define BIDE_CONFIG_PROXY_ADDRESS_H

#include "config/policy/load.h"
#include "config/proxy/conf.h"

/* Each of these fills in a member of a list (bide__field.item). Returns NULL on
 * success, or else what to write instead. `load` remembers if memory ran
 * out. */

/* 127.0.0.1:8080, [::1]:8080, *:8080, unix:/run/bide.sock */
const char *bide__read_address(struct bide__load *load,
                               const struct bide__node *node,
                               void *address);

/* https://host:8443 */
const char *bide__read_endpoint(struct bide__load *load,
                                const struct bide__node *node,
                                void *endpoint);

/* 10.0.0.0/8, ::1 */
const char *bide__read_net(struct bide__load *load,
                           const struct bide__node *node,
                           void *net);

#endif
