/* An answer as bytes, and back. */
#include "proxy/once/blob.h"

#include <string.h>
#include <strings.h>

#include "net/http1/names.h"

#define BIT(id) (UINT64_C(1) << HTTP1_ID_##id)

/* ===== which fields ===== */

/* Hop-by-hop, framing, a session that is not the reader's, and what bide itself
 * says about an exchange. */
static const uint64_t dropped =
    BIT(CONNECTION) | BIT(KEEP_ALIVE) | BIT(PROXY_CONNECTION) | BIT(TE) |
    BIT(TRAILER) | BIT(TRANSFER_ENCODING) | BIT(UPGRADE) | BIT(HTTP2_SETTINGS) |
    BIT(CONTENT_LENGTH) | BIT(SET_COOKIE) | BIT(PROXY_AUTHENTICATE) |
    BIT(X_BIDE_ATTEMPTS) | BIT(X_BIDE_REASON) | BIT(X_BIDE_RETRY) |
    BIT(X_BIDE_FALLBACK) | BIT(X_BIDE_FAULT);

bool once_keeps_field(const char *name, size_t len, unsigned id)
{
    static const char *const named[] = { "idempotent-replayed", "set-cookie2" };
    if (dropped >> id & 1)
        return false;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        if (len == strlen(named[i]) && strncasecmp(name, named[i], len) == 0)
            return false;
    return true;
}

/* ===== writing ===== */

static void put(uint8_t *to, size_t n, uint64_t value)
{
    while (n-- > 0) {
        to[n] = (uint8_t)value;
        value >>= 8;
    }
}

void once_blob_head(uint8_t to[ONCE_BLOB_HEAD], int status, size_t reason_len,
                    size_t lines_len)
{
    to[0] = ONCE_BLOB;
    put(to + 1, 2, (uint64_t)status);
    put(to + 3, 2, reason_len);
    put(to + 5, 4, lines_len);
}

/* ===== reading ===== */

static size_t get(const uint8_t *from, size_t n)
{
    size_t value = 0;
    for (size_t i = 0; i < n; i++)
        value = value << 8 | from[i];
    return value;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* No control characters: nothing ends a line early. */
static bool is_value(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') ||
            text[i] == 0x7f)
            return false;
    return true;
}

/* The length of the line that text begins with; 0: it is none that is kept. */
static size_t line_len(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    size_t name = 0;
    if (!end || end - text < 2 || end[-1] != '\r')
        return 0;
    size_t n = (size_t)(end - text) - 1; /* without CRLF */
    while (name < n && is_name_char(text[name]))
        name++;
    if (name == 0 || name == n || text[name] != ':' ||
        !is_value(text + name + 1, n - name - 1) ||
        !once_keeps_field(text, name, http1_name_id(text, name)))
        return 0;
    return n + 2;
}

static bool are_lines(const char *text, size_t len)
{
    while (len > 0) {
        size_t n = line_len(text, len);
        if (n == 0)
            return false;
        text += n;
        len -= n;
    }
    return true;
}

bool once_blob_read(const void *data, size_t len, struct once_answer *ret)
{
    const uint8_t *at = data;
    if (len < ONCE_BLOB_HEAD || at[0] != ONCE_BLOB)
        return false;
    struct once_answer a = { .status = (int)get(at + 1, 2),
                             .reason_len = get(at + 3, 2),
                             .lines_len = get(at + 5, 4) };
    size_t left = len - ONCE_BLOB_HEAD;
    if (a.status < 200 || a.status > 999 || a.reason_len > left ||
        a.lines_len > left - a.reason_len)
        return false;
    a.reason = (const char *)at + ONCE_BLOB_HEAD;
    a.lines = a.reason + a.reason_len;
    a.body = a.lines + a.lines_len;
    a.body_len = left - a.reason_len - a.lines_len;
    if (!is_value(a.reason, a.reason_len) || !are_lines(a.lines, a.lines_len))
        return false;
    *ret = a;
    return true;
}
