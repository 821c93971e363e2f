/* base/module.h: parts of bide that bring large libraries along (OpenSSL,
 * libpq), loaded only where they are asked for.
 *
 *     char why[256];
 *     const struct net_tls_module *tls =
 *         bide__module("bide-tls.so", "net_tls_module", why, sizeof why);
 *     if (!tls)
 *         die(why);
 *
 * A module is looked for in the directory that the environment's BIDE_MODULES
 * names (not in a program that has gained rights by being executed), beside the
 * program, and where bide was installed. It stays loaded. */
#ifndef BIDE_BASE_MODULE_H
#define BIDE_BASE_MODULE_H

#include <stddef.h>

/* What a module exports under a name. NULL: `why` says why. */
const void *bide__module(const char *file, const char *symbol, char *why,
                         size_t why_size);

#endif
