/* Joining a fleet, and telling about it. */
#include "cmd/common/fleet.h"

#include <stdio.h>

static void say(void *ctx, bool joined, const char *why)
{
    if (joined)
        fprintf(stderr, "%s: fleet: joined\n", (const char *)ctx);
    else
        fprintf(stderr,
                "%s: fleet: alone, with its own part of the budget: %s\n",
                (const char *)ctx, why);
}

bool fleet_open(bide_fleet **ret, const struct bide__fleet_settings *settings,
                const char *program, char *err, size_t size)
{
    bide_fleet_conf conf = BIDE_FLEET_CONF_INIT;
    char why[BIDE_FLEET_WHY];

    *ret = NULL;
    if (!settings)
        return true;
    conf.store = settings->store;
    conf.name = settings->name;
    conf.instances = settings->instances;
    conf.timeout_ns = settings->timeout_ns;
    if (program) {
        conf.on_change = say;
        conf.ctx = (void *)(size_t)program;
    }
    if (bide_fleet_join(ret, &conf, why) == 0)
        return true;
    snprintf(err, size, "fleet.%s", why);
    return false;
}
