/* The PROXY protocol. */
#include "net/proxy_protocol.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"

enum { V1_MAX = 107, V2_HEAD = 16, SIGNATURE = 12 };

/* The third byte of version 2, and the fourth. */
enum { LOCAL = 0x20, PROXY = 0x21 };
enum { UNSPEC = 0x00, TCP4 = 0x11, TCP6 = 0x21, UNIX_STREAM = 0x31 };

/* Bytes of the addresses of these. */
enum { TCP4_BYTES = 12, TCP6_BYTES = 36, UNIX_BYTES = 216 };

static const char word[] = "PROXY ";
static const char signature[] = "\r\n\r\n\0\r\nQUIT\n";

static struct net_address address_of(int family, const void *bytes,
                                     uint16_t port)
{
    struct net_address a;
    memset(&a, 0, sizeof a);
    a.to.any.sa_family = (sa_family_t)family;
    if (family == AF_INET) {
        memcpy(&a.to.in.sin_addr, bytes, 4);
        a.to.in.sin_port = htons(port);
        a.len = sizeof a.to.in;
    } else if (family == AF_INET6) {
        memcpy(&a.to.in6.sin6_addr, bytes, 16);
        a.to.in6.sin6_port = htons(port);
        a.len = sizeof a.to.in6;
    } else {
        a.len = sizeof a.to.un;
    }
    return a;
}

/* ===== reading version 1 ===== */

/* Cuts off the next word; NULL if there is none, or it is empty. */
static char *next_word(char **at)
{
    char *begin = *at, *end;
    if (!begin || *begin == '\0' || *begin == ' ')
        return NULL;
    end = strchr(begin, ' ');
    if (end)
        *end++ = '\0';
    *at = end;
    return begin;
}

/* Without zeros in front, which the protocol does not allow. */
static bool read_port(const char *text, uint16_t *ret)
{
    return text && (text[0] != '0' || text[1] == '\0') &&
           bide__port(text, strlen(text), ret);
}

/* "TCP4 SOURCE TARGET PORT PORT", and nothing after it. */
static bool read_words(char *line, struct net_proxied *ret)
{
    char *at = line, *kind = next_word(&at);
    const char *source = next_word(&at), *target = next_word(&at);
    const char *from = next_word(&at), *to = next_word(&at);
    unsigned char a[16], b[16];
    uint16_t from_port, to_port;
    int family = !kind                       ? AF_UNSPEC
                 : strcmp(kind, "TCP4") == 0 ? AF_INET
                 : strcmp(kind, "TCP6") == 0 ? AF_INET6
                                             : AF_UNSPEC;
    if (family == AF_UNSPEC || !source || !target || at ||
        inet_pton(family, source, a) != 1 ||
        inet_pton(family, target, b) != 1 || !read_port(from, &from_port) ||
        !read_port(to, &to_port))
        return false;
    ret->known = true;
    ret->source = address_of(family, a, from_port);
    ret->target = address_of(family, b, to_port);
    return true;
}

static int read_v1(const char *bytes, size_t n, struct net_proxied *ret)
{
    char line[V1_MAX + 1];
    const char *end = memchr(bytes, '\n', n < V1_MAX ? n : V1_MAX);
    if (!end)
        return n < V1_MAX ? 0 : -1;
    size_t skip = sizeof word - 1, len = (size_t)(end - bytes) + 1;
    if (end[-1] != '\r')
        return -1;
    memcpy(line, bytes + skip, len - 2 - skip);
    line[len - 2 - skip] = '\0';
    if (strlen(line) != len - 2 - skip || strchr(line, '\r'))
        return -1;
    bool unknown =
        strncmp(line, "UNKNOWN", 7) == 0 && (line[7] == '\0' || line[7] == ' ');
    ret->known = false;
    return unknown || read_words(line, ret) ? (int)len : -1;
}

/* ===== reading version 2 ===== */

static uint16_t number(const unsigned char *b)
{
    return (uint16_t)(b[0] << 8 | b[1]);
}

/* The addresses, `len` bytes and what follows them. */
static bool read_addresses(const unsigned char *b, unsigned kind, size_t len,
                           struct net_proxied *ret)
{
    ret->known = kind != UNSPEC;
    switch (kind) {
    case UNSPEC:
        return true;
    case TCP4:
        if (len < TCP4_BYTES)
            return false;
        ret->source = address_of(AF_INET, b, number(b + 8));
        ret->target = address_of(AF_INET, b + 4, number(b + 10));
        return true;
    case TCP6:
        if (len < TCP6_BYTES)
            return false;
        ret->source = address_of(AF_INET6, b, number(b + 32));
        ret->target = address_of(AF_INET6, b + 16, number(b + 34));
        return true;
    case UNIX_STREAM:
        ret->source = ret->target = address_of(AF_UNIX, NULL, 0);
        return len >= UNIX_BYTES;
    default: /* datagrams do not arrive on a stream */
        return false;
    }
}

static int read_v2(const unsigned char *b, size_t n, struct net_proxied *ret)
{
    if (n < V2_HEAD)
        return n > SIGNATURE && b[SIGNATURE] != LOCAL && b[SIGNATURE] != PROXY
                   ? -1
                   : 0;
    size_t len = number(b + 14);
    if ((b[SIGNATURE] != LOCAL && b[SIGNATURE] != PROXY) ||
        V2_HEAD + len > NET_PROXIED_MAX)
        return -1;
    if (n < V2_HEAD + len)
        return 0;
    ret->known = false;
    if (b[SIGNATURE] == PROXY && !read_addresses(b + V2_HEAD, b[13], len, ret))
        return -1;
    return (int)(V2_HEAD + len);
}

static bool begins(const void *bytes, size_t n, const char *with, size_t len)
{
    return memcmp(bytes, with, n < len ? n : len) == 0;
}

int net_proxied_read(const void *bytes, size_t n, struct net_proxied *ret)
{
    if (n == 0)
        return 0;
    if (begins(bytes, n, word, sizeof word - 1))
        return n < sizeof word - 1 ? 0 : read_v1(bytes, n, ret);
    if (begins(bytes, n, signature, SIGNATURE))
        return n < SIGNATURE ? 0 : read_v2(bytes, n, ret);
    return -1;
}

/* ===== writing ===== */

/* The bytes of an address and its port, as IPv6 if `wide`. */
static uint16_t wire(const struct net_address *a, bool wide,
                     unsigned char bytes[16])
{
    unsigned len = net_address_bytes(a, bytes);
    if (wide && len == 4) {
        memcpy(bytes + 12, bytes, 4);
        memset(bytes, 0, 10);
        memset(bytes + 10, 0xff, 2);
    }
    return ntohs(a->to.any.sa_family == AF_INET ? a->to.in.sin_port
                                                : a->to.in6.sin6_port);
}

static size_t write_v2(char *to, const unsigned char *source,
                       const unsigned char *target, size_t size, uint16_t from,
                       uint16_t port, bool local)
{
    unsigned char b[NET_PROXIED_TEXT] = { 0 };
    size_t len = size ? 2 * size + 4 : 0;
    memcpy(b, signature, SIGNATURE);
    b[SIGNATURE] = local ? LOCAL : PROXY;
    b[13] = size == 4 ? TCP4 : size == 16 ? TCP6 : UNSPEC;
    b[15] = (unsigned char)len;
    memcpy(b + V2_HEAD, source, size);
    memcpy(b + V2_HEAD + size, target, size);
    if (size) {
        unsigned char *ports = b + V2_HEAD + 2 * size;
        ports[0] = (unsigned char)(from >> 8);
        ports[1] = (unsigned char)from;
        ports[2] = (unsigned char)(port >> 8);
        ports[3] = (unsigned char)port;
    }
    memcpy(to, b, V2_HEAD + len);
    return V2_HEAD + len;
}

static size_t write_v1(char *to, const unsigned char *source,
                       const unsigned char *target, size_t size, uint16_t from,
                       uint16_t port)
{
    char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN];
    int family = size == 4 ? AF_INET : AF_INET6;
    if (size == 0 || !inet_ntop(family, source, a, sizeof a) ||
        !inet_ntop(family, target, b, sizeof b))
        return (size_t)snprintf(to, NET_PROXIED_TEXT, "PROXY UNKNOWN\r\n");
    return (size_t)snprintf(to, NET_PROXIED_TEXT, "PROXY TCP%d %s %s %u %u\r\n",
                            size == 4 ? 4 : 6, a, b, (unsigned)from,
                            (unsigned)port);
}

size_t net_proxied_write(char to[NET_PROXIED_TEXT], int version,
                         const struct net_address *source,
                         const struct net_address *target)
{
    unsigned char a[16] = { 0 }, b[16] = { 0 };
    unsigned x = source ? net_address_bytes(source, a) : 0;
    unsigned y = source ? net_address_bytes(target, b) : 0;
    size_t size = x && y ? (x > y ? x : y) : 0;
    uint16_t from = 0, port = 0;
    if (size) {
        from = wire(source, size == 16, a);
        port = wire(target, size == 16, b);
    }
    return version == 1 ? write_v1(to, a, b, size, from, port)
                        : write_v2(to, a, b, size, from, port, !source);
}
