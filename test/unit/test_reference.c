/* test_reference.c: table, documents and schema say the same. */
#define _GNU_SOURCE /* open_memstream */
#include "config/doc/read_file.h"
#include "config/doc/tree.h"
#include "config/lint/rules.h"
#include "config/policy/pages.h"
#include "config/policy/policy_file.h"
#include "findings.h"

#include "config/field/option_value.h"

static char *written(void (*write)(FILE *out), size_t *len)
{
    char *text;
    FILE *out = open_memstream(&text, len);

    assert_non_null(out);
    write(out);
    fclose(out);
    return text;
}

static void must_be_committed(const char *path, void (*write)(FILE *out),
                              const char *flag)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    char *want, *got;
    size_t want_len, got_len;

    if (bide__read_file(path, &want, &want_len, notes) != 0) {
        bide_diagnostics_print(notes, stderr, false);
        fail_msg("%s", path);
    }
    bide_diagnostics_free(notes);
    got = written(write, &got_len);
    if (want_len != got_len || memcmp(want, got, got_len) != 0)
        fail_msg("%s is out of date: write it with `bide check %s`", path,
                 flag);
    free(want);
    free(got);
}

static void reference_page_is_current(void **state)
{
    (void)state;
    must_be_committed(DOCS "/policy-reference.md", bide__write_reference,
                      "--reference");
    must_be_committed(DOCS "/bide.schema.json", bide__write_schema, "--schema");
}

static void defaults_are_the_defaults_and_clean(void **state)
{
    bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    bide_diagnostics *notes = bide_diagnostics_new();
    size_t n, len;
    char *text = written(bide__write_defaults, &len);
    bide_config *config = must_parse(text);
    const struct bide__policy_entry *e = bide__config_entry(config, "default");
    const bide_option *options = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (!e->set_by[i] || !bide__option_same(&e->conf, &init, &options[i]))
            fail_msg("%s", options[i].key);
    }
    assert_int_equal(e->conf.n_rules, 0);
    bide__lint(config, NULL, notes);
    assert_int_equal(bide_diagnostics_size(notes), 0);
    for (char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 90);
    bide_diagnostics_free(notes);
    bide_config_free(config);
    free(text);
}

/* ===== the schema ===== */

static struct bide__node *down(struct bide__node *node, const char *key)
{
    node = bide__map_get(node, key, NULL);
    if (!node)
        fail_msg("no %s in the schema", key);
    return node;
}

/* Keys of a policy that are more than an option. */
static int is_special(const struct bide__node *key)
{
    static const char *const keys[] = { "extends", "preset",   "retry_on",
                                        "rules",   "problems", "service" };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (bide__node_is(key, keys[i]))
            return 1;
    return 0;
}

static size_t check_keys(const struct bide__node *properties, const char *group)
{
    size_t seen = 0;
    char key[80];

    for (size_t i = 0; i < properties->n; i++) {
        const struct bide__node *inner =
            bide__map_get(properties->items[i], "properties", NULL);

        if (!group && is_special(properties->keys[i]))
            continue;
        if (inner && !group) {
            seen += check_keys(inner, properties->keys[i]->text);
            continue;
        }
        snprintf(key, sizeof key, "%s%s%s", group ? group : "",
                 group ? "." : "", properties->keys[i]->text);
        if (!bide__option_find(key, strlen(key)))
            fail_msg("the schema has %s, and the table has not", key);
        seen++;
    }
    return seen;
}

static void schema_keys_are_the_options(void **state)
{
    size_t n, len;
    char *text = written(bide__write_schema, &len);
    struct bide__tree *tree = NULL;
    struct bide__node *policy;

    (void)state;
    bide_policy_options(&n);
    assert_int_equal(bide__tree_json(&tree, "schema.json", text, len, NULL), 0);
    policy =
        down(down(down(tree->root, "definitions"), "policy"), "properties");
    assert_int_equal(check_keys(policy, NULL), n);
    bide__tree_free(tree);
    free(text);
}

static void reference_page_names_every_option_and_code(void **state)
{
    size_t n, len;
    char *page = written(bide__write_reference, &len), row[128], buffer[BIDE__VALUE_TEXT];
    const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    const bide_option *options = bide_policy_options(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const char *text =
            bide__option_text(&init, &options[i], buffer, sizeof buffer);

        snprintf(row, sizeof row, "| `%s` | ", options[i].key);
        assert_non_null(strstr(page, row));
        snprintf(row, sizeof row, " | `%s` | ", text);
        assert_non_null(strstr(page, row));
    }
    for (size_t i = 0; bide_policy_preset_name(i); i++)
        assert_non_null(strstr(page, bide_policy_preset_name(i)));
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_page_is_current),
        cmocka_unit_test(defaults_are_the_defaults_and_clean),
        cmocka_unit_test(schema_keys_are_the_options),
        cmocka_unit_test(reference_page_names_every_option_and_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
