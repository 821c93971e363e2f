/* Joining a fleet, and telling about it. */
#include "cmd/common/fleet.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/url.h"

static void say(void *ctx, bool joined, const char *why)
{
    if (joined)
        fprintf(stderr, "%s: fleet: joined\n", (const char *)ctx);
    else
        fprintf(stderr,
                "%s: fleet: alone, with its own part of the budget: %s\n",
                (const char *)ctx, why);
}

bool fleet_flag_read(struct fleet_flag *to, const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *slash = strrchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : 0;
    size_t name = slash ? strspn(slash + 1, letters) : 0;
    char why[REDIS_WHY];
    struct redis_url url;

    if (name < 1 || name > 64 || slash[1 + name] != '\0' ||
        len >= sizeof to->store)
        return false;
    memcpy(to->store, text, len);
    to->store[len] = '\0';
    to->settings = (struct bide__fleet_settings)BIDE__FLEET_SETTINGS_INIT;
    to->settings.store = to->store;
    to->settings.name = slash + 1;
    return redis_url_read(&url, to->store, why) == 0;
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
