/* import_proxy.c: the `proxy:` section of an import.
 *
 * Upstreams without an endpoint, and routes to them, are not written: the
 * section is there to be started from, and must be one that `bide proxy`
 * takes. */
#include "config/translate/import_proxy.h"

#include <string.h>

#include "base/arena.h"
#include "config/field/value.h"
#include "config/proxy/conf.h"

/* ===== building it ===== */

static void *make(struct bide__import *im, size_t size)
{
    void *made = bide__arena_alloc(im->arena, size);

    if (made)
        memset(made, 0, size);
    im->no_memory = im->no_memory || !made;
    return made;
}

struct bide__import_upstream *bide__import_upstream(struct bide__import *im,
                                                    const char *name)
{
    struct bide__import_upstream **at = &im->upstreams;

    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    *at = make(im, sizeof **at);
    if (*at) {
        (*at)->name = name;
        (*at)->last = &(*at)->endpoints;
        (*at)->failure_rate = 1;
        (*at)->open_ns = 30 * BIDE_SECOND;
        (*at)->max_ejected = 0.1;
    }
    return *at;
}

static bool all_of(const char *text, const char *set)
{
    return *text && strlen(text) < 254 && strspn(text, set) == strlen(text);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

bool bide__import_host_fits(const char *host)
{
    if (strncmp(host, "*.", 2) == 0)
        host += 2;
    return all_of(host, LETTERS DIGITS ".-") && *host != '.' && *host != '-' &&
           !strstr(host, "..");
}

bool bide__import_path_fits(const char *path)
{
    return *path == '/' && all_of(path, LETTERS DIGITS "/-._~!$&'()*+,;=:@%");
}

void bide__import_endpoint(struct bide__import *im,
                           const struct bide__node *where,
                           struct bide__import_upstream *u, const char *scheme,
                           const char *host, unsigned port)
{
    bool six = strchr(host, ':') && all_of(host, DIGITS "abcdefABCDEF:.");
    struct bide__import_endpoint *e;
    const char *url;

    if (!six && (*host == '*' || !bide__import_host_fits(host))) {
        bide__import_warn(im, where,
                          "`%s` is no server that requests could go to, and "
                          "is left out of `proxy:`",
                          host);
        return;
    }
    url =
        bide__arena_printf(im->arena, port ? "%s://%s%s%s:%u" : "%s://%s%s%s",
                           scheme, six ? "[" : "", host, six ? "]" : "", port);
    im->no_memory = im->no_memory || !url;
    for (e = u->endpoints; url && e; e = e->next)
        if (strcmp(e->url, url) == 0)
            return;
    if (!url || u->n_endpoints == BIDE__PROXY_MAX_ENDPOINTS)
        return;
    e = make(im, sizeof *e);
    if (!e)
        return;
    e->url = url;
    *u->last = e;
    u->last = &e->next;
    u->n_endpoints++;
}

struct bide__import_route *
bide__import_route(struct bide__import *im,
                   const struct bide__import_upstream *u, size_t policy)
{
    struct bide__import_route **at = &im->routes;

    while (*at)
        at = &(*at)->next;
    *at = make(im, sizeof **at);
    if (*at) {
        (*at)->upstream = u;
        (*at)->policy = policy;
    }
    return *at;
}

/* ===== writing it ===== */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether an earlier route has all of its requests already. */
static bool is_covered(const struct bide__import *im,
                       const struct bide__import_route *r)
{
    for (const struct bide__import_route *o = im->routes; o != r; o = o->next) {
        bool path = (!o->path && !o->exact) || same(o->exact, r->exact);

        if (o->path)
            path = (r->path && !strncmp(r->path, o->path, strlen(o->path))) ||
                   (r->exact && !strncmp(r->exact, o->path, strlen(o->path)));
        else if (o->exact)
            path = same(o->exact, r->exact);
        if (o->upstream->endpoints && path &&
            (!o->host || same(o->host, r->host)) &&
            (!o->method || same(o->method, r->method)))
            return true;
    }
    return false;
}

static bool is_written(const struct bide__import *im,
                       const struct bide__import_route *r)
{
    return r->upstream->endpoints && !is_covered(im, r);
}

static void write_condition(FILE *out, const char **comma, const char *key,
                            const char *text)
{
    if (!text)
        return;
    fprintf(out, "%s%s: ", *comma, key);
    bide__write_yaml_text(out, text);
    *comma = ", ";
}

static void write_route(FILE *out, const struct bide__import *im,
                        const struct bide__import_route *r)
{
    const char *comma = "";

    fprintf(out, "    - ");
    if (r->host || r->path || r->exact || r->method) {
        fprintf(out, "match: { ");
        write_condition(out, &comma, "host", r->host);
        write_condition(out, &comma, "path", r->path);
        write_condition(out, &comma, "exact", r->exact);
        write_condition(out, &comma, "method", r->method);
        fprintf(out, " }\n      ");
    }
    fprintf(out, "upstream: ");
    bide__write_yaml_text(out, r->upstream->name);
    fprintf(out, "\n      policy: ");
    bide__write_yaml_text(out, im->policies[r->policy].name);
    fprintf(out, "\n");
}

static void write_upstream(FILE *out, const struct bide__import_upstream *u)
{
    char open[32], rate[40], most[40];
    const char *comma = "";

    fprintf(out, "    ");
    bide__write_yaml_text(out, u->name);
    fprintf(out, ":\n      endpoints: [");
    for (const struct bide__import_endpoint *e = u->endpoints; e; e = e->next) {
        fprintf(out, "%s\"%s\"", comma, e->url);
        comma = ", ";
    }
    fprintf(out,
            "]\n      ejection: { consecutive: %lu, failure_rate: %s%%, open: "
            "%s, max_ejected: %s%% }\n",
            (unsigned long)u->consecutive,
            bide__format_number(100 * u->failure_rate, rate, sizeof rate),
            bide_format_duration(u->open_ns, open, sizeof open),
            bide__format_number(100 * u->max_ejected, most, sizeof most));
}

static bool is_used(const struct bide__import *im,
                    const struct bide__import_upstream *u)
{
    for (const struct bide__import_route *r = im->routes; r; r = r->next)
        if (r->upstream == u && is_written(im, r))
            return true;
    return false;
}

void bide__import_write(FILE *out, const struct bide__import *im)
{
    bool any = false;

    bide__write_policies(out, im->policies, im->n);
    for (const struct bide__import_route *r = im->routes; r; r = r->next)
        any = any || is_written(im, r);
    if (!any)
        return;
    fprintf(out, "proxy:\n  listen: 127.0.0.1:8080  # where `bide proxy` takes "
                 "requests\n  routes:\n");
    for (const struct bide__import_route *r = im->routes; r; r = r->next)
        if (is_written(im, r))
            write_route(out, im, r);
    fprintf(out, "  upstreams:\n");
    for (const struct bide__import_upstream *u = im->upstreams; u; u = u->next)
        if (is_used(im, u))
            write_upstream(out, u);
}
