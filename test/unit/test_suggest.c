/* test_suggest.c: what a misspelt word was meant to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/suggest.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void check(const char *found, const char *const *known, const char *want)
{
    struct bide__out out = { 0 };
    bool said = bide__suggest(&out, found, known);

    assert_int_equal(said, want != NULL);
    bide__out_char(&out, '\0');
    assert_string_equal(out.data, want ? want : "");
    bide__out_done(&out);
}

static void suggest_names_the_nearest_or_the_few(void **state)
{
    static const char *const known[] = { "base",   "factor", "cap",
                                         "jitter", "floor",  "spread",
                                         "mode",   "max",    "immediate_first",
                                         "ratio",  "window", NULL };
    static const char *const one[] = { "yes", NULL };
    static const char *const few[] = { "yes", "no", NULL };
    static const char *const three[] = { "yes", "no", "auto", NULL };
    static const struct {
        const char *found, *want;
    } rows[] = {
        { "capp", "did you mean `cap`?" },
        { "cpa", "did you mean `cap`?" },
        { "Jitter", "did you mean `jitter`?" },
        { "immediate-first", "did you mean `immediate_first`?" },
        { "imediatefirst", "did you mean `immediate_first`?" },
        { "fator", "did you mean `factor`?" },
        { "unrelated", NULL },
        { "", NULL },
        { "a", NULL },
    };
    char longest[3000];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        check(rows[i].found, known, rows[i].want);
    check("perhaps", few, "expected `yes` or `no`");
    check("perhaps", three, "expected one of `yes`, `no` or `auto`");
    check("perhaps", one, "expected `yes`");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    check(longest, known, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suggest_names_the_nearest_or_the_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
