/* As much of cmocka as the unit tests need, in a header: cmocka itself is not
 * packaged for cross compiling. A failed assertion ends the program. */
#ifndef BIDE_TEST_CROSS_CMOCKA_H
#define BIDE_TEST_CROSS_CMOCKA_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define test_malloc malloc
#define test_calloc calloc
#define test_free free

#define cmocka_unit_test(f) { #f, f }

#define fail_msg(...)                                                          \
    (printf("%s:%d: ", __FILE__, __LINE__), printf(__VA_ARGS__), puts(""),     \
     fflush(stdout), exit(1))
#define shim_check(ok, what)                                                   \
    do {                                                                       \
        if (!(ok))                                                             \
            fail_msg("%s", what);                                              \
    } while (0)

#define assert_true(a) shim_check((a), #a)
#define assert_false(a) shim_check(!(a), "not " #a)
#define assert_null(a) shim_check((a) == NULL, #a " is NULL")
#define assert_non_null(a) shim_check((a) != NULL, #a " is not NULL")
#define assert_int_equal(a, b)                                                 \
    shim_check((long long)(a) == (long long)(b), #a " == " #b)
#define assert_int_not_equal(a, b)                                             \
    shim_check((long long)(a) != (long long)(b), #a " != " #b)
#define assert_in_range(a, lo, hi)                                             \
    shim_check(shim_in_range((uint64_t)(a), (uint64_t)(lo), (uint64_t)(hi)),   \
               #a " in " #lo " .. " #hi)
#define assert_ptr_equal(a, b)                                                 \
    shim_check((const void *)(a) == (const void *)(b), #a " == " #b)
#define assert_string_equal(a, b) shim_check(strcmp(a, b) == 0, #a " is " #b)
#define assert_string_not_equal(a, b)                                          \
    shim_check(strcmp(a, b) != 0, #a " is not " #b)
#define assert_memory_equal(a, b, n)                                           \
    shim_check(memcmp(a, b, n) == 0, #a " is " #b)
#define assert_memory_not_equal(a, b, n)                                       \
    shim_check(memcmp(a, b, n) != 0, #a " is not " #b)
#define assert_float_equal(a, b, e)                                            \
    shim_check((a) - (b) <= (e) && (b) - (a) <= (e), #a " near " #b)

static inline int shim_in_range(uint64_t a, uint64_t lo, uint64_t hi)
{
    return a >= lo && a <= hi;
}

static inline int shim_run(const struct CMUnitTest *tests, size_t n,
                           int (*set_up)(void **), int (*tear_down)(void **))
{
    void *state = NULL;
    if (set_up && set_up(&state) != 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        tests[i].run(&state);
    return tear_down ? tear_down(&state) : 0;
}

#define cmocka_run_group_tests(tests, set_up, tear_down)                       \
    shim_run(tests, sizeof(tests) / sizeof(tests)[0], set_up, tear_down)
#define cmocka_run_group_tests_name(name, tests, set_up, tear_down)            \
    cmocka_run_group_tests(tests, set_up, tear_down)

#endif
