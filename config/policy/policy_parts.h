/* The parts of a policy: its keys (policy_keys.c), and what is known of its service
 * (service.c). */
#ifndef BIDE_CONFIG_POLICY_POLICY_PARTS_H
#define BIDE_CONFIG_POLICY_POLICY_PARTS_H

#include "config/doc/tree.h"
#include "config/policy/policy_file.h"

struct bide__load;

void bide__load_key(struct bide__load *load, struct bide__policy_entry *entry,
                    const struct bide__node *key, struct bide__node *node);
void bide__load_service(struct bide__load *load,
                        struct bide__policy_entry *entry,
                        const struct bide__node *key,
                        const struct bide__node *node);

#endif
