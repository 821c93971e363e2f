/* test_resp.c: RESP without I/O, and URLs: rows of bytes and what they mean. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/redis/resp.h"
#include "store/redis/url.h"

/* A reply as text: nested arrays in brackets, statuses after +, errors after -,
 * strings quoted. */
static void show(const struct redis_reply *r, char **to)
{
    switch (r->type) {
    case REDIS_NIL:
        *to += sprintf(*to, "nil");
        break;
    case REDIS_INTEGER:
        *to += sprintf(*to, "%lld", (long long)r->integer);
        break;
    case REDIS_ARRAY:
        *to += sprintf(*to, "[");
        for (size_t i = 0; i < r->n; i++) {
            *to += sprintf(*to, "%s", i ? " " : "");
            show(&r->items[i], to);
        }
        *to += sprintf(*to, "]");
        break;
    default:
        *to += sprintf(*to, "%s%.*s%s",
                       r->type == REDIS_STATUS ? "+"
                       : r->type == REDIS_ERROR ? "-" : "'",
                       (int)r->len, r->text,
                       r->type == REDIS_STRING ? "'" : "");
    }
}

/* {bytes, what they are; NULL: not a reply} */
static const struct {
    const char *bytes, *expected;
} replies[] = {
    { "+OK\r\n", "+OK" },
    { "-ERR no\r\n", "-ERR no" },
    { ":-7\r\n", "-7" },
    { ":+7\r\n", "7" },
    { "$5\r\nhe\r\no\r\n", "'he\r\no'" },
    { "$0\r\n\r\n", "''" },
    { "$-1\r\n", "nil" },
    { "*-1\r\n", "nil" },
    { "*0\r\n", "[]" },
    { "*2\r\n:1\r\n*2\r\n$1\r\na\r\n_\r\n", "[1 ['a' nil]]" },
    { "%1\r\n+k\r\n:2\r\n", "[+k 2]" },
    { "~1\r\n#t\r\n", "[1]" },
    { ">1\r\n#f\r\n", "[0]" },
    { ",3.25\r\n", "'3.25'" },
    { "(12345678901234567890\r\n", "'12345678901234567890'" },
    { "=7\r\ntxt:abc\r\n", "'abc'" },
    { "!3\r\nbad\r\n", "-bad" },
    { "HTTP/1.1 400 Bad Request\r\n", NULL },
    { "+OK\n", NULL },
    { "$3\r\nabcde\r\n", NULL },
    { "$-2\r\n", NULL },
    { "$x\r\n", NULL },
    { "$99999999999999999999\r\n", NULL },
    { "*2147483648\r\n", NULL },
    { "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", NULL },
};

static void resp_reply_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(replies); i++) {
        const char *bytes = replies[i].bytes;
        size_t len = strlen(bytes);
        struct bide__arena *arena = bide__arena_new();
        struct redis_scan scan = REDIS_SCAN_INIT;
        struct redis_reply reply;
        char text[256], *end = text;
        int rc = redis_scan(&scan, bytes, len) == 1 && scan.at == len
                     ? redis_read_reply(bytes, len, arena, &reply)
                     : -1;
        assert_int_equal(rc, replies[i].expected ? 0 : -1);
        if (rc == 0) {
            show(&reply, &end);
            assert_string_equal(text, replies[i].expected);
        }
        bide__arena_free(arena);
    }
}

/* However it is cut, it is whole exactly at its end. */
static void resp_reply_in_pieces_is_whole_at_its_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(replies); i++) {
        struct redis_scan scan = REDIS_SCAN_INIT;
        const char *bytes = replies[i].bytes;
        if (!replies[i].expected)
            continue;
        for (size_t len = 0; len < strlen(bytes); len++)
            assert_int_equal(redis_scan(&scan, bytes, len), 0);
        assert_int_equal(redis_scan(&scan, bytes, strlen(bytes)), 1);
    }
}

/* A line is looked through anew with each piece: one without an end must not be kept
 * for as long as it lasts. */
static void resp_line_without_end_is_no_reply(void **state)
{
    (void)state;
    struct redis_scan scan = REDIS_SCAN_INIT;
    char *bytes = malloc(REDIS_MAX_LINE + 1);
    memset(bytes, 'a', REDIS_MAX_LINE + 1);
    bytes[0] = '+';
    assert_int_equal(redis_scan(&scan, bytes, REDIS_MAX_LINE), 0);
    assert_int_equal(redis_scan(&scan, bytes, REDIS_MAX_LINE + 1), -1);
    free(bytes);
}

static void resp_command_is_bulk_strings(void **state)
{
    (void)state;
    struct bide__out out = { 0 };
    redis_put_command(&out, 3);
    redis_put_text(&out, "SET");
    redis_put_bytes(&out, "a\0b", 3);
    redis_put_int(&out, INT64_MIN);
    static const char expected[] =
        "*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$20\r\n-9223372036854775808\r\n";
    assert_int_equal(out.len, sizeof expected - 1);
    assert_memory_equal(out.data, expected, out.len);
    bide__out_done(&out);
}

/* {URL, host, port, database, user, password; host NULL: refused, and what the
 * sentence holds} */
static const struct {
    const char *url, *host;
    unsigned port;
    int db;
    const char *user, *password, *text;
} urls[] = {
    { "redis://h", "h", 6379, 0, "", "", "redis://h:6379" },
    { "redis://127.0.0.1:7000/3", "127.0.0.1", 7000, 3, "", "",
      "redis://127.0.0.1:7000/3" },
    { "redis://[::1]:1/", "::1", 1, 0, "", "", "redis://[::1]:1" },
    { "redis://:p%40ss@h:1", "h", 1, 0, "", "p@ss", "redis://h:1" },
    { "redis://u:p:q@h:1", "h", 1, 0, "u", "p:q", "redis://h:1" },
    { "redis+unix:///run/r.sock", "/run/r.sock", 0, 0, "", "",
      "unix:/run/r.sock" },
    { "redis+unix://:s@/run/r.sock?db=2", "/run/r.sock", 0, 2, "", "s",
      "unix:/run/r.sock?db=2" },
    { "unix:/run/r.sock", "/run/r.sock", 0, 0, "", "", "unix:/run/r.sock" },
    { "rediss://h", NULL, 0, 0, "", "", "TLS is not supported" },
    { "http://h", NULL, 0, 0, "", "", "expected redis://HOST:PORT" },
    { "redis://", NULL, 0, 0, "", "", "expected redis://HOST:PORT" },
    { "redis://h:0", NULL, 0, 0, "", "", "port" },
    { "redis://h:99999", NULL, 0, 0, "", "", "port" },
    { "redis://h/x", NULL, 0, 0, "", "", "database" },
    { "redis://h/99999999999", NULL, 0, 0, "", "", "database" },
    { "redis://u:%zz@h", NULL, 0, 0, "", "", "hexadecimal" },
    { "redis://a b", NULL, 0, 0, "", "", "neither a name nor" },
    { "redis+unix://x/y", NULL, 0, 0, "", "", "absolute path" },
};

static void redis_url_is_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(urls); i++) {
        struct redis_url url;
        char why[REDIS_WHY] = "";
        int rc = redis_url_read(&url, urls[i].url, why);
        if (!urls[i].host) {
            assert_int_equal(rc, -1);
            assert_non_null(strstr(why, urls[i].text));
            continue;
        }
        assert_int_equal(rc, 0);
        assert_string_equal(url.host, urls[i].host);
        assert_int_equal(url.port, urls[i].port);
        assert_int_equal(url.db, urls[i].db);
        assert_string_equal(url.user, urls[i].user);
        assert_string_equal(url.password, urls[i].password);
        assert_string_equal(url.text, urls[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resp_reply_is_read),
        cmocka_unit_test(resp_reply_in_pieces_is_whole_at_its_end),
        cmocka_unit_test(resp_line_without_end_is_no_reply),
        cmocka_unit_test(resp_command_is_bulk_strings),
        cmocka_unit_test(redis_url_is_taken_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
