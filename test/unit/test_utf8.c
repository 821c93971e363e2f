/* test_utf8.c: what is a character, and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void utf8_every_character_reads_back(void **state)
{
    (void)state;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        char text[4];
        uint32_t got = 0;
        size_t n = bide__utf8_put(text, point);
        bool surrogate = point >= 0xd800 && point < 0xe000;

        assert_int_equal(bide__utf8_next(text, n, &got), surrogate ? 0 : n);
        assert_int_equal(got, surrogate ? 0 : point);
        assert_int_equal(bide__utf8_next(text, n - 1, NULL), 0);
    }
}

static void utf8_what_is_malformed_is_no_character(void **state)
{
    static const char *const rows[] = { "\x80",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xe0\x80\x80",
                                        "\xf0\x80\x80\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xc3(",
                                        "\xff" };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(bide__utf8_next(rows[i], strlen(rows[i]), NULL), 0);
}

static void utf8_counts_and_cuts_characters(void **state)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    static const size_t cuts[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10 };

    (void)state;
    assert_int_equal(bide__utf8_count(text, sizeof text - 1), 5);
    assert_int_equal(bide__utf8_count(text, 0), 0);
    for (size_t most = 0; most < COUNT(cuts); most++)
        assert_int_equal(bide__utf8_cut(text, most), cuts[most]);
}

static void utf8_line_breaks_are_those_of_yaml(void **state)
{
    (void)state;
    assert_int_equal(bide__line_break("\n", 1), 1);
    assert_int_equal(bide__line_break("\r\n", 2), 2);
    assert_int_equal(bide__line_break("\rx", 2), 1);
    assert_int_equal(bide__line_break("\xc2\x85", 2), 2);
    assert_int_equal(bide__line_break("\xe2\x80\xa8", 3), 3);
    assert_int_equal(bide__line_break("\xe2\x80\xaa", 3), 0);
    assert_int_equal(bide__line_break("x", 1), 0);
    assert_int_equal(bide__line_break("", 0), 0);
}

static void utf8_what_could_control_a_terminal_is_made_safe(void **state)
{
    char text[] = "\xc3\xa9\x1b[2J\xc2\x9b"
                  "a\x9b\xe2\x80\xae\xff\n";

    (void)state;
    bide__make_safe(text);
    assert_string_equal(text, "\xc3\xa9?[2J??a??????");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_every_character_reads_back),
        cmocka_unit_test(utf8_what_is_malformed_is_no_character),
        cmocka_unit_test(utf8_counts_and_cuts_characters),
        cmocka_unit_test(utf8_line_breaks_are_those_of_yaml),
        cmocka_unit_test(utf8_what_could_control_a_terminal_is_made_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
