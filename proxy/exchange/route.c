/* Which route takes a request: the first whose conditions all match. The path
 * is compared in the form in which it is passed on: as sent, or, optionally,
 * normalized (request.c). Nothing is decoded here, so that a path cannot be
 * read in two ways. */
#include "proxy/exchange/route.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "config/proxy/conf.h"
#include "net/http1/media.h"
#include "proxy/back/request_counts.h"
#include "proxy/back/service.h"
#include "proxy/generation.h"

static size_t length(const char *s)
{
    return s ? strlen(s) : 0;
}

/* "example.org." is example.org, said in full (RFC 1034, 3.1). */
static size_t without_dot(const char *host, size_t len)
{
    return len > 1 && host[len - 1] == '.' ? len - 1 : len;
}

/* Fields that endpoints do not see are not matched either. */
static bool is_dropped(unsigned id, const struct bide__proxy_headers *headers)
{
    return id == HTTP1_ID_PROXY ||
           (id == HTTP1_ID_UNDERSCORE && !headers->underscores);
}

void route_init(struct route *r, const struct bide__proxy_route *conf,
                const struct bide__proxy_headers *headers,
                struct service *service)
{
    const struct bide__proxy_match *m = &conf->match;
    r->conf = conf;
    r->service = service;
    r->can_fail = conf->fault.abort != 0 || conf->fault.delay_ns != 0;
    r->has_fallback = conf->fallback.route || conf->fallback.stale_ns != 0 ||
                      conf->fallback.status != 0;
    r->host_len = without_dot(m->host, length(m->host));
    r->path_len = length(m->path);
    r->exact_len = length(m->exact);
    r->method_len = length(m->method);
    r->grpc_len = length(m->grpc);
    r->header_len = length(m->header);
    r->value_len = length(m->value);
    r->header_id =
        m->header ? (uint8_t)http1_name_id(m->header, r->header_len) : 0;
    r->header_dropped = is_dropped(r->header_id, headers);
}

/* An authority without its port. */
static size_t host_only(const char *host, size_t len)
{
    for (size_t i = len; i-- > 0 && host[i] != ']';)
        if (host[i] == ':')
            return without_dot(host, i);
    return without_dot(host, len);
}

static bool host_is(const struct route *r, const char *host, size_t len)
{
    const char *want = r->conf->match.host;
    len = host_only(host, len);
    if (want[0] != '*')
        return len == r->host_len && strncasecmp(host, want, len) == 0;
    size_t tail = r->host_len - 1; /* ".example.org" */
    return len > tail && strncasecmp(host + len - tail, want + 1, tail) == 0;
}

/* Hop-by-hop fields end here, whether Connection names them or not; but an
 * upgrade is passed on. */
static bool goes_on(const struct http1_field *f, const struct http1_head *head)
{
    return !f->hop || (f->id == HTTP1_ID_UPGRADE && head->upgrade);
}

static bool header_is(const struct route *r, const struct http1_head *head,
                      const char *buf)
{
    const struct bide__proxy_match *m = &r->conf->match;
    for (unsigned i = 0; i < head->n_fields && !r->header_dropped; i++) {
        const struct http1_field *f = &head->fields[i];
        if (f->id != r->header_id || f->name_len != r->header_len ||
            strncasecmp(buf + f->line, m->header, f->name_len) != 0 ||
            !goes_on(f, head))
            continue;
        if (!m->value || (f->value_len == r->value_len &&
                          memcmp(buf + f->value, m->value, f->value_len) == 0))
            return true;
    }
    return false;
}

/* "/shop.Cart/Add", of which the method may be any. */
static bool grpc_is_named(const struct route *r, const char *path, size_t len)
{
    const char *name = r->conf->match.grpc;
    size_t n = r->grpc_len;
    if (len <= n || memcmp(path + 1, name, n) != 0)
        return false;
    return memchr(name, '/', n) ? len == n + 1
                                : len > n + 1 && path[n + 1] == '/';
}

static bool takes(const struct route *r, const struct http1_head *head,
                  const char *buf)
{
    const struct bide__proxy_match *m = &r->conf->match;
    const char *path = head->path_len ? buf + head->path : "/";
    size_t path_len = head->path_len ? head->path_len : 1;

    if (m->path &&
        (path_len < r->path_len || memcmp(path, m->path, r->path_len) != 0))
        return false;
    if (m->exact &&
        (path_len != r->exact_len || memcmp(path, m->exact, r->exact_len) != 0))
        return false;
    if (m->grpc &&
        !(grpc_is_named(r, path, path_len) && http1_is_grpc(head, buf)))
        return false;
    if (m->method && (head->method_len != r->method_len ||
                      memcmp(buf + head->method, m->method, r->method_len)))
        return false;
    if (m->host && !host_is(r, buf + head->host, head->host_len))
        return false;
    return !m->header || header_is(r, head, buf);
}

/* ===== counts ===== */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* "POST api.example.org/pay/" with a star behind it, since the path is a prefix;
 * "/health" if it is exact; only the star if it takes everything. */
static void name_it(struct route *r, size_t i)
{
    const struct bide__proxy_match *m = &r->conf->match;
    int n =
        snprintf(r->name, sizeof r->name, "%s%s%s%s%s", or_empty(m->method),
                 m->method ? " " : "", or_empty(m->host),
                 or_empty(m->grpc    ? m->grpc
                          : m->exact ? m->exact
                                     : m->path),
                 m->exact || m->grpc ? "" : "*");

    if (m->header && n > 0 && (size_t)n < sizeof r->name)
        n += snprintf(r->name + n, sizeof r->name - (size_t)n, " %s%s%s",
                      m->header, m->value ? "=" : "", or_empty(m->value));
    if (n >= (int)sizeof r->name) /* no half characters */
        r->name[bide__utf8_cut(r->name, sizeof r->name - 1)] = '\0';
    if (i >= ROUTES_COUNTED)
        strcpy(r->name, "other");
}

static struct request_counts *counts_of(const struct generation *g, size_t n,
                                        const struct route *r)
{
    for (size_t i = 0; i < n; i++) {
        const struct route *other = &g->routes[i];
        if (strcmp(other->name, r->name) == 0 &&
            strcmp(bide_dep_name(other->service->dep),
                   bide_dep_name(r->service->dep)) == 0) {
            atomic_fetch_add(&other->counts->refs, 1);
            return other->counts;
        }
    }
    return NULL;
}

bool route_count(struct generation *g, size_t i, const struct generation *old,
                 unsigned n_workers)
{
    struct route *r = &g->routes[i];

    name_it(r, i);
    r->counts = counts_of(g, i, r);
    if (!r->counts && old)
        r->counts = counts_of(old, old->n_routes, r);
    if (!r->counts)
        r->counts = request_counts_new(n_workers);
    return r->counts != NULL;
}

const struct route *route_find(const struct generation *g,
                               const struct http1_head *head, const char *buf)
{
    for (size_t i = 0; i < g->n_routes; i++)
        if (takes(&g->routes[i], head, buf))
            return &g->routes[i];
    return NULL;
}
