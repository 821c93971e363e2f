/* test_once.c: keys, callers, and answers as a store keeps them: rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/proxy/idempotency.h"
#include "proxy/once/blob.h"
#include "proxy/once/key.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct request {
    struct http1_head head;
    struct http1_field fields[HTTP1_FIELDS];
    char text[2048];
};

static struct request *parse(struct request *r, const char *lines)
{
    int n = snprintf(r->text, sizeof r->text,
                     "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n", lines);
    http1_request_init(&r->head, r->fields, HTTP1_FIELDS, HTTP1_HEAD_BYTES);
    assert_true(http1_parse(&r->head, r->text, (size_t)n) > 0);
    return r;
}

static void key_is_one_string(void **state)
{
    static const struct {
        const char *lines;
        enum once_key want;
        const char *key;
    } rows[] = {
        { "", ONCE_KEY_MISSING, NULL },
        { "Idempotency-Key: k1\r\n", ONCE_KEY_THERE, "k1" },
        { "idempotency-key:  \"k1\" \r\n", ONCE_KEY_THERE, "k1" },
        { "Idempotency-Key: \"a\\\"\\\\\"\r\n", ONCE_KEY_THERE, "a\"\\" },
        { "Idempotency-Key: \" \"\r\n", ONCE_KEY_THERE, " " },
        { "Idempotency-Key:\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: \"\"\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: \"\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: \"a\\\"\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: \"a\\x\"\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: a,b\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: a;b\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: a b\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: a\"b\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: \xc3\xa9\r\n", ONCE_KEY_INVALID, NULL },
        { "Idempotency-Key: a\r\nIdempotency-Key: a\r\n", ONCE_KEY_INVALID,
          NULL },
        { "Connection: idempotency-key\r\nIdempotency-Key: a\r\n",
          ONCE_KEY_INVALID, NULL },
    };
    struct request r;
    char key[ONCE_KEY + 1];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        parse(&r, rows[i].lines);
        assert_int_equal(once_key_read(&r.head, r.text, key), rows[i].want);
        if (rows[i].key)
            assert_string_equal(key, rows[i].key);
    }
}

static void key_has_255_bytes_at_most(void **state)
{
    char text[2 * ONCE_KEY + 8], key[ONCE_KEY + 1];

    (void)state;
    memset(text, 'k', sizeof text);
    assert_true(once_key_value(text, ONCE_KEY, key));
    assert_false(once_key_value(text, ONCE_KEY + 1, key));
    text[0] = text[ONCE_KEY + 1] = '"';
    assert_true(once_key_value(text, ONCE_KEY + 2, key));
    assert_int_equal(strlen(key), ONCE_KEY);
    text[ONCE_KEY + 1] = 'k';
    text[ONCE_KEY + 2] = '"';
    assert_false(once_key_value(text, ONCE_KEY + 3, key));
}

static void binding_is_authorization_or_cookie(void **state)
{
    static const char *const rows[] = {
        "",
        "Authorization: a\r\n",
        "Authorization: b\r\n",
        "Authorization: a\r\nAuthorization: b\r\n",
        "Authorization: ab\r\n",
        "Cookie: a\r\n",
        "Cookie: b\r\n",
    };
    uint8_t digests[COUNT(rows)][32], other[32];
    struct request r;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        parse(&r, rows[i]);
        once_binding(&r.head, r.text, NULL, digests[i]);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(digests[i], digests[k], 32);
    }
    parse(&r, "Cookie: x\r\nAuthorization: a\r\n");
    once_binding(&r.head, r.text, "Hash=0;Subject=\"CN=a\"", other);
    assert_memory_equal(other, digests[1], 32);
}

static void binding_without_either_is_of_the_certificate(void **state)
{
    static const char *const rows[] = {
        NULL,
        "Hash=0;Subject=\"CN=a\"",
        "Hash=0;Subject=\"CN=b\"",
        "Hash=0;Subject=\"CN=a\";URI=spiffe://a/b",
    };
    uint8_t digests[COUNT(rows)][32], renewed[32];
    struct request r;

    (void)state;
    parse(&r, "");
    for (size_t i = 0; i < COUNT(rows); i++) {
        once_binding(&r.head, r.text, rows[i], digests[i]);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(digests[i], digests[k], 32);
    }
    once_binding(&r.head, r.text, "Hash=1;Subject=\"CN=a\"", renewed);
    assert_memory_equal(renewed, digests[1], 32);
}

static void caller_is_named_once(void **state)
{
    struct request r;
    char caller[ONCE_KEY + 1];

    (void)state;
    parse(&r, "x-account: 7 \r\n");
    assert_true(once_caller_read(&r.head, r.text, "X-Account", caller));
    assert_string_equal(caller, "7");
    parse(&r, "");
    assert_true(once_caller_read(&r.head, r.text, "X-Account", caller));
    assert_string_equal(caller, "");
    parse(&r, "X-Account: 7\r\nX-Account: 7\r\n");
    assert_false(once_caller_read(&r.head, r.text, "X-Account", caller));
    parse(&r, "X-Account: 7\r\nConnection: X-Account\r\n");
    assert_false(once_caller_read(&r.head, r.text, "X-Account", caller));
}

static size_t make(uint8_t *to, int status, const char *reason,
                   const char *lines, const char *body)
{
    size_t r = strlen(reason), l = strlen(lines), b = strlen(body);
    once_blob_head(to, status, r, l);
    memcpy(to + ONCE_BLOB_HEAD, reason, r);
    memcpy(to + ONCE_BLOB_HEAD + r, lines, l);
    memcpy(to + ONCE_BLOB_HEAD + r + l, body, b);
    return ONCE_BLOB_HEAD + r + l + b;
}

static void blob_is_read_as_written(void **state)
{
    uint8_t blob[256];
    struct once_answer a;
    size_t len = make(blob, 201, "Created", "A: 1\r\nb:\r\n", "body");

    (void)state;
    assert_true(once_blob_read(blob, len, &a));
    assert_int_equal(a.status, 201);
    assert_int_equal(a.reason_len, 7);
    assert_memory_equal(a.lines, "A: 1\r\nb:\r\n", a.lines_len);
    assert_int_equal(a.body_len, 4);
    assert_memory_equal(a.body, "body", 4);
}

static void blob_of_a_stranger_is_none(void **state)
{
    static const struct {
        int status;
        const char *reason, *lines;
        bool fine;
    } rows[] = {
        { 200, "OK", "", true },
        { 200, "", "X: \xe9\r\n", true },
        { 199, "OK", "", false },
        { 1000, "OK", "", false },
        { 200, "OK\r\nX: 1", "", false },
        { 200, "OK", "X: 1\n", false },
        { 200, "OK", "X: 1", false },
        { 200, "OK", "X 1\r\n", false },
        { 200, "OK", ": 1\r\n", false },
        { 200, "OK", "X : 1\r\n", false },
        { 200, "OK", "\r\n", false },
        { 200, "OK", "X: 1\r2\r\n", false },
        { 200, "OK", "X: 1\x01\r\n", false },
        { 200, "OK", "Content-Length: 1\r\n", false },
        { 200, "OK", "transfer-encoding: chunked\r\n", false },
        { 200, "OK", "SET-COOKIE: a=b\r\n", false },
        { 200, "OK", "Connection: close\r\n", false },
        { 200, "OK", "Idempotent-Replayed: true\r\n", false },
    };
    uint8_t blob[256];
    struct once_answer a;

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t len =
            make(blob, rows[i].status, rows[i].reason, rows[i].lines, "x");
        assert_int_equal(once_blob_read(blob, len, &a), rows[i].fine);
    }
    size_t len = make(blob, 200, "OK", "A: 1\r\n", "");
    for (size_t cut = 0; cut < len; cut++)
        assert_false(once_blob_read(blob, cut, &a));
    blob[0] = ONCE_BLOB + 1;
    assert_false(once_blob_read(blob, len, &a));
}

static void release_is_by_status(void **state)
{
    struct bide__proxy_idempotency conf = BIDE__PROXY_IDEMPOTENCY_INIT;
    static const unsigned released[] = { 401, 403, 407, 408, 425, 429, 503 };
    size_t n = 0;

    (void)state;
    for (unsigned s = 0; s < 1000; s++)
        n += bide__releases(&conf, s);
    assert_int_equal(n, COUNT(released));
    for (size_t i = 0; i < COUNT(released); i++)
        assert_true(bide__releases(&conf, released[i]));
    conf.on_unknown = BIDE__UNKNOWN_RETRY;
    assert_true(bide__releases(&conf, 500) && bide__releases(&conf, 502) &&
                bide__releases(&conf, 504) && !bide__releases(&conf, 501));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_is_one_string),
        cmocka_unit_test(key_has_255_bytes_at_most),
        cmocka_unit_test(binding_is_authorization_or_cookie),
        cmocka_unit_test(binding_without_either_is_of_the_certificate),
        cmocka_unit_test(caller_is_named_once),
        cmocka_unit_test(blob_is_read_as_written),
        cmocka_unit_test(blob_of_a_stranger_is_none),
        cmocka_unit_test(release_is_by_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
