/* Addresses, ports and URLs, as people write them.
 *
 *     struct bide__url url;
 *     struct bide__authority at;
 *     uint16_t port = 443;
 *     if (!bide__url("https://[::1]:8443/x", 20, &url) || !url.tls ||
 *         !bide__authority(url.authority, url.authority_len, &at) ||
 *         (at.colon && !bide__port(at.port, at.port_len, &port)))
 *         return false;
 *     return port == 8443 && at.brackets && at.host_len == 3;
 *
 * These functions split a text and copy nothing. The caller checks what is in
 * the brackets, and whether it wants a name or an address. */
#ifndef BIDE_BASE_ADDRESS_H
#define BIDE_BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One to five digits, at most 65535; otherwise false, and *ret is unchanged.
 * getaddrinfo() would take 99999 for 34463. */
static inline bool bide__port(const char *text, size_t len, uint16_t *ret)
{
    uint32_t port = 0;

    if (len < 1 || len > 5)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        port = port * 10 + (uint32_t)(text[i] - '0');
    }
    if (port > 65535)
        return false;
    *ret = (uint16_t)port;
    return true;
}

/* "host", "host:port" or "[host]:port", split into its parts. */
struct bide__authority {
    const char *host, *port;
    size_t host_len, port_len;
    bool colon; /* there is a colon, though the port may be empty */
    bool brackets;
};

/* False: a bracket is not closed, or is followed by something other than a
 * colon. */
bool bide__authority(const char *text, size_t len, struct bide__authority *ret);

/* The authority is what follows the scheme, up to the first of `/?#`. */
struct bide__url {
    bool tls;
    const char *authority, *rest;
    size_t authority_len, rest_len;
};

/* False: neither http:// nor https://, or nothing follows it. */
bool bide__url(const char *text, size_t len, struct bide__url *ret);

/* Whether a text can be a host name or an IPv4 address. */
bool bide__is_host(const char *text, size_t len);

bool bide__is_ipv4(const char *text);
bool bide__is_ipv6(const char *text); /* without brackets */

#endif
