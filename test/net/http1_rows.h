/* http1_rows.h: request and response heads, as rows of bytes and what they come
 * to. Every row is fed whole, cut in two at each place, and byte by byte. */
#ifndef BIDE_TEST_HTTP1_ROWS_H
#define BIDE_TEST_HTTP1_ROWS_H

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
#define G            "GET / HTTP/1.1\r\n"

enum { FIELDS = 8, BYTES = 256, TEXT = 4096 };

enum asked { REQUEST, GET_ASKED, HEAD_ASKED, CONNECT_ASKED, UPGRADE_ASKED };

static inline void begin(struct http1_head *h, struct http1_field *fields,
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
static inline void outcome(char *to, const char *bytes, size_t len,
                           enum asked asked, long cut, bool with_fields)
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
static inline void expect(const char *bytes, size_t len, enum asked asked,
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

static inline void expect_rows(const struct row *rows, size_t n,
                               enum asked asked)
{
    for (size_t i = 0; i < n; i++)
        expect(rows[i].bytes, strlen(rows[i].bytes), asked, rows[i].want,
               false);
}

#endif
