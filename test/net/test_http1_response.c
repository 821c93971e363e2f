/* test_http1_response.c: first lines and framing of responses. */
#include "http1_rows.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(response_lines),
        cmocka_unit_test(response_framing),
        cmocka_unit_test(response_to_head_connect_and_upgrade),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
