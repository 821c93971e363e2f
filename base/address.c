/* address.c: splits addresses and URLs into their parts. */
#include "base/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "lib/ascii.h"

enum { LONGEST_HOST = 253 };

bool bide__authority(const char *text, size_t len, struct bide__authority *ret)
{
    const char *end = text + len, *stop;

    *ret = (struct bide__authority){ .host = text };
    if (len > 0 && text[0] == '[') {
        stop = memchr(text, ']', len);
        if (!stop)
            return false;
        ret->brackets = true;
        ret->host = text + 1;
        ret->host_len = (size_t)(stop - ret->host);
        stop++;
    } else {
        stop = memchr(text, ':', len);
        stop = stop ? stop : end;
        ret->host_len = (size_t)(stop - text);
    }
    if (stop == end)
        return true;
    ret->colon = true;
    ret->port = stop + 1;
    ret->port_len = (size_t)(end - ret->port);
    return *stop == ':';
}

static bool begins(const char *text, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len > n && memcmp(text, with, n) == 0;
}

bool bide__url(const char *text, size_t len, struct bide__url *ret)
{
    bool tls = begins(text, len, "https://");
    size_t at = tls ? 8 : 7, n = 0;

    if (!tls && !begins(text, len, "http://"))
        return false;
    while (at + n < len && !memchr("/?#", text[at + n], 3))
        n++;
    *ret = (struct bide__url){ .tls = tls,
                               .authority = text + at,
                               .authority_len = n,
                               .rest = text + at + n,
                               .rest_len = len - at - n };
    return true;
}

bool bide__is_host(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = bide__lower(text[i]);

        if (!(c >= 'a' && c <= 'z') && !bide__is_digit(c) && c != '-' &&
            c != '.' && c != '_')
            return false;
    }
    return len > 0 && len <= LONGEST_HOST && text[0] != '.' && text[0] != '-';
}

bool bide__is_ipv4(const char *text)
{
    unsigned char bytes[4];

    return inet_pton(AF_INET, text, bytes) == 1;
}

bool bide__is_ipv6(const char *text)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET6, text, bytes) == 1;
}
