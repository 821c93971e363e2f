/* test_json_read.c: JSON into a tree, to the letter of RFC 8259. */
#define READ_TREE bide__tree_json
#define READ_NAME "t.json"
#include "config/doc/tree.h"
#include "tree_rows.h"

static void json_read_keeps_kinds_and_text(void **state)
{
    struct bide__tree *t = must_read("{\"a\": [1, -2.5e3, true, null, \"x\"],"
                                     " \"\": {}}");
    struct bide__node *list = bide__map_get(t->root, "a", NULL);

    (void)state;
    assert_int_equal(t->root->kind, BIDE__MAP);
    assert_int_equal(t->root->n, 2);
    assert_int_equal(list->kind, BIDE__LIST);
    assert_int_equal(list->n, 5);
    assert_true(bide__node_is(list->items[0], "1"));
    assert_true(bide__node_is(list->items[1], "-2.5e3"));
    assert_true(bide__node_empty(list->items[3]));
    assert_false(list->items[0]->quoted);
    assert_true(list->items[4]->quoted);
    assert_int_equal(bide__map_get(t->root, "", NULL)->kind, BIDE__MAP);
    assert_null(bide__map_get(t->root, "b", NULL));
    bide__tree_free(t);
}

static void json_read_marks_count_characters(void **state)
{
    struct bide__tree *t = must_read("{\n  \"\xc3\xa9\xe2\x82\xac\": 12,\r\n"
                                     "\t\"b\": [\n1\n]}");
    struct bide__node *key, *value;

    (void)state;
    value = bide__map_get(t->root, "\xc3\xa9\xe2\x82\xac", &key);
    assert_int_equal(key->mark.line, 2);
    assert_int_equal(key->mark.column, 3);
    assert_int_equal(key->mark.end_column, 7);
    assert_int_equal(value->mark.column, 9);
    assert_int_equal(value->mark.end_column, 11);
    value = bide__map_get(t->root, "b", &key);
    assert_int_equal(key->mark.line, 3);
    assert_int_equal(key->mark.column, 2);
    assert_int_equal(value->mark.end_line, 5);
    assert_int_equal(value->mark.end_column, 2);
    bide__tree_free(t);
}

static void json_read_unescapes(void **state)
{
    static const struct {
        const char *json, *text;
        size_t len;
    } rows[] = {
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8 },
        { "\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac", 6 },
        { "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4 },
        { "\"a\\u0000b\"", "a\0b", 3 },
        { "\"\xf0\x9f\x98\x80\"", "\xf0\x9f\x98\x80", 4 },
        { "\"\xe2\x80\xa8\"", "\xe2\x80\xa8", 3 },
        { "\"\"", "", 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__tree *t = must_read(rows[i].json);

        assert_int_equal(t->root->len, rows[i].len);
        assert_memory_equal(t->root->text, rows[i].text, rows[i].len + 1);
        bide__tree_free(t);
    }
}

static void json_read_refuses_what_is_not_json(void **state)
{
    static const struct refused rows[] = {
        { "{", "syntax", 1, 2 },
        { "[1,]", "syntax", 1, 4 },
        { "[1 2]", "syntax", 1, 4 },
        { "{\"a\" 1}", "syntax", 1, 6 },
        { "{\"a\": 1,}", "syntax", 1, 9 },
        { "{a: 1}", "syntax", 1, 2 },
        { "{'a': 1}", "syntax", 1, 2 },
        { "['a']", "syntax", 1, 2 },
        { "[1] x", "syntax", 1, 5 },
        { "[01]", "syntax", 1, 2 },
        { "[1.]", "syntax", 1, 2 },
        { "[.5]", "syntax", 1, 2 },
        { "[+1]", "syntax", 1, 2 },
        { "[1e]", "syntax", 1, 2 },
        { "[-]", "syntax", 1, 2 },
        { "[NaN]", "syntax", 1, 2 },
        { "[tru]", "syntax", 1, 2 },
        { "[nullx]", "syntax", 1, 6 },
        { "\"abc", "syntax", 1, 5 },
        { "\"a\nb\"", "syntax", 1, 3 },
        { "\"a\tb\"", "syntax", 1, 3 },
        { "\"\\x\"", "syntax", 1, 3 },
        { "\"\\u12g4\"", "syntax", 1, 6 },
        { "\"\\ud83d\"", "syntax", 1, 8 },
        { "\"\\ud83d\\u0041\"", "syntax", 1, 14 },
        { "\"\\ude00\"", "syntax", 1, 8 },
        { "// c\n1", "syntax", 1, 1 },
        { "[\n\n  \"a\" \"b\"]", "syntax", 3, 7 },
        { "\"\xff\"", "not-utf8", 1, 2 },
        { "\"\xed\xa0\x80\"", "not-utf8", 1, 2 },
        { "\"\xc0\x80\"", "not-utf8", 1, 2 },
        { "{\"a\": 1, \"b\": 2, \"a\": 3}", "duplicate-key", 1, 18 },
        { "{\"a\": 1, \"\\u0061\": 3}", "duplicate-key", 1, 10 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        must_refuse(&rows[i]);
}

static void json_read_depth_has_a_limit(void **state)
{
    char text[2 * 20000];
    struct bide__tree *tree = NULL;

    (void)state;
    for (size_t levels = 90; levels <= 110; levels++) {
        memset(text, '[', levels);
        memset(text + levels, ']', levels);
        assert_int_equal(read_text(&tree, text, 2 * levels, NULL),
                         levels <= BIDE__MAX_LEVELS ? 0 : BIDE_EPARSE);
        if (levels <= BIDE__MAX_LEVELS)
            bide__tree_free(tree);
    }
    memset(text, '[', sizeof text);
    assert_int_equal(read_text(&tree, text, sizeof text, NULL), BIDE_EPARSE);
}

static void json_read_empty_and_bom(void **state)
{
    struct bide__tree *t = must_read(" \n ");

    (void)state;
    assert_null(t->root);
    bide__tree_free(t);
    t = must_read("\xef\xbb\xbf[1]");
    assert_int_equal(t->root->mark.column, 1);
    bide__tree_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_read_keeps_kinds_and_text),
        cmocka_unit_test(json_read_marks_count_characters),
        cmocka_unit_test(json_read_unescapes),
        cmocka_unit_test(json_read_refuses_what_is_not_json),
        cmocka_unit_test(json_read_depth_has_a_limit),
        cmocka_unit_test(json_read_empty_and_bom),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
