/* cmd/proxy/taken.h: addresses that are taken when the sidecar starts, most often by
 * the one before it, which is ending: `kill %1; bide proxy -c FILE &`.
 *
 *     taken_wait(conf);    // up to 3 seconds; says that it waits
 *
 * After that the addresses are opened as ever, and what is still taken is an error. */
#ifndef BIDE_CMD_PROXY_TAKEN_H
#define BIDE_CMD_PROXY_TAKEN_H

#include "config/proxy/conf.h"

/* Returns when proxy.listen and proxy.admin can be opened, as far as others have
 * them; or when it has waited long enough, or a signal is pending. */
void taken_wait(const struct bide__proxy_conf *conf);

#endif
