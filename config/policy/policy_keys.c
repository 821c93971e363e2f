/* policy_keys.c: one key of a policy and what it is given.
 *
 * Which keys there are is the table of options' to say; this file finds the
 * row, sets the field, and where that fails, says what would have been right.
 */
#include <string.h>

#include "config/field/option_value.h"
#include "config/field/read.h"
#include "config/policy/load.h"
#include "config/policy/policy_parts.h"

/* ===== what an option is given ===== */

/* `after: p95`, which says two things in one. */
static bool set_percentile(struct bide__load *load,
                           struct bide__policy_entry *entry,
                           struct bide__node *node)
{
    const bide_option *quantile = bide__option_find("hedge.quantile", 14);

    if (bide__parse_percentile(node->text, node->len) < 0)
        return false;
    if (bide__option_set(&entry->conf, "hedge.after", node->text, node->len) <
        0)
        bide__mistake(load, node, "out-of-range", NULL,
                      "%s is out of range: a percentile from p50 to p99.9",
                      bide__node_found(load->tree, node));
    entry->set_by[bide__option_index(quantile)] = node;
    return true;
}

static void set_option(struct bide__load *load,
                       struct bide__policy_entry *entry, const bide_option *o,
                       const struct bide__node *key, struct bide__node *node)
{
    struct bide__field f = bide__option_field(o);

    if (node->kind == BIDE__SCALAR && !bide__node_empty(node)) {
        entry->set_by[bide__option_index(o)] = node;
        if (strcmp(o->key, "hedge.after") == 0 &&
            set_percentile(load, entry, node))
            return;
    }
    bide__read_value(load, &f, key, node, &entry->conf);
}

/* ===== keys ===== */

enum { MAX_KEYS = 64 };

/* The keys at the top of a policy (group NULL), or of a group of options. */
static void list_keys(const char *group, const char **known,
                      char names[MAX_KEYS][32])
{
    static const char *const others[] = { "extends", "preset",   "retry_on",
                                          "rules",   "problems", "service" };
    size_t n_options, n = 0, skip = group ? strlen(group) + 1 : 0;
    const bide_option *options = bide_policy_options(&n_options);

    for (size_t i = 0; i < n_options && n + 7 < MAX_KEYS; i++) {
        const char *key = options[i].key;
        size_t len;

        if (group &&
            (strncmp(key, group, skip - 1) != 0 || key[skip - 1] != '.'))
            continue;
        key += skip;
        len = strcspn(key, ".");
        if (n > 0 && strlen(names[n - 1]) == len &&
            strncmp(names[n - 1], key, len) == 0)
            continue;
        memcpy(names[n], key, len);
        names[n][len] = '\0';
        known[n] = names[n];
        n++;
    }
    for (size_t i = 0; !group && i < sizeof others / sizeof others[0]; i++)
        known[n++] = others[i];
    known[n] = NULL;
}

/* What the peers call it, or a key that stands a level too high. */
static const char *other_name(struct bide__load *load,
                              const struct bide__node *key, const char *group)
{
    static const char *const rows[][2] = {
        { "retries", "`attempts` counts the first try as well: 3 retries are "
                     "`attempts: 4`" },
        { "max_retries", "`attempts` counts the first try as well: 3 retries "
                         "are `attempts: 4`" },
        { "max_attempts", "did you mean `attempts`?" },
        { "timeout", "did you mean `attempt_timeout` (one attempt) or "
                     "`deadline` (the whole call)?" },
        { "initial", "did you mean `base`?" },
        { "multiplier", "did you mean `factor`?" },
        { "max", "did you mean `cap`?" },
        { "throttled_base", "write `backoff_throttled: { base: ... }`" },
    };
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++) {
        const char *dot = strchr(options[i].key, '.');

        if (dot && !group && bide__node_is(key, dot + 1))
            return bide__diag_text(load->notes,
                                   "`%s` belongs to `%.*s`, as in "
                                   "`%.*s: { %s: ... }`",
                                   dot + 1, (int)(dot - options[i].key),
                                   options[i].key, (int)(dot - options[i].key),
                                   options[i].key, dot + 1);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (bide__node_is(key, rows[i][0]) && (group == NULL) == (i < 4))
            return rows[i][1];
    return NULL;
}

static void unknown(struct bide__load *load, const struct bide__node *key,
                    const char *group)
{
    const char *known[MAX_KEYS];
    char names[MAX_KEYS][32];

    list_keys(group, known, names);
    bide__unknown_key(load, key, known, other_name(load, key, group));
}

static const bide_option *find_member(const char *group,
                                      const struct bide__node *key)
{
    char full[80];
    size_t n = strlen(group);

    if (n + 1 + key->len >= sizeof full || memchr(key->text, '\0', key->len))
        return NULL;
    memcpy(full, group, n);
    full[n] = '.';
    memcpy(full + n + 1, key->text, key->len);
    return bide__option_find(full, n + 1 + key->len);
}

static bool is_group(const struct bide__node *key)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        if (key->len < strlen(options[i].key) &&
            memcmp(options[i].key, key->text, key->len) == 0 &&
            options[i].key[key->len] == '.')
            return true;
    return false;
}

static const char *group_help(struct bide__load *load,
                              const struct bide__node *key,
                              const struct bide__node *node)
{
    if (!bide__node_is(node, "off") && !bide__node_is(node, "false") &&
        !bide__node_is(node, "none"))
        return NULL;
    if (bide__node_is(key, "hedge"))
        return "write `hedge: { max: 0 }`";
    if (bide__node_is(key, "breaker") || bide__node_is(key, "budget"))
        return bide__diag_text(load->notes, "write `%s: { kind: off }`",
                               key->text);
    return NULL;
}

/* `after: p95` says what the quantile is; to say it twice is once too often. */
static void check_hedge(struct bide__load *load, const struct bide__node *hedge)
{
    const struct bide__node *after = bide__map_get(hedge, "after", NULL);
    struct bide__node *quantile = bide__map_get(hedge, "quantile", NULL);

    if (!after || !quantile || after->kind != BIDE__SCALAR ||
        bide__parse_percentile(after->text, after->len) < 0)
        return;
    bide__mistake(load, quantile, "contradiction",
                  "take out `quantile`, or write `after: quantile`",
                  "`after` and `quantile` both say which quantile");
    bide__diag(load->notes, load->tree, after, BIDE_NOTE, "contradiction", NULL,
               "`after` is set here");
}

static void load_group(struct bide__load *load,
                       struct bide__policy_entry *entry,
                       const struct bide__node *key, struct bide__node *node)
{
    if (!bide__expect_map(load, key, node, group_help(load, key, node)))
        return;
    for (size_t i = 0; i < node->n; i++) {
        const bide_option *o = find_member(key->text, node->keys[i]);

        if (o)
            set_option(load, entry, o, node->keys[i], node->items[i]);
        else
            unknown(load, node->keys[i], key->text);
    }
    if (bide__node_is(key, "hedge"))
        check_hedge(load, node);
}

/* ===== retry_on, rules, problems: remembered here, made sense of there =====
 */

static void load_retry_on(struct bide__load *load,
                          struct bide__policy_entry *entry,
                          const struct bide__node *key, struct bide__node *node)
{
    static const char *const known[] = { "status", "errors", "grpc", NULL };
    struct bide__node **const lists[] = { &entry->retry_status,
                                          &entry->retry_errors,
                                          &entry->retry_grpc };

    if (!bide__expect_map(load, key, node,
                          "write `retry_on: { status: [502, 503] }`"))
        return;
    entry->retry_on = node;
    for (size_t i = 0; i < node->n; i++) {
        size_t k = 0;

        while (known[k] && !bide__node_is(node->keys[i], known[k]))
            k++;
        if (known[k])
            *lists[k] = node->items[i];
        else
            bide__unknown_key(load, node->keys[i], known, NULL);
    }
}

static bool load_special(struct bide__load *load,
                         struct bide__policy_entry *entry,
                         const struct bide__node *key, struct bide__node *node)
{
    if (bide__node_is(key, "retry_on"))
        load_retry_on(load, entry, key, node);
    else if (bide__node_is(key, "rules"))
        entry->rules = node;
    else if (bide__node_is(key, "problems"))
        entry->problems = node;
    else if (bide__node_is(key, "service"))
        bide__load_service(load, entry, key, node);
    else
        return bide__node_is(key, "extends") || bide__node_is(key, "preset");
    return true;
}

void bide__load_key(struct bide__load *load, struct bide__policy_entry *entry,
                    const struct bide__node *key, struct bide__node *node)
{
    const bide_option *o =
        memchr(key->text, '\0', key->len) || memchr(key->text, '.', key->len)
            ? NULL
            : bide__option_find(key->text, key->len);

    if (o)
        set_option(load, entry, o, key, node);
    else if (load_special(load, entry, key, node))
        return;
    else if (is_group(key))
        load_group(load, entry, key, node);
    else
        unknown(load, key, NULL);
}
