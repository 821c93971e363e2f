/* config/store/conf.h: `store:` at the top level of a policy file: where records
 * of operations are kept.
 *
 *   store: redis://127.0.0.1:6379
 *
 *   store: { url: "sqlite:/var/lib/shop/keys.db", limit: 4GiB, timeout: 250ms }
 *
 * Without it, a SQLite file beside the policy file, named after it; under systemd
 * in $STATE_DIRECTORY. Programs and `bide store` resolve it here, so that they
 * mean the same file. */
#ifndef BIDE_CONFIG_STORE_CONF_H
#define BIDE_CONFIG_STORE_CONF_H

#include <stdbool.h>
#include <stdint.h>

#include "bide/config.h"

struct bide__load;
struct bide__node;

/* Threads: immutable; lives as long as the config. */
struct bide__store_settings {
    const char *url;      /* "memory", "sqlite:PATH", ...; the file's default */
    bool relaxed;         /* `durability: relaxed`; false */
    uint64_t limit_bytes; /* `limit`; 1MiB and more; 1GiB */
    int64_t timeout_ns;   /* `timeout`; 1ms .. 60s; 250ms */
    bool stated;          /* there is a `store:` */
};

#define BIDE__STORE_SETTINGS_INIT                                              \
    {                                                                          \
        NULL, false, UINT64_C(1) << 30, INT64_C(250000000), false              \
    }

#define BIDE__STORE_URL_EXPECTED                                               \
    "memory, sqlite:PATH, redis://HOST:PORT or postgresql://HOST/DATABASE"
#define BIDE__STORE_URL_PATTERN                                                \
    "^(memory|sqlite:.+|(redis(\\+unix)?|postgres(ql)?)://.*)$"

extern const struct bide__table bide__store_table;

/* Reads the section; `node` is NULL if there is none. */
void bide__load_store(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node);

/* What the file says, or the default for it; never NULL. */
const struct bide__store_settings *bide__config_store(const bide_config *config);

#endif
