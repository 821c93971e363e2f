/* Reads `fleet:`: where the fleet meets, and its name. */
#include <string.h>

#include "config/field/read.h"
#include "config/field/rows.h"
#include "config/fleet/conf.h"
#include "config/policy/policy_file.h"

static bool begins(const char *text, const char *with)
{
    size_t n = strlen(with);
    return strncmp(text, with, n) == 0 && text[n] != '\0';
}

static bool fits_store(const struct bide__node *text)
{
    return begins(text->text, "redis://") ||
           begins(text->text, "redis+unix:///") ||
           begins(text->text, "unix:/");
}

static bool fits_name(const struct bide__node *text)
{
    size_t n = strspn(text->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789._-");
    return n >= 1 && n <= 64 && text->text[n] == '\0';
}

#define S struct bide__fleet_settings
static const struct bide__field fleet_fields[] = {
    { "store", AT(store),
      TAKES_TEXT("redis://HOST:PORT or redis+unix:///PATH"),
      .fits = fits_store, .pattern = "^(redis://|redis\\+unix:///|unix:/).+$",
      .required = true, .fixed = true,
      .hint = "as in `redis://127.0.0.1:6379`; for Redis over TLS, let a tunnel "
              "on this machine speak it",
      .help = "The Redis that all instances share, of version 5 or later. It "
              "may be away at any time." },
    { "name", AT(name),
      TAKES_TEXT("1 to 64 letters, digits, or one of . _ -"),
      .fits = fits_name, .pattern = "^[A-Za-z0-9._-]{1,64}$",
      .required = true, .fixed = true,
      .help = "Of the fleet. Dependencies of the same name, in fleets of the "
              "same name, share a budget and a breaker." },
    { "instances", AT(instances), TAKES_COUNT(1, 100000), .fixed = true,
      .help = "How many instances there are, until Redis has said so: one that "
              "starts while Redis is away has this part of the floor." },
    { "timeout", AT(timeout_ns), TAKES_DURATION_FROM(10, ms, 900, ms),
      .fixed = true,
      .help = "How long Redis may take to answer; then this instance goes on "
              "alone. No call ever waits for it." },
    LAST
};
#undef S

static const struct bide__fleet_settings defaults = BIDE__FLEET_SETTINGS_INIT;

const struct bide__table bide__fleet_table = {
    fleet_fields, .size = sizeof(struct bide__fleet_settings), .init = &defaults
};

void bide__load_fleet(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node)
{
    struct bide__fleet_settings *to = bide__load_alloc(load, sizeof *to);
    if (!to)
        return;
    *to = defaults;
    if (bide__expect_map(load, key, node, NULL))
        bide__read_fields(load, &bide__fleet_table, key, node, to);
    load->config->fleet = to;
}

const struct bide__fleet_settings *bide__config_fleet(const bide_config *config)
{
    return config->fleet;
}
