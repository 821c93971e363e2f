/* test_json_in.c: JSON piece by piece. What a whole document may be is
 * test_json_read.c's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json_read.h"

static struct bide__json_in read(const char *text)
{
    return bide__json_read(text, strlen(text));
}

static void json_in_reads_a_list_with_its_places(void **state)
{
    struct bide__json_in in = read("[1.5,\n  2]");
    double sum = 0;
    unsigned line = 0;

    (void)state;
    assert_true(bide__json_in_take(&in, '['));
    do {
        size_t len = bide__json_in_word(&in);

        assert_true(len > 0);
        sum += strtod(in.at - len, NULL);
        line = in.line;
    } while (bide__json_in_take(&in, ','));
    assert_true(bide__json_in_take(&in, ']'));
    assert_int_equal(bide__json_in_peek(&in), -1);
    assert_null(in.expected);
    assert_true(sum == 3.5);
    assert_int_equal(line, 2);
}

static void json_in_strings_are_unescaped(void **state)
{
    struct bide__json_in in = read(" \"a\\u00e9\\n\\ud83d\\ude00\" ");
    char text[64];
    size_t len;

    (void)state;
    bide__json_in_peek(&in);
    assert_true(bide__json_in_longest(&in) <= sizeof text);
    assert_true(bide__json_in_string(&in, text, &len));
    assert_int_equal(len, 8);
    assert_memory_equal(text, "a\xc3\xa9\n\xf0\x9f\x98\x80", 8);
}

static void json_in_tells_the_first_mistake_alone(void **state)
{
    static const struct {
        const char *text, *expected;
        unsigned column, end_column;
    } rows[] = {
        { "x", "a text in double quotes", 1, 2 },
        { "\"a", "a closing quote", 3, 3 },
        { "\"a\n\"", "a closing quote", 3, 4 },
        { "\"\\u12g4\"", "four hexadecimal digits", 6, 7 },
        { "\"\\ude00\"", "the first half of a pair before this", 8, 9 },
        { "\"a\xff\"", "UTF-8", 3, 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bide__json_in in = read(rows[i].text);
        char text[64];
        size_t len = 42;

        assert_false(bide__json_in_string(&in, text, &len));
        assert_false(bide__json_in_refuse(&in, "something else", NULL));
        assert_string_equal(in.expected, rows[i].expected);
        assert_int_equal(in.mark.column, rows[i].column);
        assert_int_equal(in.mark.end_column, rows[i].end_column);
        assert_int_equal(len, 42);
    }
}

static void json_in_words_are_numbers_and_three_names(void **state)
{
    static const struct {
        const char *text;
        size_t len;
    } rows[] = {
        { "0", 1 },     { "-1.5e+3,", 7 }, { "true]", 4 }, { "null", 4 },
        { "false", 5 }, { "01", 0 },       { "1.", 0 },    { "+1", 0 },
        { "nul", 0 },   { "", 0 },         { "1e", 0 },    { "-", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bide__json_in in = read(rows[i].text);

        assert_int_equal(bide__json_in_word(&in), rows[i].len);
        assert_int_equal(in.expected == NULL, rows[i].len > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_in_reads_a_list_with_its_places),
        cmocka_unit_test(json_in_strings_are_unescaped),
        cmocka_unit_test(json_in_tells_the_first_mistake_alone),
        cmocka_unit_test(json_in_words_are_numbers_and_three_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
