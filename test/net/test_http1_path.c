/* test_http1_path.c: paths and their normal form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/http1/path.h"

static const struct {
    const char *path, *want; /* NULL: refused */
} rows[] = {
    { "/", "/" },
    { "/a", "/a" },
    { "/a/", "/a/" },
    { "//", "/" },
    { "//pay/", "/pay/" },
    { "/pay//x///y//", "/pay/x/y/" },
    { "/%70ay/", "/pay/" },
    { "/%70%61%79", "/pay" },
    { "/%7E%2d%5f%2E5", "/~-_.5" },
    { "/a%2fb%3a%c3%a4", "/a%2Fb%3A%C3%A4" },
    { "/a%2Fb%3A%C3%A4", "/a%2Fb%3A%C3%A4" },
    { "/%25%2570", "/%25%2570" }, /* decoded once only */
    { "/%20%22", "/%20%22" },
    { "/a:b@c!$&'()*+,;=d", "/a:b@c!$&'()*+,;=d" },
    { "/<\"{|}^`>", "/<\"{|}^`>" }, /* no URI, but sent, and read in one way */

    /* dots */
    { "/.", "/" },
    { "/./", "/" },
    { "/./pay", "/pay" },
    { "/a/.", "/a/" },
    { "/a/./b/./c", "/a/b/c" },
    { "/a/..", "/" },
    { "/a/../", "/" },
    { "/a/../b", "/b" },
    { "/a/b/..", "/a/" },
    { "/a/b/../c", "/a/c" },
    { "/a/b/../../c", "/c" },
    { "/a//../b", "/b" }, /* slashes first: what stands above is "a" */
    { "/a/%2e%2E/b", "/b" },
    { "/a/.%2e/b", "/b" },
    { "/%2e/a", "/a" },
    { "/...", "/..." },
    { "/..a/.b/c./d..", "/..a/.b/c./d.." },
    { "/a..b/%2e%2e%2e", "/a..b/..." },
    { "/a;x=../b", "/a;x=../b" },
    { "/a%2Fb/..", "/" },

    /* above the root */
    { "/..", NULL },
    { "/../a", NULL },
    { "/a/../..", NULL },
    { "/./../a", NULL },
    { "//../a", NULL },
    { "/%2e%2e/a", NULL },
    { "/a/../../b/c", NULL },

    /* what some servers would find dots in */
    { "/a/..%2fb", NULL },
    { "/a/..%5Cb", NULL },
    { "/a%2F..%2Fb", NULL },
    { "/a%2f..", NULL },
    { "/a%2f./b", NULL },
    { "/a%5c%2e%2e", NULL },
    { "/a/..;/b", NULL },
    { "/a/.;x=1/b", NULL },
    { "/a/%2e%2e;/b", NULL },

    /* what must not be there */
    { "/a\\b", NULL },
    { "/..\\b", NULL },
    { "/%00", NULL },
    { "/a%0d%0aX", NULL },
    { "/%1F", NULL },
    { "/%7f", NULL },
    { "/%", NULL },
    { "/%4", NULL },
    { "/%4g", NULL },
    { "/%%34%31", NULL },
    { "/%u0041", NULL },
    { "/a b", NULL },
    { "/\x80", NULL },
    { "", NULL },
    { "a", NULL },
    { "%2Fa", NULL },
};

static void path_rows_have_their_normal_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[64];
        int n;

        strcpy(path, rows[i].path);
        n = http1_path_normalize(path, strlen(path));
        if (!rows[i].want) {
            if (n >= 0)
                fail_msg("%s: %.*s", rows[i].path, n, path);
            continue;
        }
        if (n != (int)strlen(rows[i].want) ||
            memcmp(path, rows[i].want, (size_t)n) != 0)
            fail_msg("%s: %d %.*s, not %s", rows[i].path, n, n < 0 ? 0 : n, path,
                     rows[i].want);
        assert_int_equal(http1_path_normalize(path, (size_t)n), n);
    }
}

static void expect_target(const char *request, const char *path,
                          const char *target)
{
    char buf[128];
    struct http1_field fields[4];
    struct http1_head h;

    strcpy(buf, request);
    http1_request_init(&h, fields, 4, sizeof buf);
    assert_true(http1_parse(&h, buf, strlen(buf)) > 0);
    assert_true(http1_normalize(&h, buf));
    assert_int_equal(h.path_len, strlen(path));
    assert_memory_equal(buf + h.path, path, h.path_len);
    assert_int_equal(h.target_len, strlen(target));
    assert_memory_equal(buf + h.target, target, h.target_len);
    assert_memory_equal(buf + fields[0].line, "Host: x\r\n", 9);
}

/* In a head the query moves along, unchanged, and the rest stays. */
static void path_of_a_head_is_rewritten_in_place(void **state)
{
#define REST " HTTP/1.1\r\nHost: x\r\n\r\n"
    (void)state;
    expect_target("GET //a/../%70?q=/../%70//" REST, "/p",
                  "/p?q=/../%70//");
    expect_target("GET /p?" REST, "/p", "/p?");
    expect_target("GET http://x/./p?a" REST, "/p", "http://x/p?a");
    expect_target("GET http://x" REST, "", "http://x");
    expect_target("GET http://x?a=//" REST, "", "http://x?a=//");
    expect_target("OPTIONS *" REST, "", "*");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_rows_have_their_normal_form),
        cmocka_unit_test(path_of_a_head_is_rewritten_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
