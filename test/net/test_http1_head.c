/* test_http1_head.c: what holds for the head of requests and responses alike.
 */
#include "http1_rows.h"

static void lines_refused(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { G "Host : h\r\n" END, "space_before_colon" },
        { G "Host\t: h\r\n" END, "space_before_colon" },
        { G "X Y: h\r\n" END, "space_before_colon" },
        { G " Host: h\r\n" END, "obs_fold" },
        { G HOST " folded\r\n" END, "obs_fold" },
        { G HOST "\tfolded\r\n" END, "obs_fold" },
        { G HOST "X: a\r\n b\r\n" END, "obs_fold" },
        { G ": h\r\n" END, "name" },
        { G "Host\r\n" END, "name" },
        { G "Ho\x80st: h\r\n" END, "name" },
        { G "Ho(st: h\r\n" END, "name" },
        { G "Ho\x01st: h\r\n" END, "name" },
        { G "\"Host\": h\r\n" END, "name" },
        { G "Host\n", "bare_lf" },
        { G "\n", "bare_lf" },
        { G "Host: h\n" END, "bare_lf" },
        { G HOST "X: this value is longer than sixteen bytes\n" END, "bare_lf" },
        { G HOST "\n", "bare_lf" },
        { G HOST "\rX", "bare_cr" },
        { G HOST "X: a\rb\r\n" END, "bare_cr" },
        { G HOST "X: a\r\r\n" END, "bare_cr" },
        { G HOST "X: a\x01\r\n" END, "value" },
        { G HOST "X: a\x7f\r\n" END, "value" },
        { G HOST "X: a\v\r\n" END, "value" },
        { G HOST "X: this value is longer than sixteen\x1f bytes\r\n" END, "value" },
        { G HOST "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\nG:\r\n" END,
          "GET origin / @h 1.1 none keep" },
        { G HOST "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\nF:\r\nG:\r\nH:\r\n" END, "too_many_fields" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), REQUEST);
}

static void lines_with_nul_refused(void **state)
{
    static const char in_value[] = G "Host: a\0b\r\n" END;
    static const char in_name[] = G "Ho\0st: h\r\n" END;
    static const char in_target[] = "GET /\0 HTTP/1.1\r\n" HOST END;
    static const char in_method[] = "G\0T / HTTP/1.1\r\n" HOST END;

    (void)state;
    expect(in_value, sizeof in_value - 1, REQUEST, "value", false);
    expect(in_name, sizeof in_name - 1, REQUEST, "name", false);
    expect(in_target, sizeof in_target - 1, REQUEST, "target", false);
    expect(in_method, sizeof in_method - 1, REQUEST, "method", false);
}

/* Lines lie one behind the other, values lose the blanks around them, and what
 * Connection names is marked wherever it stands. */
static void fields_extents_and_hops(void **state)
{
    static const char bytes[] =
        G "X-Hop: 1\r\n" HOST "Connection: x-hop, ~a\r\n"
          "KEEP-ALIVE:\t5 \r\n^a: \x80 x\ty \r\n"
          "X-Hop2:\r\nx-HOP:2\r\n" END;

    (void)state;
    expect(bytes, sizeof bytes - 1, REQUEST,
           "GET origin / @h 1.1 none keep named"
           " | \"X-Hop\"*=1 (16+10) | host=h (26+9)"
           " | connection*=x-hop, ~a (35+23) | keep-alive*=5 (58+16)"
           " | \"^a\"=\x80 x\ty (74+12) | \"X-Hop2\"= (86+9)"
           " | \"x-HOP\"*=2 (95+9)",
           true);
}

/* Of known names too: X-Forwarded-For may be named, and is then dropped. */
static void fields_known_name_nominated(void **state)
{
    static const char bytes[] = G HOST
        "X-Forwarded-For: 1.2.3.4\r\nConnection: X-FORWARDED-FOR\r\n" END;

    (void)state;
    expect(bytes, sizeof bytes - 1, REQUEST,
           "GET origin / @h 1.1 none keep named | host=h (16+9)"
           " | x-forwarded-for*=1.2.3.4 (25+26)"
           " | connection*=X-FORWARDED-FOR (51+29)",
           true);
}

/* What CGI could take for another name is told apart, also where that comes in
 * pieces, behind blocks of 16 bytes, or is named by Connection. */
static void fields_underscore_told_apart(void **state)
{
    static const char bytes[] =
        G HOST "X_Forwarded_For: 1\r\nA-name-of-17-byt_: 2\r\n"
               "Via-x: _\r\n_: 3\r\nConnection: a_B\r\nA_b: 4\r\n" END;

    (void)state;
    expect(bytes, sizeof bytes - 1, REQUEST,
           "GET origin / @h 1.1 none keep named | host=h (16+9)"
           " | _\"X_Forwarded_For\"=1 (25+20)"
           " | _\"A-name-of-17-byt_\"=2 (45+22) | \"Via-x\"=_ (67+10)"
           " | _\"_\"=3 (77+6) | connection*=a_B (83+17)"
           " | _\"A_b\"*=4 (100+8)",
           true);
}

static void head_longer_than_the_bound_is_refused(void **state)
{
    char bytes[BYTES + 8];
    int n = snprintf(bytes, sizeof bytes, G HOST "X: ");

    (void)state;
    memset(bytes + n, 'a', sizeof bytes - (size_t)n);
    memcpy(bytes + BYTES - 4, "\r\n\r\n", 4);
    for (size_t len = BYTES; len <= sizeof bytes; len += 8) {
        char text[TEXT];

        outcome(text, bytes, len, REQUEST, FEED_WHOLE, false);
        assert_memory_equal(text, "GET", 3);
    }
    bytes[BYTES - 4] = 'a';
    bytes[BYTES - 3] = '\r';
    bytes[BYTES - 2] = '\n';
    bytes[BYTES - 1] = '\r';
    expect(bytes, BYTES - 1, REQUEST, "more", false);
    expect(bytes, BYTES, REQUEST, "head_too_long", false);
    expect(bytes, sizeof bytes, REQUEST, "head_too_long", false);
}

/* What follows the head is not looked at. */
static void head_followed_by_more_is_the_same(void **state)
{
    static const char bytes[] = G HOST END "GET / NONSENSE\n\n";
    struct http1_field fields[FIELDS];
    struct http1_head h;

    (void)state;
    begin(&h, fields, REQUEST);
    assert_int_equal(http1_parse(&h, bytes, sizeof bytes - 1), 27);
    assert_int_equal(http1_parse(&h, bytes, sizeof bytes - 1), 27);
    assert_int_equal(h.fields_at, 16);
    assert_true(http1_has(&h, HTTP1_ID_HOST));
    assert_false(http1_has(&h, HTTP1_ID_VIA));
    assert_ptr_equal(http1_find(&h, HTTP1_ID_HOST), &fields[0]);
    assert_null(http1_find(&h, HTTP1_ID_VIA));
}

static void head_without_room_for_fields_is_checked(void **state)
{
    struct http1_head h;

    (void)state;
    http1_request_init(&h, NULL, 2, BYTES);
    assert_true(http1_parse(&h, G HOST "Connection: a\r\n" END, 42) == 42);
    assert_int_equal(h.n_fields, 2);
    assert_null(http1_find(&h, HTTP1_ID_HOST));
    http1_request_init(&h, NULL, 1, BYTES);
    assert_int_equal(http1_parse(&h, G HOST "A: a\r\n" END, 33), HTTP1_EFIELDS);
}

static void errors_have_names_texts_and_statuses(void **state)
{
    (void)state;
#define X(error, value, status, name, text)                                    \
    assert_string_equal(http1_error_name(error), name);                        \
    assert_string_equal(http1_error_text(error), text);                        \
    assert_int_equal(http1_error_status(error), status);
    HTTP1_ERRORS(X)
#undef X
    assert_string_equal(http1_error_name(0), "none");
    assert_string_equal(http1_error_name(7), "none");
    assert_string_equal(http1_error_text(-1000), "no error");
    assert_int_equal(http1_error_status(0), 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_refused),
        cmocka_unit_test(lines_with_nul_refused),
        cmocka_unit_test(fields_extents_and_hops),
        cmocka_unit_test(fields_underscore_told_apart),
        cmocka_unit_test(fields_known_name_nominated),
        cmocka_unit_test(head_longer_than_the_bound_is_refused),
        cmocka_unit_test(head_followed_by_more_is_the_same),
        cmocka_unit_test(head_without_room_for_fields_is_checked),
        cmocka_unit_test(errors_have_names_texts_and_statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
