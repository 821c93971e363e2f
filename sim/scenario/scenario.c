/* scenario.c: reads a scenario file: its top level, its sections, and the
 * resulting model. All memory of a model is in the arena of its tree. */
#include "sim/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "config/doc/read_file.h"
#include "config/field/read.h"
#include "config/policy/policy_file.h"
#include "sim/scenario/check.h"
#include "sim/scenario/clients.h"
#include "sim/scenario/services.h"

/* The keys at the top level of a file. */
static const char *const sections[] = { "version",  "scenario", "policies",
                                        "clients",  "services", "faults",
                                        "variants", NULL };

static void check_version(struct sim_load *l, const struct bide__node *root)
{
    struct bide__node *key;
    const struct bide__node *version = bide__map_get(root, "version", &key);

    if (!version)
        sim_mistake(l, NULL, "missing-key", "add `version: 1` at the top",
                    "`version` is missing");
    else if (!bide__node_is(version, "1") || version->quoted)
        sim_mistake(l, bide__node_empty(version) ? key : version,
                    "unsupported-version", "write `version: 1`",
                    "this bide reads version 1, not %s",
                    bide__node_found(l->base.tree, version));
}

static void load_head(struct sim_load *l, const struct bide__node *root)
{
    struct sim_model *m = l->model;
    struct bide__node *key;
    const struct bide__node *head = bide__map_get(root, "scenario", &key);
    const struct bide__node *warm_up = bide__map_get(head, "warm_up", NULL);

    memcpy(m, sim_head_table.init, sizeof *m);
    if (head && bide__expect_map(&l->base, key, head, NULL))
        bide__read_fields(&l->base, &sim_head_table, key, head, m);
    if (warm_up && m->warm_up_ns >= m->duration_ns)
        sim_mistake(l, warm_up, "contradiction", NULL,
                    "`warm_up` is not less than `duration`: nothing would be "
                    "counted");
}

/* A required section, as a map that is not empty; or NULL. */
static struct bide__node *needed(struct sim_load *l,
                                 const struct bide__node *root,
                                 const char *section, const char *help)
{
    struct bide__node *key;
    struct bide__node *node = bide__map_get(root, section, &key);

    if (!node)
        sim_mistake(l, NULL, "missing-key", help, "`%s` is missing", section);
    else if (bide__node_empty(node) ||
             (node->kind == BIDE__MAP && node->n == 0))
        sim_mistake(l, key, "missing-key", help, "`%s` is empty", section);
    else if (bide__expect_map(&l->base, key, node, help))
        return node;
    return NULL;
}

static void take_policies(struct sim_load *l, const struct bide__node *root)
{
    struct bide__node *key;
    struct bide__node *policies = bide__map_get(root, "policies", &key);
    const bide_config *config = l->base.config;
    struct sim_model *m = l->model;

    if (!policies) {
        sim_mistake(l, NULL, "missing-key",
                    "add `policies:` with a policy named `default`",
                    "`policies` is missing");
        return;
    }
    bide__load_policies(&l->base, key, policies);
    m->policies = sim_load_alloc(l, config->n_entries, sizeof *m->policies);
    if (!m->policies)
        return;
    m->n_policies = (uint32_t)config->n_entries;
    for (size_t i = 0; i < config->n_entries; i++) {
        m->policies[i].name = (char *)config->entries[i].name;
        m->policies[i].conf = config->entries[i].conf;
    }
}

static void load_sections(struct sim_load *l, const struct bide__node *root)
{
    struct bide__node *key;
    const struct bide__node *faults, *variants;

    for (size_t i = 0; i < root->n; i++) {
        const char *const *known = sections;

        while (*known && !bide__node_is(root->keys[i], *known))
            known++;
        if (!*known)
            bide__unknown_key(&l->base, root->keys[i], sections, NULL);
    }
    load_head(l, root);
    take_policies(l, root);
    l->services = needed(l, root, "services",
                         "add `services:` with what the clients call, as in "
                         "`api: { workers: 10, time: 20ms }`");
    l->clients = needed(l, root, "clients",
                        "add `clients:` with who calls, as in `web: { rate: "
                        "100/s, calls: api }`");
    sim_load_services(l);
    sim_load_clients(l);
    sim_check_graph(l);
    if ((faults = bide__map_get(root, "faults", &key)))
        sim_load_faults(l, key, faults);
    if ((variants = bide__map_get(root, "variants", &key)))
        sim_load_variants(l, key, variants);
    sim_lint_scenario(l, faults);
}

static void load_root(struct sim_load *l)
{
    const struct bide__node *root = l->base.tree->root;

    if (bide__node_empty(root)) {
        sim_mistake(l, NULL, "empty-file",
                    "`bide sim --print metastable` prints a whole scenario",
                    "there is nothing in this file");
    } else if (root->kind != BIDE__MAP) {
        sim_mistake(l, root, "wrong-type",
                    "begin with `version: 1` and `scenario:`",
                    "a scenario is a map of keys and values, not %s",
                    bide__node_found(l->base.tree, root));
    } else {
        check_version(l, root);
        load_sections(l, root);
    }
}

/* ===== the whole value ===== */

static void release(void *memory)
{
    bide__tree_free(memory);
}

static int outcome(const struct sim_load *l)
{
    if (l->base.no_memory || bide__diag_failed(l->base.notes))
        return BIDE_ENOMEM;
    return bide__diag_mistakes(l->base.notes) > l->mistakes_before ? BIDE_EPARSE
                                                                   : 0;
}

/* `notes` must not be NULL. */
static int parse(struct sim_model **ret, const char *name, const char *text,
                 size_t len, bide_diagnostics *notes)
{
    struct sim_load l = { .base = { .notes = notes },
                          .mistakes_before = bide__diag_mistakes(notes) };
    int rc = bide__tree_try(&l.base.tree, name, text, len, notes);

    if (rc < 0)
        return rc;
    l.base.config = bide__load_alloc(&l.base, sizeof *l.base.config);
    l.model = bide__load_alloc(&l.base, sizeof *l.model);
    if (l.base.config && l.model) {
        l.base.config->tree = l.base.tree;
        load_root(&l);
    }
    rc = outcome(&l);
    if (rc < 0) {
        bide__tree_free(l.base.tree);
        return rc;
    }
    l.model->memory = l.base.tree;
    l.model->release = release;
    *ret = l.model;
    return 0;
}

int sim_scenario_parse(struct sim_model **ret, const char *name,
                       const char *text, size_t len, bide_diagnostics *notes)
{
    bide_diagnostics *own = NULL;
    int rc;

    if (!ret || !name || (!text && len > 0))
        return BIDE_EINVAL;
    if (!notes && !(notes = own = bide_diagnostics_new()))
        return BIDE_ENOMEM;
    rc = parse(ret, name, text ? text : "", len, notes);
    bide__diag_sort(notes);
    bide_diagnostics_free(own);
    return rc;
}

int sim_scenario_read(struct sim_model **ret, const char *path,
                      bide_diagnostics *notes)
{
    char *text;
    size_t len;
    int rc;

    if (!ret || !path)
        return BIDE_EINVAL;
    rc = bide__read_file(path, &text, &len, notes);
    if (rc < 0)
        return rc;
    rc = sim_scenario_parse(ret, path, text, len, notes);
    free(text);
    return rc;
}

/* ===== scenario or policy file ===== */

static bool begins_with(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word);

    return len > n && memcmp(text, word, n) == 0 && text[n] == ':';
}

bool sim_scenario_is(const char *text, size_t len)
{
    static const char *const words[] = { "scenario", "clients", "services",
                                         "\"scenario\"", "\"clients\"" };

    for (size_t i = 0; i < len; i++) {
        bool quoted = text[i] == '"'; /* JSON may be on one line */

        if (!quoted && i > 0 && text[i - 1] != '\n')
            continue;
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
            if (begins_with(text + i, len - i, words[k]))
                return true;
    }
    return false;
}
