/* cmd/common/fleet.h: the fleet that a program is in, with messages for people.
 *
 *     bide_fleet *fleet;
 *     if (!fleet_open(&fleet, bide__config_fleet(config), "bide proxy", err,
 *                     sizeof err))
 *         return fail(err);
 *     bide_fleet_attach(fleet, dep);    // NULL, without `fleet:`: does nothing
 *     bide_fleet_leave(fleet);
 *
 * `--fleet URL/NAME` gives the settings as well: fleet_flag_read().
 *
 * A program says on standard error when it has joined, and when it is alone and
 * why: at each change, not at each attempt. */
#ifndef BIDE_CMD_COMMON_FLEET_H
#define BIDE_CMD_COMMON_FLEET_H

#include <stdbool.h>
#include <stddef.h>

#include "bide/fleet.h"
#include "config/fleet/conf.h"

#define FLEET_FLAG_EXPECTED                                                    \
    "URL/NAME, as in redis://127.0.0.1:6379/shop or "                          \
    "redis+unix:///run/redis.sock/shop"

/* The settings are of the text that was read, which must outlive them, and of
 * `store`: it is not to be copied. */
struct fleet_flag {
    struct bide__fleet_settings settings; /* .store NULL: none was given */
    char store[512];
};

/* Reads URL/NAME: what follows the last slash is the fleet's name. False: it is
 * none. */
bool fleet_flag_read(struct fleet_flag *to, const char *text);

/* Joins, if there are settings. `program` begins the messages, and outlives it;
 * NULL: says nothing. False and why. */
bool fleet_open(bide_fleet **ret, const struct bide__fleet_settings *settings,
                const char *program, char *err, size_t size);

#endif
