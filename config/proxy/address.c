/* address.c: addresses, URLs and networks.
 *
 * A listening address is never a name: what a name resolves to may change
 * between `bide check` and the start, and then the sidecar would listen
 * elsewhere. */
#include "config/proxy/address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/address.h"
#include "config/field/value.h"

enum { LONGEST_UNIX = 107 };

static char *copy(struct bide__load *load, const char *text, size_t len)
{
    char *memory = bide__load_alloc(load, len + 1);

    if (memory)
        memcpy(memory, text, len);
    return memory;
}

static bool begins(const struct bide__node *node, const char *with)
{
    size_t n = strlen(with);

    return node->len >= n && memcmp(node->text, with, n) == 0;
}

/* ===== listening addresses ===== */

static const char *read_unix(struct bide__load *load,
                             const struct bide__node *node,
                             struct bide__proxy_address *ret)
{
    const char *path = node->text + 5;

    (void)load;
    if (path[0] != '/')
        return "the path of a socket begins with `/`, as in "
               "`unix:/run/bide.sock`";
    if (strlen(path) > LONGEST_UNIX)
        return "the path of a socket has at most 107 bytes";
    ret->path = path;
    return NULL;
}

static const char *not_an_address(struct bide__load *load,
                                  const struct bide__authority *cut)
{
    if (cut->host_len == 9 && memcmp(cut->host, "localhost", 9) == 0)
        return bide__diag_text(load->notes, "write `127.0.0.1:%.*s`",
                               (int)cut->port_len, cut->port);
    if (cut->host_len == 0)
        return bide__diag_text(load->notes,
                               "write `127.0.0.1:%.*s`, or `*:%.*s` for all "
                               "addresses",
                               (int)cut->port_len, cut->port,
                               (int)cut->port_len, cut->port);
    if (cut->brackets)
        return "only an IPv6 address stands in brackets";
    return "that is no address, and names are not looked up: write "
           "`127.0.0.1:8080`";
}

const char *bide__read_address(struct bide__load *load,
                               const struct bide__node *node, void *member)
{
    struct bide__proxy_address *ret = member;
    struct bide__authority cut;
    char *host;

    ret->text = node->text;
    if (begins(node, "unix:"))
        return read_unix(load, node, ret);
    if (bide__is_ipv6(node->text) ||
        !bide__authority(node->text, node->len, &cut) ||
        (!cut.brackets && cut.colon && memchr(cut.port, ':', cut.port_len)))
        return "an IPv6 address stands in brackets, as in `[::1]:8080`";
    if (!cut.colon || !bide__port(cut.port, cut.port_len, &ret->port))
        return "an address has a port from 0 to 65535, as in `127.0.0.1:8080`";
    host = copy(load, cut.host, cut.host_len);
    if (!host)
        return NULL;
    ret->host = host;
    if (cut.brackets ? bide__is_ipv6(host)
                     : strcmp(host, "*") == 0 || bide__is_ipv4(host))
        return NULL;
    return not_an_address(load, &cut);
}

/* ===== endpoints ===== */

/* Reads the host and the port of a URL, after its scheme. */
static const char *read_authority(struct bide__load *load, const char *text,
                                  size_t len, struct bide__proxy_endpoint *ret)
{
    struct bide__authority cut;
    char *host;

    if (memchr(text, '@', len))
        return "user names and passwords do not belong here: clients send "
               "them";
    if (!bide__authority(text, len, &cut))
        return "an IPv6 address stands in brackets, as in `http://[::1]:8080`";
    if (cut.colon &&
        (!bide__port(cut.port, cut.port_len, &ret->port) || ret->port == 0))
        return "a port is from 1 to 65535, as in `http://10.0.0.1:8080`";
    host = copy(load, cut.host, cut.host_len);
    if (!host)
        return NULL;
    ret->host = host;
    if (cut.brackets ? bide__is_ipv6(host) : bide__is_host(host, cut.host_len))
        return NULL;
    return "the host is a name, an IPv4 address, or an IPv6 address in "
           "brackets";
}

const char *bide__read_endpoint(struct bide__load *load,
                                const struct bide__node *node, void *member)
{
    struct bide__proxy_endpoint *ret = member;
    struct bide__url url;

    if (!bide__url(node->text, node->len, &url))
        return "write `http://10.0.0.1:8080` or `https://example.com`";
    if (url.rest_len > 1 || (url.rest_len == 1 && *url.rest != '/'))
        return "an endpoint has no path: it is sent that of the request";
    *ret = (struct bide__proxy_endpoint){
        .url = node->text,
        .port = url.tls ? 443 : 80,
        .tls = url.tls,
    };
    return read_authority(load, url.authority, url.authority_len, ret);
}

/* ===== networks ===== */

/* Whether all bits after the first `bits` are 0; clears them if not. */
static bool clear_behind(struct bide__proxy_net *net)
{
    bool clear = true;

    for (unsigned bit = net->bits; bit < net->len * 8u; bit++) {
        uint8_t mask = (uint8_t)(0x80u >> bit % 8);

        clear &= !(net->bytes[bit / 8] & mask);
        net->bytes[bit / 8] &= (uint8_t)~mask;
    }
    return clear;
}

const char *bide__read_net(struct bide__load *load,
                           const struct bide__node *node, void *member)
{
    struct bide__proxy_net *ret = member;
    const char *slash = memchr(node->text, '/', node->len);
    size_t len = slash ? (size_t)(slash - node->text) : node->len;
    char *address = copy(load, node->text, len), text[INET6_ADDRSTRLEN];
    uint64_t bits;

    if (!address)
        return NULL;
    ret->text = node->text;
    ret->len = inet_pton(AF_INET, address, ret->bytes) == 1    ? 4
               : inet_pton(AF_INET6, address, ret->bytes) == 1 ? 16
                                                               : 0;
    bits = ret->len * 8u;
    if (ret->len == 0 ||
        (slash &&
         bide__parse_count(slash + 1, node->len - len - 1, &bits) < 0) ||
        bits > ret->len * 8u)
        return "write an address or a network, as in `127.0.0.1`, `10.0.0.0/8` "
               "or `fd00::/8`";
    ret->bits = (uint8_t)bits;
    if (clear_behind(ret))
        return NULL;
    inet_ntop(ret->len == 4 ? AF_INET : AF_INET6, ret->bytes, text,
              sizeof text);
    return bide__diag_text(
        load->notes, "the network of that address is `%s/%u`", text, ret->bits);
}
