/* net/http1/target.c: what a request is for.
 *
 * The path stays as sent: it is neither decoded nor normalized, because what
 * "%2f" or ".." means is up to the server behind. Code that matches on it must
 * know that, or call http1_normalize(). */
#include "base/address.h"
#include "net/http1/scan.h"
#include "net/http1/target.h"

/* The length of "[...]", or 0 if it is not that. Whether the groups are valid
 * is checked when connecting. */
static size_t bracketed(const char *p, size_t len)
{
    size_t at = 1;

    while (at < len &&
           (http1__is(p[at], HTTP1_C_HEX) || p[at] == ':' || p[at] == '.'))
        at++;
    return at > 2 && at < len && p[at] == ']' ? at + 1 : 0;
}

/* The length of a name or an IPv4 address. */
static size_t named(const char *p, size_t len)
{
    size_t at = 0;

    for (;;) {
        at = http1__skip(p, at, len, HTTP1_C_HOST);
        if (len - at < 3 || p[at] != '%' ||
            !http1__is(p[at + 1], HTTP1_C_HEX) ||
            !http1__is(p[at + 2], HTTP1_C_HEX))
            return at;
        at += 3;
    }
}

bool http1__authority_valid(const char *p, size_t len, bool port_needed)
{
    size_t host;

    if (len == 0)
        return false;
    host = p[0] == '[' ? bracketed(p, len) : named(p, len);
    if (host == 0)
        return false;
    if (host == len)
        return !port_needed;
    /* An empty port is refused: RFC 3986 allows it, nobody sends it, and not
     * everybody understands it. */
    return p[host] == ':' &&
           bide__port(p + host + 1, len - host - 1, &(uint16_t){ 0 });
}

/* The target's bytes from `at` on are path and query. */
static void split_path(struct http1_head *h, const char *buf, unsigned at)
{
    unsigned end = (unsigned)(h->target + h->target_len);
    const char *mark = memchr(buf + at, '?', end - at);
    unsigned query = mark ? (unsigned)(mark - buf) : end;

    h->path = (uint16_t)at;
    h->path_len = (uint16_t)(query - at);
    h->query_len = (uint16_t)(end - query);
}

/* http://authority/path?query. User information is refused: RFC 9110, 4.2.4. */
static int absolute(struct http1_head *h, const char *buf)
{
    const char *p = buf + h->target;
    unsigned end = (unsigned)(h->target + h->target_len), at;

    if (h->target_len > 7 && http1__same(p, "http://", 7))
        at = h->target + 7u;
    else if (h->target_len > 8 && http1__same(p, "https://", 8))
        at = h->target + 8u;
    else
        return HTTP1_ETARGET;
    h->form = HTTP1_ABSOLUTE;
    h->host = (uint16_t)at;
    while (at < end && buf[at] != '/' && buf[at] != '?')
        at++;
    h->host_len = (uint16_t)(at - h->host);
    split_path(h, buf, at);
    return http1__authority_valid(buf + h->host, h->host_len, false)
               ? 0
               : HTTP1_ETARGET;
}

static int authority(struct http1_head *h, const char *buf)
{
    h->form = HTTP1_AUTHORITY;
    h->host = h->target;
    h->host_len = h->target_len;
    return http1__authority_valid(buf + h->host, h->host_len, true)
               ? 0
               : HTTP1_ETARGET;
}

int http1__target(struct http1_head *h, const char *buf)
{
    char first = buf[h->target];

    if (h->method_id == HTTP1_CONNECT)
        return authority(h, buf);
    if (first == '/') {
        h->form = HTTP1_ORIGIN;
        split_path(h, buf, h->target);
        return 0;
    }
    if (first == '*') {
        h->form = HTTP1_ASTERISK;
        return h->method_id == HTTP1_OPTIONS && h->target_len == 1
                   ? 0
                   : HTTP1_ETARGET;
    }
    return absolute(h, buf);
}
