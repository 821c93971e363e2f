/* import_envoy.c: reads policies from an Envoy configuration, YAML or JSON.
 *
 * Virtual hosts and clusters are found wherever they are: in a bootstrap file
 * under listeners and filters, in a list of resources, by themselves, or as the
 * `route` and `cluster` of `bide export`. Routes are read first, then clusters,
 * which add to the policies of the routes that lead to them. */
#include "config/translate/import_envoy.h"

#include "config/doc/diag.h"
#include "config/doc/yaml.h"

typedef struct bide__node node;

enum { ROUTES = 1, CLUSTERS = 2, MAX_BYTES = 4 << 20 };

static void
each(struct bide__import *im, struct bide__envoy *e, const node *list,
     void (*read)(struct bide__import *, struct bide__envoy *, const node *))
{
    for (size_t i = 0; i < list->n && !im->no_memory && !im->too_many; i++)
        read(im, e, list->items[i]);
}

static const node *member(const node *map, const char *key, int kind)
{
    const node *found = bide__map_get(map, key, NULL);

    return found && (int)found->kind == kind ? found : NULL;
}

/* Whether a map is a cluster by itself. */
static bool is_cluster(const node *map)
{
    return member(map, "load_assignment", BIDE__MAP) ||
           member(map, "outlier_detection", BIDE__MAP) ||
           member(map, "circuit_breakers", BIDE__MAP);
}

static void walk(struct bide__import *im, struct bide__envoy *e,
                 const node *map, int pass)
{
    const node *hosts = member(map, "virtual_hosts", BIDE__LIST);
    const node *clusters = member(map, "clusters", BIDE__LIST);

    if (pass == ROUTES && hosts)
        each(im, e, hosts, bide__envoy_host);
    if (pass == CLUSTERS && clusters)
        each(im, e, clusters, bide__envoy_cluster);
    if (pass == CLUSTERS && is_cluster(map))
        bide__envoy_cluster(im, e, map);
}

/* Maps and lists below, in a loop over each level: the reader bounds depth. */
static void find(struct bide__import *im, struct bide__envoy *e, const node *n,
                 int pass)
{
    if (n->kind == BIDE__SCALAR || im->no_memory || im->too_many)
        return;
    if (n->kind == BIDE__MAP) {
        walk(im, e, n, pass);
        if (is_cluster(n))
            return;
    }
    for (size_t i = 0; i < n->n; i++) {
        bool known = n->kind == BIDE__MAP &&
                     (bide__node_is(n->keys[i], "virtual_hosts") ||
                      bide__node_is(n->keys[i], "clusters"));

        if (!known)
            find(im, e, n->items[i], pass);
    }
}

static void read_root(struct bide__import *im, const node *root)
{
    struct bide__envoy e = { .targets = NULL };
    const node *route =
        root->kind == BIDE__MAP ? member(root, "route", BIDE__MAP) : NULL;

    if (route)
        bide__envoy_action(im, &e, route);
    else
        find(im, &e, root, ROUTES);
    find(im, &e, root, CLUSTERS);
    if (im->n == 0 && !im->mistaken && !im->no_memory)
        bide__import_mistake(im, root, NULL,
                             "there is neither a virtual host with routes nor "
                             "a cluster here");
}

int bide__import_envoy(struct bide__import *im, const char *name,
                       const char *text, size_t len)
{
    int rc;

    if (len > MAX_BYTES) {
        bide__diag_at(im->notes, name, NULL, 0,
                      (struct bide__mark){ 0, 0, 0, 0 }, BIDE_MISTAKE, "import",
                      "divide the file", "larger than 4 MiB");
        return BIDE_EPARSE;
    }
    rc = bide__tree_try_yaml(&im->tree, &im->mistaken, name, text, len,
                             im->notes);
    if (rc < 0)
        return rc;
    if (bide__node_empty(im->tree->root))
        bide__import_mistake(im, NULL, NULL, "there is nothing in this file");
    else
        read_root(im, im->tree->root);
    bide__tree_free(im->tree);
    im->tree = NULL;
    return bide__import_outcome(im, name);
}
