/* config.c: a policy file as a whole, and the policies in it.
 *
 * `version: 1` is required: it costs a line, and lets the format change one day
 * without changing the meaning of existing files. */
#include <stdlib.h>

#include "config/doc/diag.h"
#include "config/doc/read_file.h"
#include "config/fleet/conf.h"
#include "config/policy/load.h"
#include "config/policy/policy_file.h"
#include "config/proxy/check.h"
#include "config/store/conf.h"
#include "config/worker/conf.h"

void *bide__load_alloc(struct bide__load *load, size_t size)
{
    void *memory = bide__arena_alloc(load->tree->arena, size);

    if (!memory)
        load->no_memory = true;
    return memory;
}

bool bide__expect_map(struct bide__load *load, const struct bide__node *key,
                      const struct bide__node *node, const char *help)
{
    if (bide__node_empty(node) || node->kind == BIDE__MAP)
        return true;
    bide__mistake(load, node, "wrong-type", help,
                  "`%s`: expected a map of keys and values; found %s",
                  key->text, bide__node_found(load->tree, node));
    return false;
}

void bide__unknown_key(struct bide__load *load, const struct bide__node *key,
                       const char *const *known, const char *help)
{
    if (!help)
        help = bide__did_you_mean(load->notes, key->text, known);
    bide__mistake(load, key, "unknown-key", help, "unknown key %s",
                  bide__node_found(load->tree, key));
}

/* ===== the top of a file ===== */

static void check_version(struct bide__load *load,
                          const struct bide__node *root)
{
    struct bide__node *key;
    struct bide__node *version = bide__map_get(root, "version", &key);

    if (!version)
        bide__mistake(load, NULL, "missing-key", "add `version: 1` at the top",
                      "`version` is missing");
    else if (!bide__node_is(version, "1") || version->quoted)
        bide__mistake(load, bide__node_empty(version) ? key : version,
                      "unsupported-version", "write `version: 1`",
                      "this bide reads version 1, not %s",
                      bide__node_found(load->tree, version));
}

static bool is_one_of(const struct bide__node *key, const char *const *names)
{
    for (; *names; names++)
        if (bide__node_is(key, *names))
            return true;
    return false;
}

static void load_sections(struct bide__load *load, struct bide__node *root)
{
    static const char *const known[] = { "version", "policies", "proxy",
                                         "store", "fleet", "worker", NULL };
    struct bide__node *key = NULL;
    struct bide__node *policies = bide__map_get(root, "policies", &key);

    for (size_t i = 0; i < root->n; i++) {
        const struct bide__node *k = root->keys[i];

        if (bide__node_is(k, "proxy") &&
            bide__expect_map(load, k, root->items[i], NULL))
            load->config->proxy = root->items[i];
        else if (!is_one_of(k, known))
            bide__unknown_key(load, k, known, NULL);
    }
    if (policies)
        bide__load_policies(load, key, policies);
    else if (!bide__map_get(root, "worker", NULL)) /* it has one by itself */
        bide__mistake(load, NULL, "missing-key",
                      "add `policies:` with a policy named `default`",
                      "`policies` is missing");
    struct bide__node *store = bide__map_get(root, "store", &key);
    bide__load_store(load, key, store);
    struct bide__node *fleet = bide__map_get(root, "fleet", &key);
    if (fleet)
        bide__load_fleet(load, key, fleet);
    load->config->worker_node = bide__map_get(root, "worker", &key);
    if (load->config->worker_node)
        bide__load_worker(load, key, load->config->worker_node);
    if (bide__map_get(root, "proxy", &key) && load->config->proxy)
        bide__load_proxy(load, key, load->config->proxy);
}

static void load_root(struct bide__load *load)
{
    struct bide__node *root = load->tree->root;

    if (bide__node_empty(root)) {
        bide__mistake(load, NULL, "empty-file",
                      "`bide check --defaults` prints a whole policy file",
                      "there is nothing in this file");
    } else if (root->kind != BIDE__MAP) {
        bide__mistake(load, root, "wrong-type",
                      "begin with `version: 1` and `policies:`",
                      "a policy file is a map of keys and values, not %s",
                      bide__node_found(load->tree, root));
    } else {
        check_version(load, root);
        load_sections(load, root);
    }
}

/* Reads with notes that are not NULL. */
static int parse(bide_config **ret, const char *name, const char *text,
                 size_t len, bide_diagnostics *notes)
{
    struct bide__load load = { .notes = notes };
    size_t before = bide__diag_mistakes(notes);
    int rc = bide__tree_try(&load.tree, name, text, len, notes);

    if (rc < 0)
        return rc;
    load.config = bide__load_alloc(&load, sizeof *load.config);
    if (load.config) {
        load.config->tree = load.tree;
        load_root(&load);
    }
    if (load.no_memory || bide__diag_failed(notes))
        rc = BIDE_ENOMEM;
    else if (bide__diag_mistakes(notes) > before)
        rc = BIDE_EPARSE;
    if (rc < 0)
        bide__tree_free(load.tree);
    else
        *ret = load.config;
    return rc;
}

/* ===== public ===== */

int bide_config_parse(bide_config **ret_config, const char *name,
                      const char *text, size_t len, bide_diagnostics *notes)
{
    bide_diagnostics *own = NULL;
    int rc;

    if (!ret_config || !name || (!text && len > 0))
        return BIDE_EINVAL;
    if (!notes && !(notes = own = bide_diagnostics_new()))
        return BIDE_ENOMEM;
    rc = parse(ret_config, name, text ? text : "", len, notes);
    bide__diag_sort(notes);
    bide_diagnostics_free(own);
    return rc;
}

int bide_config_read(bide_config **ret_config, const char *path,
                     bide_diagnostics *notes)
{
    char *text;
    size_t len;
    int rc;

    if (!ret_config || !path)
        return BIDE_EINVAL;
    rc = bide__read_file(path, &text, &len, notes);
    if (rc < 0)
        return rc;
    rc = bide_config_parse(ret_config, path, text, len, notes);
    free(text);
    return rc;
}

void bide_config_free(bide_config *config)
{
    if (config)
        bide__tree_free(config->tree); /* everything is in its arena */
}

const struct bide__policy_entry *bide__config_entry(const bide_config *config,
                                                    const char *name)
{
    long i =
        config ? bide__map_find(config->policies, name ? name : "default") : -1;

    if (i < 0 && !name && config && config->n_entries == 1)
        i = 0; /* the only one there is */
    return i < 0 ? NULL : &config->entries[i];
}

const bide_policy_conf *bide_config_policy(const bide_config *config,
                                           const char *name)
{
    const struct bide__policy_entry *entry = bide__config_entry(config, name);

    return entry ? &entry->conf : NULL;
}

const char *bide_config_policy_name(const bide_config *config, size_t i)
{
    return config && i < config->n_entries ? config->entries[i].name : NULL;
}
