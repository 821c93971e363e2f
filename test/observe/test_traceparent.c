/* test_traceparent.c: what is read of a trace, what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "observe/event/traceparent.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TRACE        "0af7651916cd43dd8448eb211c80319c"
#define SPAN         "b7ad6b7169203331"

static void traceparent_rows(void **state)
{
    static const struct {
        const char *text;
        bool fine, sampled;
    } rows[] = {
        { "00-" TRACE "-" SPAN "-01", true, true },
        { "00-" TRACE "-" SPAN "-00", true, false },
        { "00-" TRACE "-" SPAN "-03", true, true },
        { "cc-" TRACE "-" SPAN "-01", true, true },
        { "cc-" TRACE "-" SPAN "-01-what-comes", true, true },
        { "cc-" TRACE "-" SPAN "-01.what", false, false },
        { "ff-" TRACE "-" SPAN "-01", false, false },
        { "00-" TRACE "-" SPAN "-01-extra", false, false },
        { "00-" TRACE "-" SPAN "-0", false, false },
        { "00-" TRACE "-" SPAN, false, false },
        { "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01", false, false },
        { "00-00000000000000000000000000000000-" SPAN "-01", false, false },
        { "00-" TRACE "-0000000000000000-01", false, false },
        { "00_" TRACE "-" SPAN "-01", false, false },
        { "00-" TRACE "_" SPAN "-01", false, false },
        { "00-" TRACE "-" SPAN "_01", false, false },
        { "0g-" TRACE "-" SPAN "-01", false, false },
        { "00-" TRACE "-" SPAN "-0x", false, false },
        { "", false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bide__trace t = { .sampled = true };
        bool fine =
            bide__traceparent_read(&t, rows[i].text, strlen(rows[i].text));
        if (fine != rows[i].fine)
            fail_msg("`%s` is taken for %s", rows[i].text,
                     fine ? "fine" : "bad");
        if (fine)
            assert_int_equal(t.sampled, rows[i].sampled);
    }
}

static void trace_is_kept_and_goes_on(void **state)
{
    struct bide__ids ids;
    struct bide__trace call, attempt;
    char text[BIDE__TRACEPARENT + 1];

    (void)state;
    assert_true(bide__ids_init(&ids));
    assert_true(bide__traceparent_read(&call, "00-" TRACE "-" SPAN "-01", 55));
    assert_memory_equal(call.parent_id, "\xb7\xad\x6b\x71\x69\x20\x33\x31", 8);
    bide__trace_enter(&call, &ids);
    attempt = bide__trace_child(&call, &ids);
    assert_memory_equal(attempt.trace_id, call.trace_id, 16);
    assert_memory_equal(attempt.parent_id, call.span_id, 8);
    assert_memory_not_equal(attempt.span_id, call.span_id, 8);
    bide__traceparent_write(&attempt, text);
    assert_int_equal(strlen(text), BIDE__TRACEPARENT);
    assert_memory_equal(text, "00-" TRACE "-", 36);
    assert_string_equal(text + 52, "-01");

    struct bide__trace back;
    assert_true(bide__traceparent_read(&back, text, strlen(text)));
    assert_memory_equal(back.parent_id, attempt.span_id, 8);
}

static void trace_of_our_own_has_ids(void **state)
{
    struct bide__ids ids;
    struct bide__trace a, b;
    static const uint8_t none[16];

    (void)state;
    assert_true(bide__ids_init(&ids));
    bide__trace_start(&a, &ids, false);
    bide__trace_start(&b, &ids, true);
    assert_memory_not_equal(a.trace_id, none, 16);
    assert_memory_not_equal(a.span_id, none, 8);
    assert_memory_equal(a.parent_id, none, 8);
    assert_memory_not_equal(a.trace_id, b.trace_id, 16);
    assert_false(a.sampled);
    assert_true(b.sampled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traceparent_rows),
        cmocka_unit_test(trace_is_kept_and_goes_on),
        cmocka_unit_test(trace_of_our_own_has_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
