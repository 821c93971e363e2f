/* test_http1_request.c: first lines, hosts and framing of requests. */
#include "http1_rows.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_targets_and_versions),
        cmocka_unit_test(request_first_lines_refused),
        cmocka_unit_test(request_hosts),
        cmocka_unit_test(request_framing),
        cmocka_unit_test(request_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
