/* test_yaml.c: YAML into a tree, and what hostile files run into. */
#define READ_TREE bide__tree_yaml
#define READ_NAME "t.yaml"
#include "config/doc/tree.h"
#include "tree_rows.h"

static void yaml_marks_count_characters(void **state)
{
    struct bide__tree *t = must_read("# \xc3\xa9\n\"\xe6\xbc\xa2\": 12\n"
                                     "b: { c: 'x', d: [1] }\n");
    struct bide__node *key, *value;

    (void)state;
    value = bide__map_get(t->root, "\xe6\xbc\xa2", &key);
    assert_int_equal(key->mark.line, 2);
    assert_int_equal(key->mark.column, 1);
    assert_int_equal(key->mark.end_column, 4);
    assert_int_equal(value->mark.column, 6);
    assert_int_equal(value->mark.end_column, 8);
    value = bide__map_get(bide__map_get(t->root, "b", NULL), "d", &key);
    assert_int_equal(value->mark.line, 3);
    assert_int_equal(value->mark.column, 17);
    assert_int_equal(value->mark.end_column, 20);
    assert_true(
        bide__map_get(bide__map_get(t->root, "b", NULL), "c", NULL)->quoted);
    bide__tree_free(t);
}

static void yaml_alias_is_the_same_node(void **state)
{
    struct bide__tree *t = must_read("a: &x { b: 1 }\nc: *x\nd: &x 2\ne: *x\n");

    (void)state;
    assert_ptr_equal(bide__map_get(t->root, "a", NULL),
                     bide__map_get(t->root, "c", NULL));
    assert_true(bide__node_is(bide__map_get(t->root, "e", NULL), "2"));
    bide__tree_free(t);
}

static void yaml_scalars_stay_text(void **state)
{
    struct bide__tree *t = must_read("[0x10, yes, ~, '', \"a\\nb\", !!str 5,"
                                     " null, \"null\"]");
    struct bide__node **i = t->root->items;

    (void)state;
    assert_true(bide__node_is(i[0], "0x10"));
    assert_true(bide__node_is(i[1], "yes"));
    assert_true(bide__node_empty(i[2]));
    assert_false(bide__node_empty(i[3]));
    assert_true(bide__node_is(i[4], "a\nb"));
    assert_true(i[5]->quoted);
    assert_true(bide__node_empty(i[6]));
    assert_false(bide__node_empty(i[7]));
    bide__tree_free(t);
}

static void yaml_refuses_with_a_place(void **state)
{
    static const struct refused rows[] = {
        { "a: 1\na: 2\n", "duplicate-key", 2, 1 },
        { "{ a: 1, 'a': 2 }", "duplicate-key", 1, 9 },
        { "a: *x\n", "bad-alias", 1, 4 },
        { "a: &x [*x]\n", "bad-alias", 1, 8 },
        { "*x : 1\n", "bad-alias", 1, 1 },
        { "*x\n", "bad-alias", 1, 1 },
        { "? [a]\n: 1\n", "bad-key", 1, 3 },
        { "? {}\n: 1\n", "bad-key", 1, 3 },
        { "<<: { a: 1 }\n", "merge-key", 1, 1 },
        { "a: !x 1\n", "unsupported-tag", 1, 4 },
        { "!x\na: 1\n", "unsupported-tag", 1, 1 },
        { "a: !x [1]\n", "unsupported-tag", 1, 4 },
        { "a: 1\n---\nb: 1\n", "second-document", 2, 1 },
        { "a: 1\n...\nb: 1\n", "syntax", 3, 1 },
        { "a: [1\n", "syntax", 2, 1 },
        { "a: \"x\n", "syntax", 1, 4 },
        { "a: 1\n\tb: 2\n", "syntax", 2, 1 },
        { "a: @x\n", "syntax", 1, 4 },
        { "%YAML 3.0\n---\na: 1\n", "syntax", 1, 1 },
        { "a: \x01\n", "syntax", 1, 4 },
        { "a: \x7f\n", "syntax", 1, 4 },
        { "a: \xc2\x80\n", "syntax", 1, 4 },
        { "a: \xef\xbb\xbf\n", "syntax", 1, 4 },
        { "a: \xef\xbf\xbe\n", "syntax", 1, 4 },
        { "a: \xe9\n", "not-utf8", 1, 4 },
        { "\xff\xfe"
          "a\0",
          "not-utf8", 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        must_refuse(&rows[i]);
}

static void yaml_quoted_merge_key_is_a_key(void **state)
{
    struct bide__tree *t = must_read("'<<': 1\n");

    (void)state;
    assert_int_equal(t->root->n, 1);
    bide__tree_free(t);
}

static void yaml_empty_documents_have_no_root(void **state)
{
    static const char *const rows[] = { "", "\n", "# c\n", "---\n",
                                        "\xef\xbb\xbf" };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__tree *t = must_read(rows[i]);

        assert_true(bide__node_empty(t->root));
        bide__tree_free(t);
    }
}

/* A tower of aliases is as deep as what it unfolds to. */
static void yaml_depth_counts_through_aliases(void **state)
{
    char text[8192] = "- &a0 [x]\n";
    bide_diagnostics *notes = bide_diagnostics_new();
    struct bide__tree *tree = NULL;

    (void)state;
    for (int i = 1; i < 150; i++)
        sprintf(text + strlen(text), "- &a%d [*a%d]\n", i, i - 1);
    assert_int_equal(read_text(&tree, text, strlen(text), notes), BIDE_EPARSE);
    assert_string_equal(bide_diagnostics_at(notes, 0)->code, "too-deep");
    bide_diagnostics_free(notes);
}

static void yaml_alias_bomb_is_counted(void **state)
{
    char text[4096] = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    bide_diagnostics *notes = bide_diagnostics_new();
    struct bide__tree *tree = NULL;

    (void)state;
    for (int i = 1; i < 12; i++)
        sprintf(text + strlen(text),
                "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
                i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    assert_int_equal(read_text(&tree, text, strlen(text), notes), BIDE_EPARSE);
    assert_string_equal(bide_diagnostics_at(notes, 0)->code, "too-many-nodes");
    bide_diagnostics_free(notes);
}

/* Larger maps have an index; it finds what a walk would. */
static void yaml_large_map_is_indexed(void **state)
{
    char *text = calloc(1, 1 << 20), *at = text, key[16];
    struct bide__tree *t;

    (void)state;
    for (int i = 0; i < 20000; i++)
        at += sprintf(at, "k%d: %d\n", (i * 7919) % 20000, i);
    t = must_read(text);
    for (int i = 0; i < 20000; i += 7) {
        long found;

        sprintf(key, "k%d", i);
        found = bide__map_find(t->root, key);
        assert_true(found >= 0 && (found * 7919) % 20000 == i);
    }
    assert_int_equal(bide__map_find(t->root, "k20000"), -1);
    assert_int_equal(bide__map_find(t->root, ""), -1);
    bide__tree_free(t);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_marks_count_characters),
        cmocka_unit_test(yaml_alias_is_the_same_node),
        cmocka_unit_test(yaml_scalars_stay_text),
        cmocka_unit_test(yaml_refuses_with_a_place),
        cmocka_unit_test(yaml_quoted_merge_key_is_a_key),
        cmocka_unit_test(yaml_empty_documents_have_no_root),
        cmocka_unit_test(yaml_depth_counts_through_aliases),
        cmocka_unit_test(yaml_alias_bomb_is_counted),
        cmocka_unit_test(yaml_large_map_is_indexed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
