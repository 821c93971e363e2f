/* Reads `store:`: a URL, or a map with one in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/field/read.h"
#include "config/field/rows.h"
#include "config/policy/policy_file.h"
#include "config/store/conf.h"

static bool begins(const char *text, const char *with)
{
    size_t n = strlen(with);
    return strncmp(text, with, n) == 0 && text[n] != '\0';
}

static bool fits_url(const struct bide__node *text)
{
    static const char *const schemes[] = { "sqlite:",       "redis://",
                                           "redis+unix://", "postgres://",
                                           "postgresql://", NULL };
    for (const char *const *s = schemes; *s; s++)
        if (begins(text->text, *s))
            return true;
    return strcmp(text->text, "memory") == 0;
}

static const char *const durabilities[] = { "strict", "relaxed", NULL };

#define S struct bide__store_settings
static const struct bide__field store_fields[] = {
    { "url", AT(url), TAKES_TEXT(BIDE__STORE_URL_EXPECTED), .fits = fits_url,
      .pattern = BIDE__STORE_URL_PATTERN, .fixed = true,
      .fallback = "a SQLite file beside this one, named after it; under "
                  "systemd in `$STATE_DIRECTORY`",
      .hint = "write a local file, as in `sqlite:/var/lib/bide/keys.db`",
      .help = "Where records are kept." },
    { "durability", AT(relaxed),
      TAKES_EITHER(durabilities, "strict or relaxed"), .fixed = true,
      .help = "`relaxed` accepts a server that may lose what it has "
              "acknowledged." },
    { "limit", AT(limit_bytes),
      TAKES_SIZE_OR("none", MiB, "a size from 1MiB"), .fixed = true,
      .help = "All records together. A caller may have as much as is left for "
              "the others; over it, new keys are refused, and nothing that is "
              "kept is dropped." },
    { "timeout", AT(timeout_ns), TAKES_DURATION_FROM(1, ms, 60, s),
      .fixed = true,
      .help = "How long a request waits for the store; then it is down for "
              "everybody until it has answered again." },
    LAST
};
#undef S

static const struct bide__store_settings defaults = BIDE__STORE_SETTINGS_INIT;

const struct bide__table bide__store_table = {
    store_fields, .size = sizeof(struct bide__store_settings), .init = &defaults
};

/* ===== the default ===== */

/* Without .yaml and the like. */
static size_t stem(const char *name)
{
    static const char *const ends[] = { ".yaml", ".yml", ".json", NULL };
    size_t len = strlen(name);
    for (const char *const *e = ends; *e; e++) {
        size_t n = strlen(*e);
        if (len > n && strcmp(name + len - n, *e) == 0)
            return len - n;
    }
    return len;
}

/* "sqlite:" directory "/" name ".db" */
static const char *default_url(struct bide__load *load)
{
    const char *name = load->tree->name;
    const char *state = getenv("STATE_DIRECTORY"); /* a list, with colons */
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    size_t state_len = state ? strcspn(state, ":") : 0;
    size_t dir_len = state_len ? state_len : slash ? (size_t)(slash - name) : 0;
    const char *dir = state_len ? state : name;
    bool in_root = slash == name && !state_len;
    if (strcmp(base, "-") == 0 || base[0] == '<')
        base = "bide"; /* standard input */
    size_t base_len = stem(base);
    size_t size = dir_len + base_len + sizeof "sqlite:/.db";
    char *url = bide__load_alloc(load, size);
    if (!url)
        return NULL;
    snprintf(url, size, "sqlite:%.*s%s%.*s.db", (int)dir_len, dir,
             dir_len > 0 || in_root ? "/" : "", (int)base_len, base);
    return url;
}

/* ===== reading ===== */

static void read_url(struct bide__load *load, const struct bide__node *key,
                     const struct bide__node *node,
                     struct bide__store_settings *to)
{
    struct bide__field whole = store_fields[0]; /* `store`, not `url` */
    whole.key = "store";
    if (!bide__is_text(node))
        bide__wrong_field(load, &whole, key, node,
                          BIDE__STORE_URL_EXPECTED ", or a map with `url`",
                          whole.hint);
    else
        bide__read_field(load, &whole, key, node, to);
}

void bide__load_store(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node)
{
    struct bide__store_settings *to = bide__load_alloc(load, sizeof *to);
    if (!to)
        return;
    *to = defaults;
    to->stated = node != NULL;
    load->config->store = to;
    if (node && node->kind == BIDE__MAP)
        bide__read_fields(load, &bide__store_table, key, node, to);
    else if (node)
        read_url(load, key, node, to);
    if (to->limit_bytes > INT64_MAX) /* none */
        to->limit_bytes = INT64_MAX;
    if (!to->url)
        to->url = default_url(load);
}

const struct bide__store_settings *bide__config_store(const bide_config *config)
{
    return config->store;
}
