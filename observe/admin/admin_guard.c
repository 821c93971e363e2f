/* Checks who may send requests. A browser sends whatever a page asks it to, to
 * any address; the header fields it adds say on whose behalf. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "observe/admin/admin_parts.h"
#include "observe/admin/admin_route.h"

/* A part of the request, without a NUL at its end. */
struct piece {
    const char *at;
    size_t len;
};

static bool is(struct piece p, const char *text)
{
    return p.len == strlen(text) && strncasecmp(p.at, text, p.len) == 0;
}

/* A header field by its name; `at` is NULL if it is missing. */
static struct piece field(const struct http_conn *c, const char *name)
{
    for (unsigned i = 0; i < c->head.n_fields; i++) {
        const struct http1_field *f = &c->fields[i];
        if (is((struct piece){ c->in + f->line, f->name_len }, name))
            return (struct piece){ c->in + f->value, f->value_len };
    }
    return (struct piece){ NULL, 0 };
}

/* ===== Host ===== */

/* Without the port, and without brackets. */
static struct piece name_of(struct piece host)
{
    if (host.len && host.at[0] == '[') {
        const char *end = memchr(host.at, ']', host.len);
        return (struct piece){ host.at + 1,
                               end ? (size_t)(end - host.at) - 1 : 0 };
    }
    const char *colon = memchr(host.at, ':', host.len);
    return (struct piece){ host.at,
                           colon ? (size_t)(colon - host.at) : host.len };
}

static bool is_address(struct piece name)
{
    char text[64];
    unsigned char bytes[16];

    if (name.len >= sizeof text)
        return false;
    memcpy(text, name.at, name.len);
    text[name.len] = '\0';
    return inet_pton(AF_INET, text, bytes) == 1 ||
           inet_pton(AF_INET6, text, bytes) == 1;
}

/* A name can be made to point elsewhere (DNS rebinding); an address cannot. */
static bool host_allowed(const struct bide__admin *a, struct piece host)
{
    struct piece name = name_of(host);

    if (is_address(name) || is(name, "localhost"))
        return true;
    for (char *const *h = a->hosts; h && *h; h++)
        if (is(name, *h))
            return true;
    return false;
}

/* ===== Origin ===== */

/* The origin of the page must be the host that it sends the request to. */
static bool origin_allowed(const struct bide__admin *a, struct piece origin,
                           struct piece host)
{
    const char *scheme = a->server.tls ? "https://" : "http://";
    size_t n = strlen(scheme);

    return origin.len == n + host.len &&
           strncasecmp(origin.at, scheme, n) == 0 &&
           strncasecmp(origin.at + n, host.at, host.len) == 0;
}

const char *admin_guard(const struct bide__admin *a, const struct http_conn *c)
{
    struct piece host = { c->in + c->head.host, c->head.host_len };
    struct piece origin = field(c, "origin");
    struct piece site = field(c, "sec-fetch-site");

    if (!host_allowed(a, host))
        return "Host is neither an address nor a name in admin.hosts";
    if (origin.at && !origin_allowed(a, origin, host))
        return "requests of other sites are refused (Origin)";
    /* `none` means that the user typed the address. A link from another site to
     * the page does no harm, and shows nothing to the site with the link. */
    if (site.at && !is(site, "same-origin") && !is(site, "none") &&
        !is(field(c, "sec-fetch-mode"), "navigate"))
        return "requests of other sites are refused (Sec-Fetch-Site)";
    return NULL;
}

/* ===== the token ===== */

/* Takes as long for a token that is almost right as for any other. */
static bool same_secret(struct piece given, const char *token)
{
    size_t len = strlen(token);
    unsigned char differ = given.len != len;

    for (size_t i = 0; i < given.len; i++)
        differ |= (unsigned char)(given.at[i] ^ token[i % (len ? len : 1)]);
    return differ == 0;
}

const char *admin_guard_action(const struct bide__admin *a,
                               const struct http_conn *c, int *ret_status)
{
    static const char scheme[] = "Bearer ";
    struct piece given = field(c, "authorization");
    size_t n = sizeof scheme - 1;

    *ret_status = 403;
    if (!a->token)
        return "actions need a token in the configuration (admin.token)";
    *ret_status = 401;
    if (!given.at || given.len <= n || strncasecmp(given.at, scheme, n) != 0)
        return "expected `Authorization: Bearer TOKEN`";
    given = (struct piece){ given.at + n, given.len - n };
    return same_secret(given, a->token) ? NULL : "invalid token";
}
