/* config/fleet/conf.h: `fleet:` at the top level of a policy file: with whom
 * budgets and breakers are shared.
 *
 *   fleet: { store: "redis://127.0.0.1:6379", name: shop }
 *
 * Without it every process has its own. */
#ifndef BIDE_CONFIG_FLEET_CONF_H
#define BIDE_CONFIG_FLEET_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/config.h"

struct bide__load;
struct bide__node;

/* Threads: immutable; lives as long as the config. */
struct bide__fleet_settings {
    const char *store;  /* redis://HOST:PORT or redis+unix:///PATH */
    const char *name;   /* of the fleet */
    uint32_t instances; /* until Redis has said so; 1 .. 100000; 1 */
    int64_t timeout_ns; /* Redis is slow if it takes longer; 10ms .. 900ms;
                           250ms */
};

#define BIDE__FLEET_SETTINGS_INIT { NULL, NULL, 1, INT64_C(250000000) }

extern const struct bide__table bide__fleet_table;

/* Reads the section. */
void bide__load_fleet(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node);

/* What the file says; NULL: there is no `fleet:`. */
const struct bide__fleet_settings *bide__config_fleet(const bide_config *config);

#endif
