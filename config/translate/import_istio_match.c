/* import_istio_match.c: where the requests of a VirtualService go, as routes of
 * the sidecar. A match that the sidecar has no words for is left out as a whole:
 * half of it would take requests that are not meant. */
#include "config/translate/import_istio_match.h"

#include "config/translate/import_proxy.h"

typedef struct bide__node node;

/* One entry of `match`. */
struct match {
    const char *path, *exact, *method;
    bool unfit;
};

static void read_uri(struct bide__import *im, void *ctx, node *key, node *value)
{
    struct match *m = ctx;
    const char *text = bide__import_text(im, value);

    if (!text || !bide__import_path_fits(text)) {
        m->unfit = true;
        bide__import_warn(im, value,
                          "this match is left out of `proxy:`: its "
                          "path is not one that is sent");
    } else if (bide__node_is(key, "exact")) {
        m->exact = text;
    } else {
        m->path = text;
    }
}

static void read_unfit(struct bide__import *im, void *ctx, node *key,
                       node *value)
{
    (void)value;
    ((struct match *)ctx)->unfit = true;
    bide__import_warn(im, key,
                      "this match is left out of `proxy:`: the sidecar has no "
                      "`%s`",
                      key->text);
}

static void read_path(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    static const struct bide__field fields[] = {
        { "prefix", read_uri, NULL },
        { "exact", read_uri, NULL },
        { "regex", read_unfit, NULL },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

static void read_word(struct bide__import *im, void *ctx, node *key,
                      node *value)
{
    struct match *m = ctx;
    const char *text = bide__import_text(im, value);

    (void)key;
    for (const char *c = text; c && *c; c++)
        if (*c < 'A' || *c > 'Z')
            text = NULL;
    m->method = text && *text ? text : NULL;
    m->unfit = m->unfit || !m->method;
}

static void read_method(struct bide__import *im, void *ctx, node *key,
                        node *value)
{
    static const struct bide__field fields[] = {
        { "exact", read_word, NULL },
        { "prefix", read_unfit, NULL },
        { "regex", read_unfit, NULL },
        { NULL, NULL, NULL },
    };

    (void)key;
    bide__import_map(im, value, fields, ctx);
}

static struct match read_entry(struct bide__import *im, const node *entry)
{
    static const struct bide__field fields[] = {
        { "name", NULL, NULL },
        { "uri", read_path, NULL },
        { "method", read_method, NULL },
        { "scheme", read_unfit, NULL },
        { "authority", read_unfit, NULL },
        { "headers", read_unfit, NULL },
        { "withoutHeaders", read_unfit, NULL },
        { "queryParams", read_unfit, NULL },
        { "port", read_unfit, NULL },
        { "ignoreUriCase", read_unfit, NULL },
        { "sourceLabels", NULL, "the sidecar is that of one source" },
        { "sourceNamespace", NULL, "the sidecar is that of one source" },
        { "gateways", NULL, "a policy does not say where it applies" },
        { NULL, NULL, NULL },
    };
    struct match m = { .unfit = false };

    bide__import_map(im, entry, fields, &m);
    return m;
}

/* One for each host of the VirtualService; for any host if there is none, or
 * one that the sidecar cannot match. */
static void add_routes(struct bide__import *im, const struct bide__istio *is,
                       const struct bide__import_upstream *u,
                       const struct match *m, size_t policy)
{
    size_t n = is->hosts && is->hosts->n > 0 ? is->hosts->n : 1;

    for (size_t i = 0; i < n && i < 16 && !im->no_memory; i++) {
        const char *host = is->hosts && is->hosts->n > 0
                               ? bide__import_text(im, is->hosts->items[i])
                               : NULL;
        struct bide__import_route *r = bide__import_route(im, u, policy);

        if (!r)
            return;
        r->host = host && bide__import_host_fits(host) ? host : NULL;
        r->path = m->path;
        r->exact = m->exact;
        r->method = m->method;
    }
}

/* Several destinations are one upstream, named after the first: the rule of a
 * host is that of the upstream of its name. */
void bide__istio_routes(struct bide__import *im, const struct bide__istio *is,
                        const node *match,
                        const struct bide__istio_target *targets, size_t policy)
{
    const struct bide__istio_target *first = targets;
    struct bide__import_upstream *u;
    struct match all = { .unfit = false };

    if (!targets)
        return;
    while (first->next)
        first = first->next; /* they are in reverse */
    u = bide__import_upstream(im, first->host);
    for (const struct bide__istio_target *t = targets; u && t; t = t->next)
        bide__import_endpoint(im, t->where, u, "http", t->host, t->port);
    if (u && (!match || match->n == 0))
        add_routes(im, is, u, &all, policy);
    for (size_t i = 0; u && match && i < match->n && !im->no_memory; i++) {
        struct match m = read_entry(im, match->items[i]);

        if (!m.unfit && match->items[i]->kind == BIDE__MAP)
            add_routes(im, is, u, &m, policy);
    }
}
