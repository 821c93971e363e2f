/* Where the sidecar remembers Idempotency-Keys, for people. */
#include "cmd/proxy/records.h"

#include <stdio.h>
#include <string.h>

#include "cmd/common/output.h"
#include "config/proxy/conf.h"
#include "config/store/conf.h"
#include "proxy/hooks.h"
#include "proxy/once/port.h"

bool records_open(const bide_config *config,
                  const struct bide__proxy_conf *conf,
                  struct proxy_hooks *hooks, char *err, size_t err_size)
{
    const struct bide__store_settings *settings = bide__config_store(config);
    char why[384];
    if (!once_is_used(conf))
        return true;
    hooks->store = once_store_open(settings, hooks, NULL, why, sizeof why);
    if (hooks->store)
        return true;
    snprintf(err, err_size, "%s%s", why,
             settings->stated ? ""
                              : "\n  help: name another place at the top level "
                                "of the file, as in `store: "
                                "sqlite:/var/lib/bide/keys.db`");
    return false;
}

/* How long, if all routes agree; otherwise the longest. */
static int64_t kept_ns(const struct bide__proxy_conf *conf, bool *ret_same)
{
    int64_t most = 0;
    *ret_same = true;
    for (size_t i = 0; i < conf->n_routes; i++) {
        const struct bide__proxy_idempotency *c = &conf->routes[i].idempotency;
        if (c->accept == BIDE__ACCEPT_OFF)
            continue;
        if (most != 0 && c->keep_ns != most)
            *ret_same = false;
        if (c->keep_ns > most)
            most = c->keep_ns;
    }
    return most;
}

void records_say(const bide_config *config,
                 const struct bide__proxy_conf *conf)
{
    const struct bide__store_settings *settings = bide__config_store(config);
    char place[512], kept[32];
    bool same;
    if (!once_is_used(conf))
        return;
    int kind = (int)strcspn(settings->url, ":");
    bool file = strncmp(settings->url, "sqlite:", 7) == 0;
    public_url(place, sizeof place, settings->url + (file ? 7 : 0));
    bide_format_duration(kept_ns(conf, &same), kept, sizeof kept);
    fprintf(stderr, "bide proxy: idempotency records in %s (%.*s, kept %s%s)\n",
            place,
            strcmp(settings->url, "memory") == 0 ? (int)strlen("not durable")
                                                 : kind,
            strcmp(settings->url, "memory") == 0 ? "not durable"
                                                 : settings->url,
            same ? "" : "up to ", kept);
}

void records_changed(void *ctx, bool up, const char *why)
{
    (void)ctx;
    if (up)
        fprintf(stderr, "bide proxy: the store of idempotency records is back\n");
    else
        fprintf(stderr,
                "bide proxy: the store of idempotency records is down: %s\n",
                why ? why : "it does not answer");
}
