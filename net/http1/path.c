/* net/http1/path.c: the normal form of a path (RFC 3986, 6.2.2), in place.
 *
 * Never longer than what was sent: escapes of unreserved characters are
 * decoded, the hex digits of others become upper case, "." and ".." are
 * resolved, and repeated slashes become one. So "%2e" counts as a dot, and
 * "%2F" stays: it is part of a name.
 *
 * A path that some servers would still read in another way is refused: one that
 * climbs above the root, "..%2F" (a server may decode it late), "..;" (servlets
 * cut parameters off), a backslash (some take it for a slash), control
 * characters, and '%' without two hex digits. */
#include "base/hex.h"
#include "net/http1/path.h"
#include "net/http1/scan.h"

/* RFC 3986, 2.3: characters that never need an escape. */
static bool is_unreserved(unsigned c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' ||
           c == '~';
}

static bool is_control(unsigned c)
{
    return c < 0x20 || c == 0x7f;
}

/* Writes one character or escape to path[to]: returns how many bytes it became,
 * and *used of the `left` at `from`; 0: it is not allowed. */
static size_t put_char(char *path, size_t to, size_t from, size_t left,
                       size_t *used)
{
    const char *p = path + from;
    unsigned c = (uint8_t)p[0];

    *used = 1;
    if (c != '%') {
        path[to] = (char)c;
        return c <= 0x20 || c >= 0x7f || c == '\\' ? 0 : 1;
    }
    if (left < 3 || !http1__is(p[1], HTTP1_C_HEX) ||
        !http1__is(p[2], HTTP1_C_HEX))
        return 0;
    *used = 3;
    c = (unsigned)bide__hex_byte(p + 1);
    if (is_unreserved(c)) {
        path[to] = (char)c;
        return 1;
    }
    path[to] = '%';
    path[to + 1] = bide__hex_upper[c >> 4];
    path[to + 2] = bide__hex_upper[c & 15];
    return is_control(c) ? 0 : 3;
}

/* A slash, or what some servers take for one, as an escape. */
static bool is_hidden_slash(const char *p, size_t left)
{
    return left >= 3 &&
           (memcmp(p, "%2F", 3) == 0 || memcmp(p, "%5C", 3) == 0);
}

static size_t count_dots(const char *p, size_t len)
{
    size_t n = 0;

    while (n < len && p[n] == '.')
        n++;
    return n;
}

/* Whether some servers would find "." or ".." in a segment that is neither. */
static bool hides_dots(const char *p, size_t len)
{
    for (size_t at = 0; at < len; at += 3) {
        size_t n = count_dots(p + at, len - at);

        at += n;
        if ((n == 1 || n == 2) &&
            (at == len || p[at] == ';' || is_hidden_slash(p + at, len - at)))
            return true;
        while (at < len && !is_hidden_slash(p + at, len - at))
            at++;
    }
    return false;
}

/* Where the path ends after the segment at `at`, which ends at `end`; 0: it is
 * not allowed. What is before `at` ends with a slash. */
static size_t resolve(const char *path, size_t at, size_t end)
{
    size_t len = end - at;

    if (len == 0 || count_dots(path + at, len) != len || len > 2)
        return hides_dots(path + at, len) ? 0 : end;
    if (len == 1)
        return at;
    if (at == 1)
        return 0;
    do
        at--;
    while (path[at - 1] != '/');
    return at;
}

int http1_path_normalize(char *path, size_t len)
{
    size_t from = 0, to = 0, used, n;

    if (len == 0 || path[0] != '/')
        return HTTP1_ETARGET;
    while (from < len) {
        while (from < len && path[from] == '/')
            from++;
        if (to == 0 || path[to - 1] != '/')
            path[to++] = '/';
        size_t segment = to;

        for (; from < len && path[from] != '/'; from += used, to += n)
            if ((n = put_char(path, to, from, len - from, &used)) == 0)
                return HTTP1_ETARGET;
        if ((to = resolve(path, segment, to)) == 0)
            return HTTP1_ETARGET;
    }
    return (int)to;
}

bool http1_normalize(struct http1_head *head, char *buf)
{
    char *path = buf + head->path;
    int len;

    if (head->path_len == 0)
        return true;
    len = http1_path_normalize(path, head->path_len);
    if (len < 0)
        return false;
    memmove(path + len, path + head->path_len, head->query_len);
    head->target_len = (uint16_t)(head->target_len - head->path_len + len);
    head->path_len = (uint16_t)len;
    return true;
}
