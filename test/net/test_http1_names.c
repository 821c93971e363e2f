/* test_http1_names.c: the table of known names, and the classes of bytes
 * against the grammars that they stand for. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "net/http1/names.h"
#include "net/http1/scan.h"

/* A name in its wrong slot would never be found; two in one would hide each
 * other. */
static void names_are_in_their_slots(void **state)
{
    const char *in_slot[256] = { NULL };

    (void)state;
#define X(id, name, slot, flags)                                               \
    if (http1__slot(name, sizeof(name) - 1) != (slot))                         \
        fail_msg("%s: the slot is %u", name,                                   \
                 http1__slot(name, sizeof(name) - 1));                         \
    if (in_slot[slot])                                                         \
        fail_msg("%s: the slot is taken by %s; change the factors of "         \
                 "http1__slot",                                                \
                 name, in_slot[slot]);                                         \
    in_slot[slot] = name;
    HTTP1_NAMES(X)
#undef X
}

static void check_name(const char *name, enum http1_id id)
{
    char copy[64];
    size_t len = strlen(name);

    assert_string_equal(http1_name(id), name);
    for (size_t i = 0; i <= len; i++)
        copy[i] = (char)toupper((unsigned char)name[i]);
    assert_int_equal(http1_name_id(name, len), id);
    assert_int_equal(http1_name_id(copy, len), id);
    for (size_t i = 0; i < len; i++) { /* one byte different anywhere */
        copy[i] = copy[i] == 'Q' ? 'J' : 'Q';
        if (name[i] != 'q')
            assert_int_equal(http1_name_id(copy, len),
                             strncasecmp(copy, "x-forwarded-", 12) == 0
                                 ? HTTP1_ID_X_FORWARDED
                                 : HTTP1_ID_OTHER);
        copy[i] = name[i];
    }
    assert_int_not_equal(http1_name_id(name, len - 1), id);
}

static void names_are_found_in_any_case(void **state)
{
    (void)state;
#define X(id, name, slot, flags) check_name(name, HTTP1_ID_##id);
    HTTP1_NAMES(X)
#undef X
    assert_int_equal(http1_name_id("", 0), HTTP1_ID_OTHER);
    assert_int_equal(http1_name_id("x", 1), HTTP1_ID_OTHER);
    assert_int_equal(http1_name_id("x_", 2), HTTP1_ID_UNDERSCORE);
    assert_int_equal(http1_name_id("x_forwarded_for", 15), HTTP1_ID_UNDERSCORE);
    assert_int_equal(http1_name_id("X-Forwarded-Port", 16),
                     HTTP1_ID_X_FORWARDED);
    assert_int_equal(http1_name_id("x-forwarded-", 12), HTTP1_ID_X_FORWARDED);
    assert_int_equal(http1_name_id("x-forwarded-", 11), HTTP1_ID_OTHER);
    assert_string_equal(http1_name(HTTP1_ID_X_FORWARDED), "");
    assert_string_equal(http1_name(HTTP1_ID_UNDERSCORE), "");
    assert_string_equal(http1_name(HTTP1_ID_OTHER), "");
    assert_string_equal(http1_name(HTTP1_IDS), "");
}

/* ===== classes ===== */

static bool among(int c, const char *set)
{
    return c != 0 && strchr(set, c) != NULL;
}

static void classes_follow_the_grammars(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool ascii = c < 128, alnum = ascii && isalnum(c);
        bool vchar = c > 0x20 && c < 0x7f;
        bool token = alnum || among(c, "!#$%&'*+-.^_`|~");
        bool value = c == '\t' || c == ' ' || vchar || !ascii;
        bool host = alnum || among(c, "-._~"
                                      "!$&'()*+,;=");
        bool quoted = value && c != '"' && c != '\\';

        assert_int_equal(http1__is((char)c, HTTP1_C_TOKEN), token);
        assert_int_equal(http1__is((char)c, HTTP1_C_VALUE), value);
        assert_int_equal(http1__is((char)c, HTTP1_C_TARGET), vchar && c != '#');
        assert_int_equal(http1__is((char)c, HTTP1_C_HOST), host);
        assert_int_equal(http1__is((char)c, HTTP1_C_HEX), ascii && isxdigit(c));
        assert_int_equal(http1__is((char)c, HTTP1_C_QUOTED), quoted);
    }
}

/* Each byte at each place of a block is found by the scans of many bytes as it
 * is by the table. */
static void scans_agree_with_the_table(void **state)
{
    char bytes[40];
    bool underscore = false;

    (void)state;
    for (int c = 0; c < 256; c++)
        for (size_t at = 0; at < sizeof bytes; at++) {
            memset(bytes, at % 2 ? '~' : '!', sizeof bytes);
            bytes[at] = (char)c;
            if (at + 3 < sizeof bytes)
                bytes[at + 3] = '\n';
            assert_int_equal(
                http1__skip_token(bytes, 0, sizeof bytes, &underscore),
                http1__skip(bytes, 0, sizeof bytes, HTTP1_C_TOKEN));
            assert_int_equal(
                http1__skip_value(bytes, 0, sizeof bytes),
                http1__skip(bytes, 0, sizeof bytes, HTTP1_C_VALUE));
            assert_int_equal(
                http1__skip_target(bytes, 1, sizeof bytes),
                http1__skip(bytes, 1, sizeof bytes, HTTP1_C_TARGET));
        }
}

/* Two bytes side by side, where SWAR arithmetic borrows from its neighbour. */
static void scans_agree_on_neighbours(void **state)
{
    char bytes[16];

    (void)state;
    for (int c = 0; c < 65536; c++) {
        memset(bytes, 'a', sizeof bytes);
        bytes[3] = (char)(c & 255);
        bytes[4] = (char)(c >> 8);
        assert_int_equal(http1__skip_value(bytes, 0, sizeof bytes),
                         http1__skip(bytes, 0, sizeof bytes, HTTP1_C_VALUE));
        assert_int_equal(http1__skip_target(bytes, 0, sizeof bytes),
                         http1__skip(bytes, 0, sizeof bytes, HTTP1_C_TARGET));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_in_their_slots),
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(classes_follow_the_grammars),
        cmocka_unit_test(scans_agree_with_the_table),
        cmocka_unit_test(scans_agree_on_neighbours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
