/* The header of the PROXY protocol: what is read, what is refused, what is
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "net/proxy_protocol.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define IPV4      "\xc0\0\2\1\xc0\0\2\2\0\x50\1\xbb"
#define BYTES(s)  s, sizeof(s) - 1

/* A header, how long it is (0: more is to come; -1: it is none), and who it is
 * from; NULL: the sender. */
static const struct row {
    const char *bytes;
    size_t n;
    int len;
    const char *source;
} rows[] = {
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 80 443\r\nGET"), 39,
      "192.0.2.1:80" },
    { BYTES("PROXY TCP6 ::1 ::2 0 65535\r\n"), 28, "[::1]:0" },
    { BYTES("PROXY UNKNOWN\r\n"), 15, NULL },
    { BYTES("PROXY UNKNOWN what ever\r\n"), 25, NULL },
    { BYTES("PROXY UNKNOWNS\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 80 443"), 0, NULL },
    { BYTES("PROX"), 0, NULL },
    { BYTES("POST"), -1, NULL },
    { BYTES(""), 0, NULL },
    { BYTES("PROXY  TCP4 192.0.2.1 192.0.2.2 80 443\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 80 443 \r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 80 443\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 080 443\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 65536 443\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 -1 443\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1 192.0.2.2 80\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.01 192.0.2.2 80 443\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 ::1 ::2 80 443\r\n"), -1, NULL },
    { BYTES("PROXY TCP4 192.0.2.1\0 192.0.2.2 80 443\r\n"), -1, NULL },
    { BYTES("PROXY UDP4 192.0.2.1 192.0.2.2 80 443\r\n"), -1, NULL },
    { BYTES("PROXY tcp4 192.0.2.1 192.0.2.2 80 443\r\n"), -1, NULL },
    { BYTES(SIGNATURE "\x21\x11\0\x0c" IPV4 "GET"), 28, "192.0.2.1:80" },
    { BYTES(SIGNATURE "\x21\x11\0\x0f" IPV4 "\4\0\0"), 31, "192.0.2.1:80" },
    { BYTES(SIGNATURE "\x21\x11\0\x0c\xc0"), 0, NULL },
    { BYTES(SIGNATURE "\x20\0\0\0"), 16, NULL },
    { BYTES(SIGNATURE "\x20\x11\0\x0c" IPV4), 28, NULL },
    { BYTES(SIGNATURE "\x21\0\0\2ab"), 18, NULL },
    { BYTES(SIGNATURE "\x21\x11\0\x0b" IPV4), -1, NULL },
    { BYTES(SIGNATURE "\x21\x12\0\x0c" IPV4), -1, NULL },
    { BYTES(SIGNATURE "\x21\x41\0\x0c" IPV4), -1, NULL },
    { BYTES(SIGNATURE "\x22\x11\0\x0c" IPV4), -1, NULL },
    { BYTES(SIGNATURE "\x11"), -1, NULL },
    { BYTES(SIGNATURE "\x21\x11\xff\xff" IPV4), -1, NULL },
    { BYTES("\r\n\r\n\0\r\nQUIT"), 0, NULL },
    { BYTES("\r\n\r\nGET"), -1, NULL },
};

static void proxied_is_read_strictly(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *r = &rows[i];
        char text[NET_ADDRESS_TEXT];
        struct net_proxied p = { .known = false };
        int n = net_proxied_read(r->bytes, r->n, &p);
        if (n != r->len)
            print_error("row %zu\n", i);
        assert_int_equal(n, r->len);
        if (n <= 0)
            continue;
        assert_int_equal(p.known, r->source != NULL);
        if (r->source)
            assert_string_equal(net_address_text(&p.source, text), r->source);
    }
}

static void proxied_unix_has_no_address(void **unused)
{
    char b[16 + 216] = SIGNATURE "\x21\x31\0\xd8/run/a";
    struct net_proxied p;
    uint8_t bytes[16];
    (void)unused;
    assert_int_equal(net_proxied_read(b, sizeof b, &p), sizeof b);
    assert_true(p.known);
    assert_int_equal(net_address_bytes(&p.source, bytes), 0);
    assert_int_equal(net_proxied_read(b, sizeof b - 1, &p), 0);
}

static void proxied_is_written(void **unused)
{
    char to[NET_PROXIED_TEXT];
    struct net_address v4, v6, un;
    (void)unused;
    net_address_parse(&v4, "192.0.2.1", 80);
    net_address_parse(&v6, "::1", 443);
    net_address_unix(&un, "/run/a");
    size_t n = net_proxied_write(to, 1, &v4, &v4);
    assert_int_equal(n, strlen("PROXY TCP4 192.0.2.1 192.0.2.1 80 80\r\n"));
    assert_memory_equal(to, "PROXY TCP4 192.0.2.1 192.0.2.1 80 80\r\n", n);
    n = net_proxied_write(to, 1, &v4, &v6);
    assert_memory_equal(to, "PROXY TCP6 ::ffff:192.0.2.1 ::1 80 443\r\n", n);
    n = net_proxied_write(to, 1, &un, &v6);
    assert_memory_equal(to, "PROXY UNKNOWN\r\n", n);
    n = net_proxied_write(to, 2, NULL, NULL);
    assert_int_equal(n, 16);
    assert_memory_equal(to, SIGNATURE "\x20\0\0\0", 16);
    n = net_proxied_write(to, 2, &un, &v6);
    assert_memory_equal(to, SIGNATURE "\x21\0\0\0", n);
    n = net_proxied_write(to, 2, &v4, &v4);
    assert_int_equal(n, 28);
    assert_memory_equal(to, SIGNATURE "\x21\x11\0\x0c", 16);
    n = net_proxied_write(to, 2, &v6, &v4);
    assert_int_equal(n, 52);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proxied_is_read_strictly),
        cmocka_unit_test(proxied_unix_has_no_address),
        cmocka_unit_test(proxied_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
