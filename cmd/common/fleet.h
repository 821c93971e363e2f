/* cmd/common/fleet.h: the fleet that a program is in, with messages for people.
 *
 *     bide_fleet *fleet;
 *     if (!fleet_open(&fleet, bide__config_fleet(config), "bide proxy", err,
 *                     sizeof err))
 *         return fail(err);
 *     bide_fleet_attach(fleet, dep);    // NULL, without `fleet:`: does nothing
 *     bide_fleet_leave(fleet);
 *
 * A program says on standard error when it has joined, and when it is alone and
 * why: at each change, not at each attempt. */
#ifndef BIDE_CMD_COMMON_FLEET_H
#define BIDE_CMD_COMMON_FLEET_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/fleet.h"
#include "config/fleet/conf.h"

/* Joins, if there are settings. `program` begins the messages, and outlives it;
 * NULL: says nothing. False and why. */
bool fleet_open(bide_fleet **ret, const struct bide__fleet_settings *settings,
                const char *program, char *err, size_t size);

#endif
