/* test_http1_body.c: bodies, as rows of bytes and what they come to. Every row
 * is fed whole, cut in two at each place, and byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http1_text.h"
#include "net/http1/body.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { TEXT = 65536 };

/* Takes all pieces that there are between at and end, in a block of memory of
 * exactly that; moves at on. */
static int take(struct http1_body *b, struct text *t, const char *bytes,
                size_t *at, size_t end)
{
    char *copy = exactly(bytes + *at, end - *at);
    size_t used = 0;
    int rc;

    do {
        struct http1_piece piece;

        rc = http1_body_next(b, copy + used, end - *at - used, &piece);
        if (rc < 0)
            break;
        assert_true(piece.data + piece.data_len <= piece.consumed);
        assert_true(piece.consumed <= end - *at - used);
        assert_true((rc == HTTP1_DATA) == (piece.data_len > 0));
        add_bytes(t, copy + used + piece.data, piece.data_len);
        used += piece.consumed;
    } while (rc == HTTP1_DATA);
    free(copy);
    *at += used;
    return rc;
}

/* "data" and then ", end" with what was left over, ", more" or an error. */
static void outcome(char *to, struct http1_body *b, const char *bytes,
                    size_t len, long cut)
{
    struct text t = { to, TEXT };
    size_t at = 0, end = 0;
    int rc;

    do {
        end = next_cut(end, len, cut);
        rc = take(b, &t, bytes, &at, end);
    } while (rc == HTTP1_MORE && end < len);
    if (rc < 0) {
        struct http1_piece piece;

        assert_int_equal(http1_body_next(b, "", 0, &piece), rc);
        assert_int_equal(http1_body_eof(b), HTTP1_ETRUNCATED);
        add(&t, ", %s", http1_error_name(rc));
    } else if (rc == HTTP1_END) {
        assert_int_equal(http1_body_eof(b), HTTP1_END);
        add(&t, ", end");
        if (at < len)
            add(&t, " %zu left", len - at);
    } else {
        add(&t, ", more");
    }
}

static void expect(enum http1_framing framing, uint64_t length,
                   const char *bytes, size_t len, const char *want)
{
    static char got[TEXT];

    for (long cut = FEED_BYTES; cut < (long)len; cut++) {
        struct http1_body b;

        http1_body_init(&b, framing, length);
        outcome(got, &b, bytes, len, cut);
        if (strcmp(got, want) != 0)
            fail_msg("%s\ncut at %ld: %s\nwant: %s", bytes, cut, got, want);
    }
}

struct row {
    const char *bytes, *want;
};

static void expect_chunked(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect(HTTP1_CHUNKED, 0, rows[i].bytes, strlen(rows[i].bytes),
               rows[i].want);
}

static void chunks_read(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { "0\r\n\r\n", ", end" },
        { "000\r\n\r\n", ", end" },
        { "5\r\nhello\r\n0\r\n\r\n", "hello, end" },
        { "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world, end" },
        { "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789, end" },
        { "0000000000000001\r\nx\r\n0\r\n\r\n", "x, end" },
        { "2\r\n\r\n\r\n0\r\n\r\n", "\r\n, end" },
        { "", ", more" },
        { "5", ", more" },
        { "5\r\nhel", "hel, more" },
        { "5\r\nhello", "hello, more" },
        { "5\r\nhello\r\n", "hello, more" },
        { "5\r\nhello\r\n0\r\n", "hello, more" },
        { "5\r\nhello\r\n0\r\n\r", "hello, more" },
        { "7fffffffffffffff\r\nx", "x, more" },
    };
    /* clang-format on */

    (void)state;
    expect_chunked(rows, COUNT(rows));
}

static void chunks_refused(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { "\r\n", ", chunk_size" },
        { "\n", ", chunk_size" },
        { "g\r\n", ", chunk_size" },
        { "+5\r\n", ", chunk_size" },
        { "-5\r\n", ", chunk_size" },
        { "0x5\r\n", ", chunk_size" },
        { " 5\r\n", ", chunk_size" },
        { "5 \r\n", ", chunk_size" },
        { "5\t\r\n", ", chunk_size" },
        { "5_0\r\n", ", chunk_size" },
        { "5,\r\n", ", chunk_size" },
        { ";a\r\n", ", chunk_size" },
        { "5\n", ", bare_lf" },
        { "5\rx", ", bare_cr" },
        { "5\r\r\n", ", bare_cr" },
        { "8000000000000000\r\n", ", chunk_too_large" },
        { "ffffffffffffffff\r\n", ", chunk_too_large" },
        { "00000000000000005\r\n", ", chunk_too_large" },
        { "10000000000000000\r\n", ", chunk_too_large" },
        { "5\r\nhello0\r\n\r\n", "hello, chunk_end" },
        { "5\r\nhello\n0\r\n\r\n", "hello, chunk_end" },
        { "5\r\nhello\rx", "hello, chunk_end" },
        { "5\r\nhello!\r\n", "hello, chunk_end" },
        { "1\r\na\r\n\r\n", "a, chunk_size" },
    };
    /* clang-format on */

    (void)state;
    expect_chunked(rows, COUNT(rows));
}

static void extensions_are_checked_and_passed_over(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { "1;a\r\nx\r\n0;b\r\n\r\n", "x, end" },
        { "1;a=b;c;d=\"e ;\t\x80\"\r\nx\r\n0\r\n\r\n", "x, end" },
        { "1;a=\"\"\r\nx\r\n0\r\n\r\n", "x, end" },
        { "1;\r\n", ", chunk_extension" },
        { "1;;a\r\n", ", chunk_extension" },
        { "1;a=\r\n", ", chunk_extension" },
        { "1;=a\r\n", ", chunk_extension" },
        { "1; a\r\n", ", chunk_extension" },
        { "1;a b\r\n", ", chunk_extension" },
        { "1;a=b=c\r\n", ", chunk_extension" },
        { "1;a=\"b\"c\r\n", ", chunk_extension" },
        { "1;a=\"b\r\n", ", chunk_extension" },
        { "1;a=\"b\\\"\"\r\n", ", chunk_extension" },
        { "1;a=\"\x01\"\r\n", ", chunk_extension" },
        { "1;a=\x80\r\n", ", chunk_extension" },
        { "1;a\n", ", bare_lf" },
        { "1;a=b\n", ", bare_lf" },
        { "1;a=\"b\"\n", ", bare_lf" },
        { "1;a\rx", ", bare_cr" },
    };
    /* clang-format on */

    (void)state;
    expect_chunked(rows, COUNT(rows));
}

/* The bound is on all of them, so that small chunks with large extensions do
 * not get round it. */
static void extensions_are_bounded_over_the_body(void **state)
{
    static char bytes[4096], want[256];
    static const char chunk[] = "1;1234567\r\nx\r\n"; /* 8 bytes, CR included */
    size_t n = HTTP1_EXT_BYTES / 8, size = sizeof chunk - 1;

    (void)state;
    for (size_t i = 0; i < n; i++)
        memcpy(bytes + i * size, chunk, size);
    memset(want, 'x', n);
    memcpy(bytes + n * size, "0\r\n\r\n", 5);
    snprintf(want + n, sizeof want - n, ", end");
    expect(HTTP1_CHUNKED, 0, bytes, n * size + 5, want);
    memcpy(bytes + n * size, "0;a\r\n\r\n", 7);
    snprintf(want + n, sizeof want - n, ", chunk_extension");
    expect(HTTP1_CHUNKED, 0, bytes, n * size + 7, want);
}

static void trailers_checked(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { "0\r\nA: b\r\nGrpc-Status: 0\r\n\r\n", ", end" },
        { "0\r\nA: b\r\n", ", more" },
        { "0\r\nContent-Length: 5\r\n\r\n", ", trailer" },
        { "0\r\nTransfer-Encoding: chunked\r\n\r\n", ", trailer" },
        { "0\r\nhost: h\r\n\r\n", ", trailer" },
        { "0\r\nConnection: close\r\n\r\n", ", trailer" },
        { "0\r\nAuthorization: x\r\n\r\n", ", trailer" },
        { "0\r\nA : b\r\n\r\n", ", space_before_colon" },
        { "0\r\n a\r\n\r\n", ", obs_fold" },
        { "0\r\nA: b\n\r\n", ", bare_lf" },
        { "0\r\n\n", ", bare_lf" },
        { "0\r\n\rx", ", bare_cr" },
        { "0\r\nGET / HTTP/1.1\r\n\r\n", ", space_before_colon" },
    };
    static const char nul[] = "0\r\nA: \0\r\n\r\n";
    /* clang-format on */

    (void)state;
    expect_chunked(rows, COUNT(rows));
    expect(HTTP1_CHUNKED, 0, nul, sizeof nul - 1, ", value");
}

static void trailers_bounded(void **state)
{
    static char bytes[HTTP1_HEAD_BYTES + 64];
    size_t len = 3;

    (void)state;
    memcpy(bytes, "0\r\n", 3);
    for (int i = 0; i <= HTTP1_TRAILER_FIELDS; i++, len += 4)
        memcpy(bytes + len, "a:\r\n", 4);
    expect(HTTP1_CHUNKED, 0, bytes, len, ", too_many_fields");

    memset(bytes + 3, 'a', sizeof bytes - 3);
    for (int bytewise = 0; bytewise < 2; bytewise++) {
        static char got[TEXT];
        struct http1_body b;

        http1_body_init(&b, HTTP1_CHUNKED, 0);
        outcome(got, &b, bytes, HTTP1_HEAD_BYTES + 2, FEED_WHOLE);
        assert_string_equal(got, ", more");
        http1_body_init(&b, HTTP1_CHUNKED, 0);
        outcome(got, &b, bytes, HTTP1_HEAD_BYTES + 3,
                bytewise ? FEED_BYTES : FEED_WHOLE);
        assert_string_equal(got, ", head_too_long");
    }
}

static void trailers_kept(void **state)
{
    static const char bytes[] =
        "1\r\nx\r\n0\r\nA: b\r\ngrpc-status:0\r\n\r\nrest";
    struct http1_field fields[4];
    struct http1_piece piece;
    struct http1_body b;
    size_t at;

    (void)state;
    http1_body_init(&b, HTTP1_CHUNKED, 0);
    http1_body_keep_trailer(&b, fields, 4);
    assert_int_equal(http1_body_next(&b, bytes, sizeof bytes - 1, &piece),
                     HTTP1_DATA);
    at = piece.consumed;
    assert_int_equal(at, 4);
    assert_int_equal(
        http1_body_next(&b, bytes + at, sizeof bytes - 1 - at, &piece),
        HTTP1_END);
    assert_string_equal(bytes + at + piece.consumed, "rest");
    assert_memory_equal(bytes + at + piece.data, "A: b", 4);
    assert_int_equal(b.trailer.n_fields, 2);
    assert_int_equal(b.trailer.head_len, 6 + 15 + 2);
    assert_int_equal(fields[1].line, 6);
    assert_int_equal(fields[1].id, HTTP1_ID_GRPC_STATUS);
}

static void lengths_read(void **state)
{
    struct http1_piece piece;
    struct http1_body b;

    (void)state;
    expect(HTTP1_LENGTH, 5, "hello", 5, "hello, end");
    expect(HTTP1_LENGTH, 6, "hello", 5, "hello, more");
    expect(HTTP1_UNTIL_CLOSE, 0, "hello", 5, "hello, more");
    expect(HTTP1_TUNNEL, 0, "hello", 5, "hello, more");
    expect(HTTP1_LENGTH, INT64_MAX, "hello", 5, "hello, more");

    http1_body_init(&b, HTTP1_LENGTH, 3);
    assert_int_equal(http1_body_eof(&b), HTTP1_ETRUNCATED);
    assert_int_equal(http1_body_next(&b, "hello", 5, &piece), HTTP1_DATA);
    assert_int_equal(piece.consumed, 3);
    assert_int_equal(http1_body_eof(&b), HTTP1_END);
    assert_int_equal(http1_body_next(&b, "lo", 2, &piece), HTTP1_END);
    assert_int_equal(piece.consumed, 0);

    http1_body_init(&b, HTTP1_NO_BODY, 17);
    assert_int_equal(http1_body_next(&b, "next", 4, &piece), HTTP1_END);
    assert_int_equal(piece.consumed, 0);
    assert_int_equal(http1_body_eof(&b), HTTP1_END);

    http1_body_init(&b, HTTP1_UNTIL_CLOSE, 0);
    assert_int_equal(http1_body_next(&b, "next", 4, &piece), HTTP1_DATA);
    assert_int_equal(http1_body_eof(&b), HTTP1_END);

    http1_body_init(&b, HTTP1_CHUNKED, 0);
    assert_int_equal(http1_body_eof(&b), HTTP1_ETRUNCATED);
}

/* Behind the last chunk comes the next message, and is left alone. */
static void chunks_leave_the_next_message(void **state)
{
    static const char bytes[] = "1\r\nx\r\n0\r\n\r\nGET /";
    static char got[TEXT];
    struct http1_body b;

    (void)state;
    http1_body_init(&b, HTTP1_CHUNKED, 0);
    outcome(got, &b, bytes, sizeof bytes - 1, FEED_WHOLE);
    assert_string_equal(got, "x, end 5 left");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_read),
        cmocka_unit_test(chunks_refused),
        cmocka_unit_test(extensions_are_checked_and_passed_over),
        cmocka_unit_test(extensions_are_bounded_over_the_body),
        cmocka_unit_test(trailers_checked),
        cmocka_unit_test(trailers_bounded),
        cmocka_unit_test(trailers_kept),
        cmocka_unit_test(lengths_read),
        cmocka_unit_test(chunks_leave_the_next_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
