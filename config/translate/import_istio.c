/* import_istio.c: reads policies from VirtualServices and DestinationRules.
 *
 * A file holds several documents, and each may be a List of resources. The
 * VirtualServices are read first, then the DestinationRules, which add the
 * settings of a host to the policies that lead there: their order does not
 * matter. */
#define _POSIX_C_SOURCE 200809L
#include "config/translate/import_istio.h"

#include <stdlib.h>
#include <string.h>

#include "config/doc/diag.h"
#include "config/doc/yaml.h"
#include "config/translate/import_istio_rule.h"

enum { MAX_DOCUMENTS = 100, MAX_BYTES = 4 << 20, MAX_BLANK = 16 << 20 };

/* ===== one resource ===== */

static const char *resource_name(struct bide__import *im,
                                 const struct bide__node *resource)
{
    const struct bide__node *metadata =
        bide__map_get(resource, "metadata", NULL);
    const struct bide__node *name = NULL;
    const char *text = NULL;

    if (metadata && metadata->kind == BIDE__MAP)
        name = bide__map_get(metadata, "name", NULL);
    if (!bide__node_empty(name))
        text = bide__import_text(im, name);
    return text && *text ? text : "default";
}

/* Which pass over the documents reads a kind; 0: none. */
static int pass_of(const struct bide__node *kind)
{
    return bide__node_is(kind, "VirtualService")    ? 1
           : bide__node_is(kind, "DestinationRule") ? 2
                                                    : 0;
}

static void read_resource(struct bide__import *im, struct bide__istio *is,
                          const struct bide__node *resource, int pass);

static void read_items(struct bide__import *im, struct bide__istio *is,
                       const struct bide__node *list, int pass)
{
    const struct bide__node *items = bide__map_get(list, "items", NULL);

    if (bide__node_empty(items))
        return;
    if (items->kind != BIDE__LIST && pass != 1)
        return;
    if (!bide__import_list(im, items))
        return;
    for (size_t i = 0; i < items->n && !im->no_memory; i++)
        read_resource(im, is, items->items[i], pass);
}

static void read_spec(struct bide__import *im, struct bide__istio *is,
                      const struct bide__node *resource, int pass)
{
    const struct bide__node *spec = bide__map_get(resource, "spec", NULL);

    if (bide__node_empty(spec)) {
        bide__import_mistake(im, resource, NULL, "`spec` is missing");
        return;
    }
    is->name = resource_name(im, resource);
    if (pass == 1)
        bide__istio_virtual_service(im, is, spec);
    else
        bide__istio_destination(im, is, spec);
}

/* Errors in a resource as such are reported in the first pass. */
static void read_resource(struct bide__import *im, struct bide__istio *is,
                          const struct bide__node *resource, int pass)
{
    const struct bide__node *kind = NULL;

    if (resource->kind == BIDE__MAP)
        kind = bide__map_get(resource, "kind", NULL);
    if (bide__node_is(kind, "List"))
        read_items(im, is, resource, pass);
    else if (pass_of(kind) == pass)
        read_spec(im, is, resource, pass);
    else if (pass == 1 && bide__node_empty(kind))
        bide__import_mistake(im, resource, "add `kind: VirtualService`",
                             "expected a resource with a kind, not %s",
                             bide__node_found(im->tree, resource));
    else if (pass == 1 && pass_of(kind) == 0)
        bide__import_warn(im, kind,
                          "%s is left out: only VirtualService and "
                          "DestinationRule are read",
                          bide__node_found(im->tree, kind));
}

/* ===== many documents ===== */

/* Where the document after the one at `from` begins, or the end. */
static size_t next_document(const char *text, size_t len, size_t from)
{
    for (size_t at = from; at < len; at++) {
        const char *line = memchr(text + at, '\n', len - at);

        if (!line)
            break;
        at = (size_t)(line - text);
        if (len - at > 3 && memcmp(line + 1, "---", 3) == 0 &&
            (len - at == 4 || strchr(" \t\r\n", line[4])))
            return at + 1;
    }
    return len;
}

/* Threads: owned. */
struct documents {
    size_t blank; /* lines left empty, in all: reading them takes time too */
    struct bide__tree *trees[MAX_DOCUMENTS];
    size_t n;
};

static int refuse(struct bide__import *im, const char *name, const char *what)
{
    bide__diag_at(im->notes, name, NULL, 0, (struct bide__mark){ 0, 0, 0, 0 },
                  BIDE_MISTAKE, "import", "divide the file", "%s", what);
    return BIDE_EPARSE;
}

/* Parses one document. The lines before it are left empty, so that positions in
 * it are those in the file. */
static int parse_part(struct bide__import *im, struct documents *d,
                      const char *name, const char *text, size_t from,
                      size_t to)
{
    size_t lines = 0;
    bool mistaken = false;
    char *part;
    int rc;

    for (size_t i = 0; i < from; i++)
        lines += text[i] == '\n';
    d->blank += lines;
    part = malloc(lines + (to - from) + 1);
    if (!part)
        return BIDE_ENOMEM;
    memset(part, '\n', lines);
    memcpy(part + lines, text + from, to - from);
    rc = bide__tree_try_yaml(&im->tree, &mistaken, name, part,
                             lines + (to - from), im->notes);
    free(part);
    im->mistaken = im->mistaken || mistaken || rc < 0;
    return rc;
}

static int parse_all(struct bide__import *im, struct documents *d,
                     const char *name, const char *text, size_t len)
{
    for (size_t from = 0, to; from < len; from = to) {
        int rc;

        to = next_document(text, len, from);
        if (d->n == MAX_DOCUMENTS || d->blank > MAX_BLANK)
            return refuse(im, name,
                          "more documents than can be read in one go: "
                          "expected at most 100, and fewer long ones");
        rc = parse_part(im, d, name, text, from, to);
        if (rc == BIDE_ENOMEM)
            return rc;
        if (rc == 0)
            d->trees[d->n++] = im->tree;
    }
    return 0;
}

/* ===== the whole filter ===== */

static void read_all(struct bide__import *im, const struct documents *d)
{
    struct bide__istio is = { .name = "default" };

    for (int pass = 1; pass <= 2; pass++)
        for (size_t i = 0; i < d->n && !im->no_memory; i++) {
            im->tree = d->trees[i];
            if (!bide__node_empty(im->tree->root))
                read_resource(im, &is, im->tree->root, pass);
        }
}

static int outcome(struct bide__import *im, const char *name)
{
    if (im->no_memory || im->mistaken || im->n > 0)
        return bide__import_outcome(im, name);
    bide__diag_at(im->notes, name, NULL, 0, (struct bide__mark){ 0, 0, 0, 0 },
                  BIDE_MISTAKE, "import", NULL,
                  "there is neither a VirtualService with HTTP routes nor a "
                  "DestinationRule here");
    return BIDE_EPARSE;
}

int bide__import_istio(struct bide__import *im, const char *name,
                       const char *text, size_t len)
{
    struct documents *d;
    int rc;

    if (len > MAX_BYTES)
        return refuse(im, name, "larger than 4 MiB");
    d = calloc(1, sizeof *d);
    if (!d)
        return BIDE_ENOMEM;
    rc = parse_all(im, d, name, text, len);
    if (rc == 0)
        read_all(im, d);
    for (size_t i = 0; i < d->n; i++)
        bide__tree_free(d->trees[i]);
    free(d);
    im->tree = NULL;
    return rc < 0 ? rc : outcome(im, name);
}
