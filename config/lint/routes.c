/* routes.c: routes that never match, and upstreams that no route uses. */

#include <string.h>

#include "config/doc/diag.h"
#include "config/lint/proxy_lints.h"
#include "config/policy/policy_file.h"
#include "config/proxy/conf.h"

/* Pairs of routes are compared; in a larger file only this many. */
enum { MOST_ROUTES = 2000 };

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* In any case of letters. */
static bool same(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Whether every host that `b` takes is one that `a` takes; NULL takes any. */
static bool host_covers(const char *a, const char *b)
{
    size_t a_len, b_len;

    if (!a)
        return true;
    if (!b)
        return false;
    if (same(a, b))
        return true;
    a_len = strlen(a);
    b_len = strlen(b);
    return strncmp(a, "*.", 2) == 0 && b_len > a_len - 1 &&
           same(a + 1, b + b_len - (a_len - 1));
}

static bool path_covers(const struct bide__proxy_match *a,
                        const struct bide__proxy_match *b)
{
    const char *path = b->exact ? b->exact : b->path;

    if (a->exact)
        return b->exact && strcmp(a->exact, b->exact) == 0;
    return !a->path || (path && strncmp(a->path, path, strlen(a->path)) == 0);
}

static bool header_covers(const struct bide__proxy_match *a,
                          const struct bide__proxy_match *b)
{
    if (!a->header)
        return true;
    if (!b->header || !same(a->header, b->header))
        return false;
    return !a->value || (b->value && strcmp(a->value, b->value) == 0);
}

static bool covers(const struct bide__proxy_match *a,
                   const struct bide__proxy_match *b)
{
    return path_covers(a, b) && host_covers(a->host, b->host) &&
           header_covers(a, b) &&
           (!a->method || (b->method && strcmp(a->method, b->method) == 0));
}

static void unreachable(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;
    const struct bide__node *list =
        bide__map_get(config->proxy, "routes", NULL);
    size_t n = p->n_routes < MOST_ROUTES ? p->n_routes : MOST_ROUTES;

    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (covers(&p->routes[k].match, &p->routes[i].match)) {
                bide__diag(notes, config->tree, list->items[i], BIDE_WARNING,
                           "L016", "put it before the other, or take it out",
                           "no request comes to this route");
                bide__diag(notes, config->tree, list->items[k], BIDE_NOTE,
                           "L016", NULL, "this one takes them all");
                break;
            }
}

static void unused(const bide_config *config, bide_diagnostics *notes)
{
    const struct bide__proxy_conf *p = config->proxy_conf;
    const struct bide__node *map =
        bide__map_get(config->proxy, "upstreams", NULL);

    for (size_t i = 0; i < p->n_upstreams; i++) {
        size_t k = 0;

        while (k < p->n_routes && p->routes[k].upstream != i &&
               p->routes[k].fallback.upstream != i)
            k++;
        if (k == p->n_routes)
            bide__diag(notes, config->tree, map->keys[i], BIDE_WARNING, "L017",
                       NULL, "no route leads to `%s`", p->upstreams[i].name);
    }
}

void bide__lint_routes(const bide_config *config, bide_diagnostics *notes)
{
    unreachable(config, notes);
    unused(config, notes);
}
