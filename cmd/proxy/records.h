/* cmd/proxy/records.h: where the sidecar remembers Idempotency-Keys, for people:
 * opening it, and saying so.
 *
 *     char err[256];
 *     if (!records_open(config, conf, hooks, err, sizeof err))
 *         die(err);
 *     records_say(config, conf);
 */
#ifndef BIDE_CMD_PROXY_RECORDS_H
#define BIDE_CMD_PROXY_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/config.h"

struct bide__proxy_conf;
struct proxy_hooks;

/* Opens the store, if a route accepts keys, into hooks->store. False, and why,
 * with the line to write. */
bool records_open(const bide_config *config,
                  const struct bide__proxy_conf *conf,
                  struct proxy_hooks *hooks, char *err, size_t err_size);

/* "idempotency records in shop.db (sqlite, kept 24h)" */
void records_say(const bide_config *config,
                 const struct bide__proxy_conf *conf);

/* The store went down, or is back: says so. For proxy_hooks. */
void records_changed(void *ctx, bool up, const char *why);

#endif
