/* bide run --key: what invocations with one key share. */
#ifndef BIDE_CMD_RUN_STATE_H
#define BIDE_CMD_RUN_STATE_H

#include <stddef.h>

#include "bide/dep.h"

/* Makes a dependency whose state lies in the file of that key. 0, or what was
 * in the way, told in `problem`. */
int state_open(bide_dep **ret_dep, const char *key,
               const bide_policy_conf *conf, char *problem, size_t size);

#endif
