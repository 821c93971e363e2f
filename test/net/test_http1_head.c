/* test_http1_head.c: request and response heads, as rows of bytes and what they
 * come to. Every row is fed whole, cut in two at each place, and byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http1_text.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define HOST         "Host: h\r\n"
#define END          "\r\n"

enum { FIELDS = 8, BYTES = 256, TEXT = 4096 };

enum asked { REQUEST, GET_ASKED, HEAD_ASKED, CONNECT_ASKED, UPGRADE_ASKED };

static void begin(struct http1_head *h, struct http1_field *fields,
                  enum asked asked)
{
    static const enum http1_method methods[] = { 0, HTTP1_GET, HTTP1_HEAD,
                                                 HTTP1_CONNECT, HTTP1_GET };

    if (asked == REQUEST)
        http1_request_init(h, fields, FIELDS, BYTES);
    else
        http1_response_init(h, fields, FIELDS, BYTES, methods[asked],
                            asked == UPGRADE_ASKED);
}

/* Feeds in one way and writes all down; with the fields, if asked to. */
static void outcome(char *to, const char *bytes, size_t len, enum asked asked,
                    long cut, bool with_fields)
{
    struct text t = { to, TEXT };
    struct http1_field fields[FIELDS];
    struct http1_head h;
    int rc;

    begin(&h, fields, asked);
    rc = feed_head(&h, bytes, len, cut);
    if (rc < 0) {
        assert_int_equal(http1_parse(&h, bytes, len), rc);
        add_error(&t, rc, with_fields ? h.at : 0);
    } else if (rc == 0) {
        add(&t, "more");
    } else {
        assert_int_equal(h.head_len, rc);
        if (asked == REQUEST)
            add_request(&t, &h, bytes);
        else
            add_response(&t, &h, bytes);
        if (with_fields)
            add_fields(&t, &h, bytes);
    }
}

/* All ways of feeding come to the same; that is compared with what is wanted.
 */
static void expect(const char *bytes, size_t len, enum asked asked,
                   const char *want, bool with_fields)
{
    char whole[TEXT], got[TEXT];

    outcome(whole, bytes, len, asked, FEED_WHOLE, true);
    for (long cut = FEED_BYTES; cut < (long)len; cut++) {
        outcome(got, bytes, len, asked, cut, true);
        if (strcmp(got, whole) != 0)
            fail_msg("%.*s\ncut at %ld: %s\nwhole: %s", (int)len, bytes, cut,
                     got, whole);
    }
    outcome(got, bytes, len, asked, FEED_WHOLE, with_fields);
    if (!with_fields && strchr(got, '@') && strstr(got, " @0"))
        *strstr(got, " @0") = '\0';
    if (strcmp(got, want) != 0)
        fail_msg("%.*s\ngot:  %s\nwant: %s", (int)len, bytes, got, want);
}

struct row {
    const char *bytes, *want;
};

static void expect_rows(const struct row *rows, size_t n, enum asked asked)
{
    for (size_t i = 0; i < n; i++)
        expect(rows[i].bytes, strlen(rows[i].bytes), asked, rows[i].want,
               false);
}

/* ===== requests ===== */

static void request_targets_and_versions(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { "GET / HTTP/1.1\r\n" HOST END, "GET origin / @h 1.1 none keep" },
        { "GET /a/b?c=d?e HTTP/1.1\r\n" HOST END, "GET origin /a/b ?c=d?e @h 1.1 none keep" },
        { "GET /? HTTP/1.1\r\n" HOST END, "GET origin / ? @h 1.1 none keep" },
        { "GET //x HTTP/1.1\r\n" HOST END, "GET origin //x @h 1.1 none keep" },
        { "GET /%zz|{} HTTP/1.1\r\n" HOST END, "GET origin /%zz|{} @h 1.1 none keep" },
        { "M-SEARCH /x HTTP/1.1\r\n" HOST END, "M-SEARCH! origin /x @h 1.1 none keep" },
        { "get / HTTP/1.1\r\n" HOST END, "get! origin / @h 1.1 none keep" },
        { "!#$%&'*+-.^_`|~9Az / HTTP/1.1\r\n" HOST END,
          "!#$%&'*+-.^_`|~9Az! origin / @h 1.1 none keep" },
        { "GET / HTTP/1.0\r\n" END, "GET origin / @ 1.0 none" },
        { "GET / HTTP/1.0\r\n" HOST END, "GET origin / @h 1.0 none" },
        { "\r\nGET / HTTP/1.1\r\n" HOST END, "GET origin / @h 1.1 none keep" },
        { "GET http://a.example:80/p?q HTTP/1.1\r\n" HOST END,
          "GET absolute /p ?q @a.example:80 1.1 none keep" },
        { "GET HTTPS://a HTTP/1.1\r\n" HOST END, "GET absolute  @a 1.1 none keep" },
        { "GET http://a?q HTTP/1.1\r\n" HOST END, "GET absolute  ?q @a 1.1 none keep" },
        { "OPTIONS * HTTP/1.1\r\n" HOST END, "OPTIONS asterisk  @h 1.1 none keep" },
        { "OPTIONS http://a HTTP/1.1\r\n" HOST END, "OPTIONS absolute  @a 1.1 none keep" },
        { "CONNECT a.example:443 HTTP/1.1\r\n" HOST END,
          "CONNECT authority  @a.example:443 1.1 none keep" },
        { "CONNECT [::1]:443 HTTP/1.1\r\n" HOST END,
          "CONNECT authority  @[::1]:443 1.1 none keep" },
        { "PUT / HTTP/1.1\r\n" HOST END, "PUT origin / @h 1.1 none keep" },
        { "POST / HTTP/1.1\r\n" HOST END, "POST origin / @h 1.1 none keep" },
        { "HEAD / HTTP/1.1\r\n" HOST END, "HEAD origin / @h 1.1 none keep" },
        { "PATCH / HTTP/1.1\r\n" HOST END, "PATCH origin / @h 1.1 none keep" },
        { "TRACE / HTTP/1.1\r\n" HOST END, "TRACE origin / @h 1.1 none keep" },
        { "DELETE / HTTP/1.1\r\n" HOST END, "DELETE origin / @h 1.1 none keep" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), REQUEST);
}

static void request_first_lines_refused(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { " GET / HTTP/1.1\r\n", "method" },
        { "G@T / HTTP/1.1\r\n", "method" },
        { "GET\t/ HTTP/1.1\r\n", "method" },
        { "GET\r\n", "method" },
        { "G\x80 / HTTP/1.1\r\n", "method" },
        { "\x16\x03\x01", "method" },
        { "\r\n\r\nGET / HTTP/1.1\r\n", "method" },
        { "\rGET / HTTP/1.1\r\n", "bare_cr" },
        { "\nGET / HTTP/1.1\r\n", "bare_lf" },
        { "GET\n", "bare_lf" },
        { "GET  / HTTP/1.1\r\n", "first_line" },
        { "GET /  HTTP/1.1\r\n", "first_line" },
        { "GET / HTTP/1.1 \r\n", "first_line" },
        { "GET / HTTP/1.1\t\r\n", "first_line" },
        { "GET / HTTP/1.10\r\n", "first_line" },
        { "GET /\r\n", "first_line" },
        { "GET /\n", "bare_lf" },
        { "GET / \r\n", "first_line" },
        { "GET / HTTP/1.1\n", "bare_lf" },
        { "GET / HTTP/1\n", "bare_lf" },
        { "GET / HTTP/1.1\rX", "bare_cr" },
        { "GET / HTTP/1.1\r\r\n", "bare_cr" },
        { "GET / http/1.1\r\n", "first_line" },
        { "GET / HTTP/11\r\n", "first_line" },
        { "GET / HTTP/1,1\r\n", "first_line" },
        { "GET / HTTP/+1.1\r\n", "first_line" },
        { "GET / HTTP/x.1\r\n", "first_line" },
        { "GET / HTTPS/1.1\r\n", "first_line" },
        { "GET / ICY/1.1\r\n", "first_line" },
        { "GET / HTTP/1.2\r\n", "version" },
        { "GET / HTTP/0.9\r\n", "version" },
        { "GET / HTTP/2.0\r\n", "version" },
        { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "target" },
        { "GET /a#b HTTP/1.1\r\n", "target" },
        { "GET /a\tb HTTP/1.1\r\n", "target" },
        { "GET /a\x7f HTTP/1.1\r\n", "target" },
        { "GET /caf\xc3\xa9 HTTP/1.1\r\n", "target" },
        { "GET /sixteen-bytes-and-more\x01 HTTP/1.1\r\n", "target" },
        { "GET a HTTP/1.1\r\n", "target" },
        { "GET * HTTP/1.1\r\n", "target" },
        { "OPTIONS *x HTTP/1.1\r\n", "target" },
        { "GET ftp://a/ HTTP/1.1\r\n", "target" },
        { "GET http:// HTTP/1.1\r\n", "target" },
        { "GET http:///x HTTP/1.1\r\n", "target" },
        { "GET http://u@a/ HTTP/1.1\r\n", "target" },
        { "GET http://a:b/ HTTP/1.1\r\n", "target" },
        { "GET http://a\\b/ HTTP/1.1\r\n", "target" },
        { "GET http:/a HTTP/1.1\r\n", "target" },
        { "CONNECT / HTTP/1.1\r\n", "target" },
        { "CONNECT a HTTP/1.1\r\n", "target" },
        { "CONNECT a: HTTP/1.1\r\n", "target" },
        { "CONNECT a:99999 HTTP/1.1\r\n", "target" },
        { "CONNECT http://a:1/ HTTP/1.1\r\n", "target" },
        { "", "more" },
        { "\r", "more" },
        { "GET / HTTP/1.1\r\n" HOST "\r", "more" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), REQUEST);
}

#define G "GET / HTTP/1.1\r\n"

static void request_hosts(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { G "Host: a.example:8080\r\n" END, "GET origin / @a.example:8080 1.1 none keep" },
        { G "Host: 127.0.0.1\r\n" END, "GET origin / @127.0.0.1 1.1 none keep" },
        { G "Host: [2001:db8::1.2.3.4]:1\r\n" END,
          "GET origin / @[2001:db8::1.2.3.4]:1 1.1 none keep" },
        { G "Host: a_b~%41\r\n" END, "GET origin / @a_b~%41 1.1 none keep" },
        { G "hOsT:\t h \t\r\n" END, "GET origin / @h 1.1 none keep" },
        { G END, "host" },
        { G HOST HOST END, "host" },
        { G "Host:\r\n" END, "host" },
        { G "Host: a b\r\n" END, "host" },
        { G "Host: a,b\x80\r\n" END, "host" },
        { G "Host: u@h\r\n" END, "host" },
        { G "Host: h/p\r\n" END, "host" },
        { G "Host: http://h\r\n" END, "host" },
        { G "Host: h:\r\n" END, "host" },
        { G "Host: h:x\r\n" END, "host" },
        { G "Host: h:65536\r\n" END, "host" },
        { G "Host: h:1:2\r\n" END, "host" },
        { G "Host: [::1\r\n" END, "host" },
        { G "Host: []\r\n" END, "host" },
        { G "Host: [::1]x\r\n" END, "host" },
        { G "Host: [::g]\r\n" END, "host" },
        { G "Host: %4\r\n" END, "host" },
        { G "Host: %g1\r\n" END, "host" },
        { G "Host: :80\r\n" END, "host" },
        { "GET http://a/ HTTP/1.1\r\n" END, "host" },
        { "GET http://a/ HTTP/1.1\r\nHost: b c\r\n" END, "host" },
        { "GET / HTTP/1.0\r\n" HOST HOST END, "host" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), REQUEST);
}

#define P    "POST / HTTP/1.1\r\n" HOST
#define FINE "POST origin / @h 1.1 "

static void request_framing(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { P "Content-Length: 5\r\n" END, FINE "length len=5 keep" },
        { P "Content-Length: 0\r\n" END, FINE "none len=0 keep" },
        { P "Content-Length: 007\r\n" END, FINE "length len=7 keep" },
        { P "Content-Length: 9223372036854775807\r\n" END,
          FINE "length len=9223372036854775807 keep" },
        { P "Content-Length: 9223372036854775808\r\n" END, "content_length" },
        { P "Content-Length: 18446744073709551617\r\n" END, "content_length" },
        { P "Content-Length: 00000000000000000001\r\n" END, "content_length" },
        { P "Content-Length: +5\r\n" END, "content_length" },
        { P "Content-Length: -5\r\n" END, "content_length" },
        { P "Content-Length: 5a\r\n" END, "content_length" },
        { P "Content-Length: 0x5\r\n" END, "content_length" },
        { P "Content-Length: 5, 5\r\n" END, "content_length" },
        { P "Content-Length: 5 5\r\n" END, "content_length" },
        { P "Content-Length: 5.0\r\n" END, "content_length" },
        { P "Content-Length: \"5\"\r\n" END, "content_length" },
        { P "Content-Length:\r\n" END, "content_length" },
        { P "Content-Length: 5\r\nContent-Length: 5\r\n" END, "content_length_repeated" },
        { P "Content-Length: 5\r\ncontent-length: 6\r\n" END, "content_length_repeated" },
        { P "Transfer-Encoding: chunked\r\n" END, FINE "chunked keep" },
        { P "Transfer-Encoding:  Chunked\r\n" END, FINE "chunked keep" },
        { P "Transfer-Encoding:chunked\r\n" END, FINE "chunked keep" },
        { P "Transfer-Encoding: \tchunked\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: chunked \r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: chunked\t\r\n" END, "transfer_encoding" },
        { P "Content-Length:5\r\n" END, FINE "length len=5 keep" },
        { P "Content-Length:\t5\r\n" END, "content_length" },
        { P "Content-Length: 5 \r\n" END, "content_length" },
        { P "Transfer-Encoding: gzip, chunked\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: chunked, chunked\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: chunked;q=1\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: xchunked\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: \"chunked\"\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: identity\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: ,chunked\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding:\r\n" END, "transfer_encoding" },
        { P "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END,
          "transfer_encoding_repeated" },
        { P "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" END,
          "transfer_encoding_repeated" },
        { P "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END, "length_and_encoding" },
        { P "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n" END, "length_and_encoding" },
        { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" END, "transfer_encoding_in_1_0" },
        { "POST / HTTP/1.0\r\nContent-Length: 3\r\n" END, "POST origin / @ 1.0 length len=3" },
        { "CONNECT a:1 HTTP/1.1\r\n" HOST "Content-Length: 1\r\n" END, "connect_body" },
        { "CONNECT a:1 HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n" END,
          "connect_body" },
        { P "Expect: 100-continue\r\nContent-Length: 1\r\n" END,
          FINE "length len=1 keep expect" },
        { P "Expect: 100-Continue\r\n" END, FINE "none keep expect" },
        { P "Expect: 200-maybe\r\n" END, "expect" },
        { P "Expect: 100-continue, x\r\n" END, "expect" },
        { "POST / HTTP/1.0\r\nExpect: 100-continue\r\n" END, "POST origin / @ 1.0 none" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), REQUEST);
}

static void request_connection(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { P "Connection: close\r\n" END, FINE "none closing" },
        { P "Connection: Close\r\n" END, FINE "none closing" },
        { P "Connection: keep-alive\r\n" END, FINE "none keep" },
        { P "Connection: keep-alive, close\r\n" END, FINE "none closing" },
        { P "Connection: keep-alive\r\nConnection: close\r\n" END, FINE "none closing" },
        { P "Connection: ,, close ,\r\n" END, FINE "none closing" },
        { P "Connection:\r\n" END, FINE "none keep" },
        { P "Connection: closed\r\n" END, FINE "none keep named" },
        { P "Connection: upgrade\r\nUpgrade: websocket\r\n" END, FINE "none keep upgrade" },
        { P "Upgrade: websocket\r\n" END, FINE "none keep" },
        { P "Connection: upgrade\r\n" END, FINE "none keep" },
        { "GET / HTTP/1.0\r\nConnection: keep-alive\r\n" END, "GET origin / @ 1.0 none keep" },
        { "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n" END,
          "GET origin / @ 1.0 none closing" },
        { "GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: h2c\r\n" END,
          "GET origin / @ 1.0 none" },
        { P "Connection: close; x\r\n" END, "connection" },
        { P "Connection: \"close\"\r\n" END, "connection" },
        { P "Connection: close close\r\n" END, "connection" },
        { P "Connection: host\r\n" END, "connection" },
        { P "Connection: close, Content-Length\r\nContent-Length: 1\r\n" END, "connection" },
        { P "Connection: transfer-encoding\r\n" END, "connection" },
        { P "Connection: a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a\r\n" END,
          FINE "none keep named" },
        { P "Connection: a,"
          "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a\r\n" END,
          "connection" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), REQUEST);
}

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

/* ===== responses ===== */

#define R "HTTP/1.1 200 OK\r\n"

static void response_lines(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { R END, "200 OK 1.1 close" },
        { "HTTP/1.0 200 OK\r\n" END, "200 OK 1.0 close" },
        { "HTTP/1.1 200 \r\n" END, "200  1.1 close" },
        { "HTTP/1.1 200\r\n" END, "200  1.1 close" },
        { "HTTP/1.1 999 a  b\tc\x80\r\n" END, "999 a  b\tc\x80 1.1 close" },
        { "HTTP/1.1 099 OK\r\n", "status" },
        { "HTTP/1.1 20 OK\r\n", "status" },
        { "HTTP/1.1 2000 OK\r\n", "status" },
        { "HTTP/1.1 20x OK\r\n", "status" },
        { "HTTP/1.1 +20 OK\r\n", "status" },
        { "HTTP/1.1 200\tOK\r\n", "status" },
        { "HTTP/1.1  200 OK\r\n", "status" },
        { "HTTP/1.1 200 O\x01K\r\n", "first_line" },
        { "HTTP/1.1 200 O\x7fK\r\n", "first_line" },
        { "HTTP/1.1 200 OK\n", "bare_lf" },
        { "HTTP/1.1 200\n", "bare_lf" },
        { "HTTP/1.1\n", "bare_lf" },
        { "HTTP/1.1 200 OK\rX", "bare_cr" },
        { "HTTP/1.1\r\n", "first_line" },
        { "HTTP/1.1200 OK\r\n", "first_line" },
        { "\r\nHTTP/1.1 200 OK\r\n", "first_line" },
        { "http/1.1 200 OK\r\n", "first_line" },
        { "ICY 200 OK\r\n", "first_line" },
        { "HTTP/2 200 OK\r\n", "first_line" },
        { "HTTP/2.0 200 OK\r\n", "version" },
        { "HTTP/1.2 200 OK\r\n", "version" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), GET_ASKED);
}

static void response_framing(void **state)
{
    /* clang-format off */
    static const struct row rows[] = {
        { R "Content-Length: 5\r\n" END, "200 OK 1.1 length len=5 keep" },
        { R "Content-Length: 0\r\n" END, "200 OK 1.1 none len=0 keep" },
        { R "Content-Length: 5\r\nConnection: close\r\n" END,
          "200 OK 1.1 length len=5 closing" },
        { R "Transfer-Encoding: chunked\r\n" END, "200 OK 1.1 chunked keep" },
        { R "Transfer-Encoding: gzip\r\n" END, "transfer_encoding" },
        { R "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END, "length_and_encoding" },
        { R "Content-Length: 5\r\nContent-Length: 5\r\n" END, "content_length_repeated" },
        { "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n" END, "transfer_encoding_in_1_0" },
        { "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n" END,
          "200 OK 1.0 length len=1 keep" },
        { "HTTP/1.1 100 Continue\r\n" END, "100 Continue 1.1 none keep" },
        { "HTTP/1.1 103 Early\r\nLink: x\r\n" END, "103 Early 1.1 none keep" },
        { "HTTP/1.1 103 Early\r\nContent-Length: 3\r\n" END, "103 Early 1.1 none len=3" },
        { "HTTP/1.1 204 No\r\n" END, "204 No 1.1 none keep" },
        { "HTTP/1.1 204 No\r\nContent-Length: 0\r\n" END, "204 No 1.1 none len=0 keep" },
        { "HTTP/1.1 204 No\r\nContent-Length: 3\r\n" END, "204 No 1.1 none len=3" },
        { "HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n" END, "204 No 1.1 none" },
        { "HTTP/1.1 205 Reset\r\n" END, "205 Reset 1.1 close" },
        { "HTTP/1.1 304 Not\r\nContent-Length: 3\r\n" END, "304 Not 1.1 none len=3 keep" },
        { "HTTP/1.1 304 Not\r\nTransfer-Encoding: chunked\r\n" END, "304 Not 1.1 none keep" },
        { "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" END,
          "upgrade" },
        { R "Host: a b\r\nExpect: x\r\nContent-Length: 1\r\n" END,
          "200 OK 1.1 length len=1 keep" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(rows, COUNT(rows), GET_ASKED);
}

static void response_to_head_connect_and_upgrade(void **state)
{
    /* clang-format off */
    static const struct row head[] = {
        { R "Content-Length: 5\r\n" END, "200 OK 1.1 none len=5 keep" },
        { R "Transfer-Encoding: chunked\r\n" END, "200 OK 1.1 none keep" },
        { R END, "200 OK 1.1 none keep" },
        { "HTTP/1.0 200 OK\r\n" END, "200 OK 1.0 none" },
        { R "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" END, "length_and_encoding" },
    };
    static const struct row connect[] = {
        { R END, "200 OK 1.1 tunnel" },
        { R "Content-Length: 5\r\n" END, "200 OK 1.1 tunnel len=5" },
        { "HTTP/1.1 407 Auth\r\nContent-Length: 5\r\n" END, "407 Auth 1.1 length len=5 keep" },
    };
    static const struct row upgrade[] = {
        { "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n" END,
          "101 S 1.1 tunnel upgrade" },
        { "HTTP/1.1 101 S\r\nUpgrade: x\r\n" END, "upgrade" },
        { R "Content-Length: 5\r\n" END, "200 OK 1.1 length len=5 keep" },
    };
    /* clang-format on */

    (void)state;
    expect_rows(head, COUNT(head), HEAD_ASKED);
    expect_rows(connect, COUNT(connect), CONNECT_ASKED);
    expect_rows(upgrade, COUNT(upgrade), UPGRADE_ASKED);
}

/* ===== errors ===== */

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
        cmocka_unit_test(request_targets_and_versions),
        cmocka_unit_test(request_first_lines_refused),
        cmocka_unit_test(request_hosts),
        cmocka_unit_test(request_framing),
        cmocka_unit_test(request_connection),
        cmocka_unit_test(lines_refused),
        cmocka_unit_test(lines_with_nul_refused),
        cmocka_unit_test(fields_extents_and_hops),
        cmocka_unit_test(fields_known_name_nominated),
        cmocka_unit_test(head_longer_than_the_bound_is_refused),
        cmocka_unit_test(head_followed_by_more_is_the_same),
        cmocka_unit_test(head_without_room_for_fields_is_checked),
        cmocka_unit_test(response_lines),
        cmocka_unit_test(response_framing),
        cmocka_unit_test(response_to_head_connect_and_upgrade),
        cmocka_unit_test(errors_have_names_texts_and_statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
