/* test_address.c: ports, hosts and URLs, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/address.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void port_is_one_to_five_digits(void **state)
{
    static const struct {
        const char *text;
        int port; /* -1: refused */
    } rows[] = {
        { "0", 0 },      { "80", 80 },    { "00080", 80 },  { "65535", 65535 },
        { "65536", -1 }, { "99999", -1 }, { "000080", -1 }, { "", -1 },
        { "-1", -1 },    { "+80", -1 },   { "8o", -1 },     { " 80", -1 },
        { "80 ", -1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint16_t port = 42;
        bool ok = bide__port(rows[i].text, strlen(rows[i].text), &port);

        assert_int_equal(ok, rows[i].port >= 0);
        assert_int_equal(port, ok ? rows[i].port : 42);
    }
}

static bool is(const char *at, size_t len, const char *want)
{
    return len == strlen(want) && (len == 0 || memcmp(at, want, len) == 0);
}

static void authority_is_cut_at_its_colon(void **state)
{
    static const struct {
        const char *text, *host, *port; /* port NULL: no colon */
        bool brackets;
    } rows[] = {
        { "h:80", "h", "80", false },   { "h", "h", NULL, false },
        { "h:", "h", "", false },       { ":80", "", "80", false },
        { "", "", NULL, false },        { "[::1]:80", "::1", "80", true },
        { "[::1]", "::1", NULL, true }, { "::1", "", ":1", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__authority a;

        assert_true(bide__authority(rows[i].text, strlen(rows[i].text), &a));
        assert_true(is(a.host, a.host_len, rows[i].host));
        assert_int_equal(a.colon, rows[i].port != NULL);
        assert_int_equal(a.brackets, rows[i].brackets);
        if (rows[i].port)
            assert_true(is(a.port, a.port_len, rows[i].port));
    }
}

static void authority_with_loose_brackets_is_refused(void **state)
{
    static const char *const rows[] = { "[::1", "[::1]80", "[::1]]:80" };
    struct bide__authority a;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_false(bide__authority(rows[i], strlen(rows[i]), &a));
}

static void url_is_cut_behind_its_authority(void **state)
{
    static const struct {
        const char *text, *authority, *rest;
        bool tls;
    } rows[] = {
        { "http://h", "h", "", false },
        { "https://h:1/x/y", "h:1", "/x/y", true },
        { "http://h?q", "h", "?q", false },
        { "http://h#f/", "h", "#f/", false },
        { "http:///x", "", "/x", false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__url u;

        assert_true(bide__url(rows[i].text, strlen(rows[i].text), &u));
        assert_int_equal(u.tls, rows[i].tls);
        assert_true(is(u.authority, u.authority_len, rows[i].authority));
        assert_true(is(u.rest, u.rest_len, rows[i].rest));
    }
}

static void url_of_another_scheme_is_refused(void **state)
{
    static const char *const rows[] = { "",        "http://",  "https://",
                                        "ftp://h", "HTTP://h", "http:/h",
                                        "h:80" };
    struct bide__url u;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_false(bide__url(rows[i], strlen(rows[i]), &u));
}

static void host_is_a_name_or_an_address(void **state)
{
    char long_name[254];

    (void)state;
    memset(long_name, 'a', sizeof long_name);
    assert_true(bide__is_host(long_name, 253));
    assert_false(bide__is_host(long_name, 254));
    assert_true(bide__is_host("api-1.Example_x", 15));
    assert_false(bide__is_host("", 0));
    assert_false(bide__is_host(".a", 2));
    assert_false(bide__is_host("-a", 2));
    assert_false(bide__is_host("a b", 3));
    assert_false(bide__is_host("a\0b", 3));
    assert_true(bide__is_ipv4("127.0.0.1"));
    assert_false(bide__is_ipv4("127.1"));
    assert_true(bide__is_ipv6("fd00::1"));
    assert_false(bide__is_ipv6("[::1]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(port_is_one_to_five_digits),
        cmocka_unit_test(authority_is_cut_at_its_colon),
        cmocka_unit_test(authority_with_loose_brackets_is_refused),
        cmocka_unit_test(url_is_cut_behind_its_authority),
        cmocka_unit_test(url_of_another_scheme_is_refused),
        cmocka_unit_test(host_is_a_name_or_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
