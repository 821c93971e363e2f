/* test_json.c: what is written is JSON, whatever was put in. */
#define _GNU_SOURCE /* open_memstream */
#include "base/json.h"

#include <float.h>
#include <math.h>

#include "config/doc/tree.h"
#include "findings.h"

static char *text;
static size_t text_len;

static FILE *open_text(void)
{
    FILE *out = open_memstream(&text, &text_len);

    assert_non_null(out);
    return out;
}

static void json_one_line_has_every_kind(void **state)
{
    FILE *out = open_text();
    struct bide__json j;

    (void)state;
    bide__json_init(&j, out, false);
    for (int i = 0; i < 2; i++) {
        bide__json_object(&j, NULL);
        bide__json_text(&j, "t", "a\"b");
        bide__json_number(&j, "n", 12.5);
        bide__json_list(&j, "l");
        bide__json_integer(&j, NULL, -1);
        bide__json_flag(&j, NULL, true);
        bide__json_null(&j, NULL);
        bide__json_end(&j);
        bide__json_object(&j, "o");
        bide__json_end(&j);
        bide__json_end(&j);
        bide__json_done(&j);
    }
    fclose(out);
    assert_string_equal(
        text, "{\"t\": \"a\\\"b\", \"n\": 12.5, \"l\": [-1, true, null], "
              "\"o\": {}}\n"
              "{\"t\": \"a\\\"b\", \"n\": 12.5, \"l\": [-1, true, null], "
              "\"o\": {}}\n");
    free(text);
}

static void json_pretty_is_indented(void **state)
{
    FILE *out = open_text();
    struct bide__json j;

    (void)state;
    bide__json_init(&j, out, true);
    bide__json_object(&j, NULL);
    bide__json_list(&j, "l");
    bide__json_integer(&j, NULL, 1);
    bide__json_integer(&j, NULL, 2);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
    fclose(out);
    assert_string_equal(text, "{\n  \"l\": [\n    1,\n    2\n  ]\n}\n");
    free(text);
}

static void json_any_bytes_make_a_valid_string(void **state)
{
    FILE *out = open_text();
    struct bide__json j;
    struct bide__tree *tree = NULL;
    char all[256 + 8];

    (void)state;
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    memcpy(all + 256, "\xf0\x9f\x98\x80\xe2\x82\xac", 8);
    bide__json_init(&j, out, false);
    bide__json_text_n(&j, NULL, all, sizeof all - 1);
    bide__json_done(&j);
    fclose(out);
    assert_int_equal(bide__tree_json(&tree, "t", text, text_len, NULL), 0);
    assert_memory_equal(tree->root->text, all, 0x80);
    assert_memory_equal(tree->root->text + 0x80, "\xef\xbf\xbd", 3);
    assert_string_equal(tree->root->text + tree->root->len - 7,
                        "\xf0\x9f\x98\x80\xe2\x82\xac");
    bide__tree_free(tree);
    free(text);
}

static void json_numbers_read_back(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        { 0, "0" },
        { -0.0, "0" },
        { 1, "1" },
        { 0.1, "0.1" },
        { 12.5, "12.5" },
        { 1e15, "1000000000000000" },
        { 1e300, "1e+300" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { 1.0 / 3, "0.3333333333333333" },
        { (double)NAN, "null" },
        { (double)INFINITY, "null" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        FILE *out = open_text();
        struct bide__json j;

        bide__json_init(&j, out, false);
        bide__json_number(&j, NULL, rows[i].number);
        fclose(out);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

static void json_into_a_buffer_has_no_blanks(void **state)
{
    struct bide__out out = { 0 };
    struct bide__json j;

    (void)state;
    bide__json_into(&j, &out);
    bide__json_object(&j, NULL);
    bide__json_count(&j, "n", UINT64_MAX);
    bide__json_integer(&j, "m", INT64_MIN);
    bide__json_list(&j, "l");
    bide__json_ms(&j, NULL, 1234567);
    bide__json_text(&j, NULL, NULL);
    bide__json_raw(&j, NULL, "1.500");
    bide__json_end(&j);
    bide__json_hex(&j, "id",
                   (const uint8_t *)"\x01\x23\x45\x67\x89\xab\xcd\xef"
                                    "\x01\x23\x45\x67\x89\xab\xcd\xef\xff",
                   17);
    bide__json_end(&j);
    bide__json_done(&j);
    bide__json_integer(&j, NULL, 0);
    bide__out_char(&out, '\0');
    assert_string_equal(out.data,
                        "{\"n\":18446744073709551615,"
                        "\"m\":-9223372036854775808,"
                        "\"l\":[1.234,null,1.500],"
                        "\"id\":\"0123456789abcdef0123456789abcdefff\"}\n0");
    bide__out_done(&out);
}

static void json_rows_stay_on_their_line(void **state)
{
    FILE *out = open_text();
    struct bide__json j;

    (void)state;
    bide__json_init(&j, out, true);
    bide__json_list(&j, NULL);
    bide__json_row(&j, NULL);
    bide__json_integer(&j, NULL, 1);
    bide__json_object(&j, NULL);
    bide__json_integer(&j, "a", 2);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_object_row(&j, NULL);
    bide__json_end(&j);
    bide__json_list(&j, NULL);
    bide__json_integer(&j, NULL, 3);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
    fclose(out);
    assert_string_equal(text, "[\n  [1, {\"a\": 2}],\n  {},\n"
                              "  [\n    3\n  ]\n]\n");
    free(text);
}

static void json_strings_are_escaped_as_little_as_they_can_be(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "\"\"" },
        { "plain", "\"plain\"" },
        { "a\"b\\c", "\"a\\\"b\\\\c\"" },
        { "\n\t\r\b\f", "\"\\n\\t\\r\\b\\f\"" },
        { "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"" },
        { "\xc2\x9b", "\"\\u009b\"" },
        { "caf\xc3\xa9", "\"caf\xc3\xa9\"" },
        { "\xff", "\"\xef\xbf\xbd\"" },
        { "a\xc3", "\"a\xef\xbf\xbd\"" },
        { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__out out = { 0 };
        struct bide__json j;

        bide__json_into(&j, &out);
        bide__json_text(&j, NULL, rows[i].text);
        bide__out_char(&out, '\0');
        assert_string_equal(out.data, rows[i].want);
        bide__out_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_one_line_has_every_kind),
        cmocka_unit_test(json_pretty_is_indented),
        cmocka_unit_test(json_any_bytes_make_a_valid_string),
        cmocka_unit_test(json_numbers_read_back),
        cmocka_unit_test(json_into_a_buffer_has_no_blanks),
        cmocka_unit_test(json_rows_stay_on_their_line),
        cmocka_unit_test(json_strings_are_escaped_as_little_as_they_can_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
