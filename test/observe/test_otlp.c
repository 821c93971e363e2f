/* test_otlp.c: the wire format byte by byte, and JSON. That the reference
 * implementation reads it is test/observe/otlp.py's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "observe/event/log.h"
#include "observe/export/otlp.h"
#include "observe/export/otlp_known.h"
#include "observe/export/otlp_writer.h"
#include "scene.h"

static void expect_bytes(const struct bide__out *out, const void *want,
                         size_t len)
{
    assert_false(out->failed);
    assert_int_equal(out->len, len);
    assert_memory_equal(out->data, want, len);
}

/* The examples of the protobuf documentation: 150 is 96 01, "testing", and a
 * message in a message. */
static void protobuf_known_bytes(void **state)
{
    static const uint8_t want[] = { 0x08, 0x96, 0x01, 0x12, 0x07, 't',
                                    'e',  's',  't',  'i',  'n',  'g',
                                    0x1a, 0x03, 0x08, 0x96, 0x01 };
    struct bide__out out = { 0 };
    struct bide__otlp w = { .out = &out };

    (void)state;
    bide__otlp_begin(&w);
    bide__otlp_int64(&w, 1, "a", 150);
    bide__otlp_text(&w, 2, "b", "testing");
    bide__otlp_message(&w, 3, "c");
    bide__otlp_int64(&w, 1, "a", 150);
    bide__otlp_end(&w);
    bide__otlp_finish(&w);
    expect_bytes(&out, want, sizeof want);
    bide__out_done(&out);
}

static void protobuf_negative_and_fixed_numbers(void **state)
{
    static const uint8_t want[] = {
        0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
        0x11, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* fixed64 */
        0x19, 0,    0,    0,    0,    0,    0,    0xf8, 0x3f, /* 1.5 */
    };
    struct bide__out out = { 0 };
    struct bide__otlp w = { .out = &out };

    (void)state;
    bide__otlp_begin(&w);
    bide__otlp_int64(&w, 1, "a", -1);
    bide__otlp_fixed64(&w, 2, "b", 0x0102030405060708);
    bide__otlp_double(&w, 3, "c", 1.5);
    bide__otlp_fixed64(&w, 4, "d", 0); /* left out */
    bide__otlp_enum(&w, 5, "e", 0);    /* likewise */
    bide__otlp_finish(&w);
    expect_bytes(&out, want, sizeof want);
    bide__out_done(&out);
}

/* A length of two bytes moves the message by one more. */
static void protobuf_long_messages(void **state)
{
    char text[301];
    struct bide__out out = { 0 };
    struct bide__otlp w = { .out = &out };

    (void)state;
    memset(text, 'x', 300);
    text[300] = '\0';
    bide__otlp_begin(&w);
    bide__otlp_message(&w, 1, "m");
    bide__otlp_text(&w, 2, "t", text);
    bide__otlp_end(&w);
    bide__otlp_finish(&w);
    assert_int_equal(out.len, 3 + 3 + 300);
    assert_memory_equal(out.data, "\x0a\xaf\x02\x12\xac\x02xxx", 9);
    bide__out_done(&out);
}

static void protobuf_strings_are_utf8(void **state)
{
    struct bide__out out = { 0 };
    struct bide__otlp w = { .out = &out };

    (void)state;
    bide__otlp_begin(&w);
    bide__otlp_text(&w, 1, "t", "a\xff");
    bide__otlp_finish(&w);
    expect_bytes(&out,
                 "\x0a\x04"
                 "a\xef\xbf\xbd",
                 6);
    bide__out_done(&out);
}

static void json_by_the_rules_of_otlp(void **state)
{
    static const uint64_t counts[] = { 1, 2 };
    static const double bounds[] = { 0.5, 1.0 / 0.0 };
    struct bide__out out = { 0 };
    struct bide__otlp w = { .out = &out, .json = true };

    (void)state;
    bide__otlp_begin(&w);
    bide__otlp_id(&w, 1, "traceId", (const uint8_t *)"\x01\xab", 2);
    bide__otlp_list(&w, "attributes");
    bide__otlp_attribute_int(&w, 9, BIDE__KEY("n"), -5);
    bide__otlp_attribute_flag(&w, 9, BIDE__KEY("f"), false);
    bide__otlp_end(&w);
    bide__otlp_counts(&w, 6, "bucketCounts", counts, 2);
    bide__otlp_doubles(&w, 7, "explicitBounds", bounds, 2);
    bide__otlp_enum(&w, 3, "code", 2);
    bide__otlp_finish(&w);
    bide__out_char(&out, '\0');
    assert_string_equal(
        out.data,
        "{\"traceId\":\"01ab\",\"attributes\":["
        "{\"key\":\"n\",\"value\":{\"intValue\":\"-5\"}},"
        "{\"key\":\"f\",\"value\":{\"boolValue\":false}}],"
        "\"bucketCounts\":[\"1\",\"2\"],\"explicitBounds\":[0.5,\"Infinity\"],"
        "\"code\":2}");
    bide__out_done(&out);
}

/* Both formats say the same number of spans; a breaker's event is none. */
static void spans_of_a_call(void **state)
{
    struct bide__otlp_source from = { "test", "i-1", 1000 * BIDE_SECOND, 0 };
    struct bide__event e[4];
    struct bide__out out = { 0 };

    (void)state;
    scene_events(e);
    bide__event_breaker(&e[3], "pay", BIDE_BREAKER_CLOSED, BIDE_BREAKER_OPEN,
                        0);
    bide__otlp_spans(&out, &from, true, e, 4);
    bide__out_char(&out, '\0');
    int spans = 0;
    for (const char *at = out.data; (at = strstr(at, "\"spanId\"")); at++)
        spans++;
    assert_int_equal(spans, 3);
    assert_non_null(
        strstr(out.data, "\"startTimeUnixNano\":\"1005000000000\""));
    assert_non_null(strstr(out.data, "\"name\":\"GET pay\""));
    assert_non_null(strstr(out.data, "{\"key\":\"retry.delay_ms\",\"value\":"
                                     "{\"doubleValue\":121}}"));
    bide__out_done(&out);
}

/* What is kept of spans must not be seen in them, whatever they have in common:
 * few of each, so that they meet again, and more than are kept. */
static void spans_are_the_same_from_memory(void **state)
{
    static const char *const words[] = { "a", "pay", "pay/default",
                                         "GET /", "GET /pay/17", "POST /x",
                                         "LONGERTHANMETHODSARE /", "" };
    static struct bide__otlp_known known;
    struct bide__otlp_source from = { "test", "i-1", 1000 * BIDE_SECOND, 0 };
    struct bide__out plain = { 0 }, fast = { 0 };
    uint32_t seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct bide__event e;
        uint8_t draw[16];
        for (size_t k = 0; k < sizeof draw; k++)
            draw[k] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        bide_outcome out = { .cls = draw[0] % 3, .status = 200 + draw[1] % 3 };
        if (draw[2] & 1)
            bide__event_attempt(&e, 1 + draw[3] % 2, draw[4] % 4, &out, i, i + 9);
        else
            bide__event_call(&e, 1 + draw[3] % 2, draw[4] % 4, &out, i, i + 9);
        e.slept_ns = draw[5] % 2;
        e.action = draw[6] % 3;
        memset(e.trace.trace_id, draw[7], sizeof e.trace.trace_id);
        for (unsigned t = 0; t < BIDE__N_TEXTS; t++) {
            const char *text = words[draw[8 + t] % 8];
            bide__event_put(&e, t, text, strlen(text));
        }
        plain.len = fast.len = 0;
        bide__otlp_span(&plain, &from, false, &e, true, NULL);
        bide__otlp_span(&fast, &from, false, &e, true, &known);
        assert_int_equal(plain.len, fast.len);
        assert_memory_equal(plain.data, fast.data, plain.len);
    }
    bide__out_done(&plain);
    bide__out_done(&fast);
}

/* A number that has no name is left out, in spans and lines alike; it must not
 * bring the program down that is observed. */
static void regress_what_has_no_name_is_left_out(void **state)
{
    struct bide__otlp_source from = { "test", "i-1", 1000 * BIDE_SECOND, 0 };
    bide_outcome odd = { .cls = BIDE_N_CLASSES, .fault = BIDE_N_FAULTS };

    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        struct bide__out out = { 0 };
        struct bide__event e;
        if (kind == 0)
            bide__event_call(&e, 1, BIDE_N_REASONS, &odd, 1, 2);
        else
            bide__event_attempt(&e, 1, BIDE_N_REASONS, &odd, 1, 2);
        e.reason = 0xff;
        bide__otlp_span(&out, &from, true, &e, true, NULL);
        bide__otlp_span(&out, &from, false, &e, true, NULL);
        bide__log_line(&out, &e, 0);
        assert_false(out.failed);
        bide__out_done(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protobuf_known_bytes),
        cmocka_unit_test(protobuf_negative_and_fixed_numbers),
        cmocka_unit_test(protobuf_long_messages),
        cmocka_unit_test(protobuf_strings_are_utf8),
        cmocka_unit_test(json_by_the_rules_of_otlp),
        cmocka_unit_test(spans_of_a_call),
        cmocka_unit_test(spans_are_the_same_from_memory),
        cmocka_unit_test(regress_what_has_no_name_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
