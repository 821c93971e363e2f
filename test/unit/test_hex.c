/* test_hex.c: every byte there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hex.h"

static void hex_of_every_byte_reads_back(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++) {
        char want[3], got[2];
        uint8_t b = (uint8_t)byte;

        snprintf(want, sizeof want, "%02x", byte);
        assert_ptr_equal(bide__hex_write(got, &b, 1), got + 2);
        assert_memory_equal(got, want, 2);
        assert_int_equal(bide__hex_byte(want), byte);
        snprintf(want, sizeof want, "%02X", byte);
        assert_int_equal(bide__hex_byte(want), byte);
    }
}

/* Four bytes are written at once, what is left one by one. */
static void hex_of_any_length_is_written(void **state)
{
    static const uint8_t bytes[] = { 0x00, 0x9a, 0xf0, 0x0f, 0xff,
                                     0x12, 0x34, 0xab, 0xcd };
    static const char want[] = "009af00fff1234abcd";

    (void)state;
    for (size_t len = 0; len <= sizeof bytes; len++) {
        char got[2 * sizeof bytes + 1];

        memset(got, '.', sizeof got);
        assert_ptr_equal(bide__hex_write(got, bytes, len), got + 2 * len);
        assert_memory_equal(got, want, 2 * len);
        assert_int_equal(got[2 * len], '.');
    }
}

static void hex_refuses_all_other_characters(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        const char *at = c ? strchr("0123456789abcdefABCDEF", c) : NULL;
        char two[2] = { '0', (char)c };

        assert_int_equal(bide__hex_value((char)c) >= 0, at != NULL);
        assert_int_equal(bide__hex_byte(two) >= 0, at != NULL);
    }
}

/* A part of a URL, and what it says; NULL: nothing. */
static const struct {
    const char *text, *want;
} parts[] = {
    { "", "" },           { "abcdefg", "abcdefg" }, { "%61%62c", "abc" },
    { "%C3%a9", "\xc3\xa9" }, { "%25", "%" },     { "a+b", "a+b" },
    { "abcdefgh", NULL }, /* no room for its end */
    { "%", NULL },        { "a%4", NULL },          { "%4g", NULL },
    { "%%41", NULL },     { "a%00b", NULL },
};

static void parts_of_urls_are_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *text = parts[i].text, *want = parts[i].want;
        size_t len = strlen(text);
        char got[8], place[16];

        assert_int_equal(bide__percent_decode(got, sizeof got, text, len), !!want);
        if (want)
            assert_string_equal(got, want);
        memcpy(place, text, len + 1);
        if (bide__percent_decode(place, len + 1, place, len) && want)
            assert_string_equal(place, want);
    }
    char none;
    assert_false(bide__percent_decode(&none, 1, "a", 1));
    assert_true(bide__percent_decode(&none, 1, "", 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_of_every_byte_reads_back),
        cmocka_unit_test(hex_of_any_length_is_written),
        cmocka_unit_test(hex_refuses_all_other_characters),
        cmocka_unit_test(parts_of_urls_are_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
