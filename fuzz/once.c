/* once.c: what strangers write about idempotency: a key in a request, and an
 * answer in a store that somebody else can write to.
 *
 * A key that is taken is the same when it is quoted. An answer that is taken makes
 * a head that the strict parser takes as well, and that frames nothing: no field of
 * it can end the head early or begin another message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/http1/head.h"
#include "proxy/once/blob.h"
#include "proxy/once/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int truth)
{
    if (!truth)
        abort();
}

static void look_at_key(const char *text, size_t len)
{
    char key[ONCE_KEY + 1], again[ONCE_KEY + 1];
    char quoted[2 * ONCE_KEY + 3];
    size_t n = 0;

    if (!once_key_value(text, len, key))
        return;
    must(key[0] != '\0');
    quoted[n++] = '"';
    for (const char *c = key; *c; c++) {
        must(*c >= ' ' && *c <= '~');
        if (*c == '"' || *c == '\\')
            quoted[n++] = '\\';
        quoted[n++] = *c;
    }
    quoted[n++] = '"';
    must(once_key_value(quoted, n, again) && strcmp(key, again) == 0);
}

static void look_at_answer(const void *data, size_t size)
{
    static char head[1 << 16];
    static struct http1_field fields[256];
    struct http1_head parsed;
    struct once_answer a;

    if (!once_blob_read(data, size, &a))
        return;
    must(a.reason_len + a.lines_len + a.body_len + ONCE_BLOB_HEAD == size);
    if (a.reason_len + a.lines_len + 64 > sizeof head || a.status > 599)
        return;
    int n = snprintf(head, sizeof head, "HTTP/1.1 %d %.*s\r\n", a.status,
                     (int)a.reason_len, a.reason);
    memcpy(head + n, a.lines, a.lines_len);
    memcpy(head + n + a.lines_len, "\r\n", 2);
    size_t len = (size_t)n + a.lines_len + 2;
    http1_response_init(&parsed, fields, 256, sizeof head - 1, HTTP1_POST,
                        false);
    int rc = http1_parse(&parsed, head, len);
    must(rc == (int)len || rc == HTTP1_EFIELDS || rc == HTTP1_EHEAD);
    must(rc < 0 || (!parsed.has_length && !parsed.upgrade &&
                    !http1_has(&parsed, HTTP1_ID_SET_COOKIE) &&
                    parsed.framing != HTTP1_CHUNKED));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    look_at_key((const char *)data, size);
    look_at_answer(data, size);
    return 0;
}
