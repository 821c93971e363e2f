/* policy_file.c: named policies, what each extends, and their options.
 *
 * A policy is read after the one that it extends, so a chain of them is walked
 * to its end first and read on the way back, in a loop: chains may be long,
 * stacks are not. The table of options defines the keys, not this file. */
#include <string.h>

#include "config/doc/diag.h"
#include "config/policy/load.h"
#include "config/policy/policy_check.h"
#include "config/policy/policy_parts.h"
#include "config/policy/policy_rules.h"

enum { NEW, WAITING, READ };

enum { MAX_PRESETS = 63 };

/* ===== what a policy builds on ===== */

static void inherit(struct bide__policy_entry *entry,
                    const struct bide__policy_entry *from, size_t n_options)
{
    entry->conf = from->conf;
    entry->service = from->service;
    memcpy(entry->set_by, from->set_by, n_options * sizeof *entry->set_by);
    entry->retry_on = from->retry_on;
    entry->rules = from->rules;
    entry->problems = from->problems;
    entry->retry_status = from->retry_status;
    entry->retry_errors = from->retry_errors;
    entry->retry_grpc = from->retry_grpc;
}

static void start_from_preset(struct bide__load *load,
                              struct bide__policy_entry *entry)
{
    const char *known[MAX_PRESETS + 1];
    size_t n = 0;

    if (bide_policy_preset(&entry->conf, entry->preset->text) == 0 &&
        strlen(entry->preset->text) == entry->preset->len)
        return;
    while (n < MAX_PRESETS && bide_policy_preset_name(n)) {
        known[n] = bide_policy_preset_name(n);
        n++;
    }
    known[n] = NULL;
    bide__mistake(load, entry->preset, "unknown-preset",
                  bide__did_you_mean(load->notes, entry->preset->text, known),
                  "there is no preset %s",
                  bide__node_found(load->tree, entry->preset));
}

static void read_entry(struct bide__load *load,
                       struct bide__policy_entry *entry)
{
    size_t n_options;

    bide_policy_options(&n_options);
    entry->state = READ;
    entry->set_by = bide__load_alloc(load, n_options * sizeof *entry->set_by);
    if (!entry->set_by)
        return;
    entry->conf = (bide_policy_conf)BIDE_POLICY_CONF_INIT;
    entry->service = (struct bide__service)BIDE__SERVICE_INIT;
    if (entry->parent && entry->parent->set_by)
        inherit(entry, entry->parent, n_options);
    else if (entry->preset)
        start_from_preset(load, entry);
    for (size_t i = 0; entry->node && i < entry->node->n; i++)
        bide__load_key(load, entry, entry->node->keys[i],
                       entry->node->items[i]);
    bide__load_rules(load, entry);
    bide__check_policy(load, entry);
}

/* ===== all of them ===== */

/* The entry of a name; entries stand in the order of the map. */
static struct bide__policy_entry *entry_named(struct bide__load *load,
                                              const struct bide__node *name)
{
    long i = memchr(name->text, '\0', name->len)
                 ? -1
                 : bide__map_find(load->config->policies, name->text);

    return i < 0 ? NULL : &load->config->entries[i];
}

static void unknown_policy(struct bide__load *load,
                           const struct bide__node *name)
{
    bide_policy_conf conf;

    bide__mistake(load, name, "unknown-policy",
                  bide_policy_preset(&conf, name->text) == 0
                      ? bide__diag_text(load->notes,
                                        "`%s` is a preset: write `preset: %s`",
                                        name->text, name->text)
                      : bide__suggest_policy(load, name->text),
                  "there is no policy %s", bide__node_found(load->tree, name));
}

static void circle(struct bide__load *load, struct bide__policy_entry *last,
                   const struct bide__policy_entry *first)
{
    const char *path = bide__diag_text(load->notes, "`%s`", first->name);
    int shown = 0;

    for (const struct bide__policy_entry *e = first; path && e != last;) {
        e = e->parent;
        if (++shown > 8)
            continue;
        path = bide__diag_text(load->notes, shown == 8 ? "%s, ..." : "%s, `%s`",
                               path, e->name);
    }
    if (first == last)
        bide__mistake(load, last->extends, "extends-loop", NULL,
                      "`%s` extends itself", last->name);
    else
        bide__mistake(load, last->extends, "extends-loop",
                      "let one of them stand by itself",
                      "policies extend each other in a circle: %s, `%s`",
                      path ? path : "", first->name);
}

/* The entry that another extends, or NULL. */
static struct bide__policy_entry *parent_of(struct bide__load *load,
                                            struct bide__policy_entry *entry)
{
    struct bide__policy_entry *parent;

    if (!entry->extends)
        return NULL;
    parent = entry_named(load, entry->extends);
    if (!parent)
        unknown_policy(load, entry->extends);
    if (parent && parent->state == WAITING) {
        circle(load, entry, parent);
        return NULL;
    }
    return parent;
}

static void read_chain(struct bide__load *load,
                       struct bide__policy_entry *entry)
{
    struct bide__policy_entry *child = NULL;

    while (entry && entry->state == NEW) {
        struct bide__policy_entry *parent;

        entry->state = WAITING;
        entry->child = child;
        child = entry;
        parent = parent_of(load, entry);
        entry->parent = parent;
        entry = parent;
    }
    for (; child; child = child->child)
        read_entry(load, child);
}

/* The value of `extends` or `preset`, or NULL. */
static struct bide__node *name_in(struct bide__load *load,
                                  const struct bide__node *policy,
                                  const char *key_text)
{
    struct bide__node *key;
    struct bide__node *node = bide__map_get(policy, key_text, &key);

    if (!node || (node->kind == BIDE__SCALAR && !bide__node_empty(node)))
        return node;
    bide__mistake(load, bide__node_empty(node) ? key : node, "wrong-type", NULL,
                  "`%s`: expected the name of a %s; found %s", key_text,
                  strcmp(key_text, "preset") == 0 ? "preset" : "policy",
                  bide__node_found(load->tree, node));
    return NULL;
}

static void begin_entry(struct bide__load *load,
                        struct bide__policy_entry *entry,
                        struct bide__node *key, struct bide__node *node)
{
    entry->name = key->text;
    entry->key = key;
    if (key->len == 0 || memchr(key->text, '\0', key->len))
        bide__mistake(load, key, "bad-value", NULL,
                      "a policy needs a name, without NUL bytes in it");
    if (!bide__expect_map(load, key, node, NULL))
        return;
    entry->node = node;
    entry->extends = name_in(load, node, "extends");
    entry->preset = name_in(load, node, "preset");
    if (entry->extends && entry->preset) {
        bide__mistake(load, entry->preset, "contradiction",
                      "take out one of the two",
                      "`preset` and `extends` both say what to start from");
        bide__diag(load->notes, load->tree, entry->extends, BIDE_NOTE,
                   "contradiction", NULL, "`extends` is here");
    }
}

void bide__load_policies(struct bide__load *load, const struct bide__node *key,
                         struct bide__node *policies)
{
    bide_config *config = load->config;

    if (bide__node_empty(policies) ||
        (policies->kind == BIDE__MAP && policies->n == 0)) {
        bide__mistake(load, key, "missing-key",
                      "add one: `default: { attempts: 3 }`",
                      "`policies` holds no policy");
        return;
    }
    if (!bide__expect_map(load, key, policies, NULL))
        return;
    config->policies = policies;
    config->entries =
        bide__load_alloc(load, policies->n * sizeof *config->entries);
    if (!config->entries)
        return;
    config->n_entries = policies->n;
    for (size_t i = 0; i < policies->n; i++)
        begin_entry(load, &config->entries[i], policies->keys[i],
                    policies->items[i]);
    for (size_t i = 0; i < policies->n; i++)
        read_chain(load, &config->entries[i]);
}

const char *bide__suggest_policy(struct bide__load *load, const char *found)
{
    enum { MAX_SUGGESTED = 200 };
    const char *known[MAX_SUGGESTED + 1];
    size_t n = 0;

    for (; n < load->config->n_entries && n < MAX_SUGGESTED; n++)
        known[n] = load->config->entries[n].name;
    known[n] = NULL;
    return bide__did_you_mean(load->notes, found, known);
}
