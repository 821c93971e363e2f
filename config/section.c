/* section.c: the sections of the programs, checked by a table.
 *
 * A section is a map whose keys a table knows; a value is of a kind, and kinds
 * with keys of their own have a table of their own. To add a key, add a row. */
#include "section.h"

#include <string.h>

#include "load.h"
#include "value.h"

#define LAST                                                                   \
    {                                                                          \
        NULL, BIDE__TEXT, false, NULL, NULL                                    \
    }

/* clang-format off */
static const struct bide__section_field match_fields[] = {
    { "path", BIDE__TEXT, false, "The path, or what it begins with.", NULL },
    LAST
};
static const struct bide__section_field route_fields[] = {
    { "match", BIDE__FIELDS, false, "Which requests; without it, all.",
      match_fields },
    { "upstream", BIDE__UPSTREAM, true, "Where they go.", NULL },
    { "policy", BIDE__POLICY, false, "The policy they are run by.", NULL },
    LAST
};
static const struct bide__section_field upstream_fields[] = {
    { "endpoints", BIDE__URLS, true, "URLs of the servers.", NULL },
    LAST
};
static const struct bide__section_field proxy_fields[] = {
    { "listen", BIDE__ADDRESS, false, "Where requests come in.", NULL },
    { "admin", BIDE__ADDRESS, false, "Where the admin endpoint is.", NULL },
    { "workers", BIDE__COUNT, false, "Threads; one per core unless set.", NULL },
    { "routes", BIDE__LIST_OF, false, "The first that matches counts.",
      route_fields },
    { "upstreams", BIDE__MAP_OF, false, "Services, by name.",
      upstream_fields },
    LAST
};
/* clang-format on */

const struct bide__section_field *bide__proxy_fields(void)
{
    return proxy_fields;
}

static void check_fields(struct bide__load *load,
                         const struct bide__section_field *fields,
                         const struct bide__node *where,
                         const struct bide__node *map);

static void wrong(struct bide__load *load, const struct bide__node *key,
                  const struct bide__node *node, const char *expected,
                  const char *help)
{
    bool empty = bide__node_empty(node);

    bide__mistake(load, empty ? key : node,
                  empty || node->kind != BIDE__SCALAR ? "wrong-type"
                                                      : "bad-value",
                  help, "`%s`: expected %s; found %s", key->text, expected,
                  bide__node_found(load->tree, node));
}

/* ===== values ===== */

static bool is_address(const struct bide__node *node)
{
    const char *colon = NULL;
    uint64_t port;

    for (size_t i = 0; i < node->len; i++)
        if (node->text[i] == ':')
            colon = &node->text[i];
    return colon && colon > node->text &&
           bide__parse_count(colon + 1,
                             node->len - (size_t)(colon + 1 - node->text),
                             &port) == 0 &&
           port <= 65535;
}

static bool is_url(const struct bide__node *node)
{
    static const char *const schemes[] = { "http://", "https://" };

    if (node->kind != BIDE__SCALAR || memchr(node->text, ' ', node->len))
        return false;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(schemes[i]);

        if (node->len > n && memcmp(node->text, schemes[i], n) == 0 &&
            node->text[n] != '/' && node->text[n] != ':')
            return true;
    }
    return false;
}

static void check_urls(struct bide__load *load, const struct bide__node *key,
                       const struct bide__node *node)
{
    if (node->kind != BIDE__LIST || node->n == 0) {
        wrong(load, key, node, "a list of URLs",
              "write `endpoints: [\"https://10.0.0.1:8443\"]`");
        return;
    }
    for (size_t i = 0; i < node->n; i++)
        if (!is_url(node->items[i]))
            wrong(load, key, node->items[i],
                  "URLs that begin with http:// or https://", NULL);
}

static void check_policy_name(struct bide__load *load,
                              const struct bide__node *node)
{
    if (memchr(node->text, '\0', node->len) ||
        bide__map_find(load->config->policies, node->text) < 0)
        bide__mistake(load, node, "unknown-policy",
                      bide__suggest_policy(load, node->text),
                      "there is no policy %s",
                      bide__node_found(load->tree, node));
}

static void check_upstream_name(struct bide__load *load,
                                const struct bide__node *node)
{
    enum { MAX_SUGGESTED = 100 };
    const struct bide__node *all =
        bide__map_get(load->config->proxy, "upstreams", NULL);
    const char *known[MAX_SUGGESTED + 1];
    size_t n = 0;

    if (!memchr(node->text, '\0', node->len) &&
        bide__map_find(all, node->text) >= 0)
        return;
    for (; all && all->kind == BIDE__MAP && n < all->n && n < MAX_SUGGESTED;
         n++)
        known[n] = all->keys[n]->text;
    known[n] = NULL;
    bide__mistake(load, node, "unknown-upstream",
                  bide__did_you_mean(load->notes, node->text, known),
                  "there is no upstream %s",
                  bide__node_found(load->tree, node));
}

static void check_scalar(struct bide__load *load, enum bide__section_kind kind,
                         const struct bide__node *key,
                         const struct bide__node *node)
{
    uint64_t count;
    bool scalar = node->kind == BIDE__SCALAR && !bide__node_empty(node);

    if (kind == BIDE__ADDRESS && !(scalar && is_address(node)))
        wrong(load, key, node, "an address and a port",
              "write `127.0.0.1:8080`");
    else if (kind == BIDE__COUNT &&
             !(scalar &&
               bide__parse_count(node->text, node->len, &count) == 0 &&
               count > 0 && count <= 65535))
        wrong(load, key, node, "a count from 1 to 65535", NULL);
    else if (!scalar)
        wrong(load, key, node, "text", NULL);
    else if (kind == BIDE__POLICY)
        check_policy_name(load, node);
    else if (kind == BIDE__UPSTREAM)
        check_upstream_name(load, node);
}

/* ===== maps ===== */

static void check_list_of(struct bide__load *load,
                          const struct bide__section_field *field,
                          const struct bide__node *key,
                          const struct bide__node *node)
{
    if (node->kind != BIDE__LIST) {
        wrong(load, key, node, "a list", "begin each with a dash");
        return;
    }
    for (size_t i = 0; i < node->n; i++) {
        if (node->items[i]->kind == BIDE__MAP)
            check_fields(load, field->fields, node->items[i], node->items[i]);
        else
            wrong(load, key, node->items[i], "a list of maps", NULL);
    }
}

static void check_map_of(struct bide__load *load,
                         const struct bide__section_field *field,
                         const struct bide__node *key,
                         const struct bide__node *node)
{
    if (!bide__expect_map(load, key, node, NULL))
        return;
    for (size_t i = 0; i < node->n; i++)
        if (bide__expect_map(load, node->keys[i], node->items[i], NULL))
            check_fields(load, field->fields, node->keys[i], node->items[i]);
}

static void check_field(struct bide__load *load,
                        const struct bide__section_field *field,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    switch (field->kind) {
    case BIDE__URLS:
        check_urls(load, key, node);
        break;
    case BIDE__FIELDS:
        if (bide__expect_map(load, key, node, NULL))
            check_fields(load, field->fields, key, node);
        break;
    case BIDE__LIST_OF:
        check_list_of(load, field, key, node);
        break;
    case BIDE__MAP_OF:
        check_map_of(load, field, key, node);
        break;
    default:
        check_scalar(load, field->kind, key, node);
    }
}

static void unknown(struct bide__load *load,
                    const struct bide__section_field *fields,
                    const struct bide__node *key)
{
    enum { MAX_FIELDS = 32 };
    const char *known[MAX_FIELDS + 1];
    size_t n = 0;

    for (; fields[n].key && n < MAX_FIELDS; n++)
        known[n] = fields[n].key;
    known[n] = NULL;
    bide__unknown_key(load, key, known, NULL);
}

/* `where` is what to point at if a key is missing. */
static void check_fields(struct bide__load *load,
                         const struct bide__section_field *fields,
                         const struct bide__node *where,
                         const struct bide__node *map)
{
    for (size_t i = 0; i < map->n; i++) {
        const struct bide__section_field *f = fields;

        while (f->key && !bide__node_is(map->keys[i], f->key))
            f++;
        if (f->key)
            check_field(load, f, map->keys[i], map->items[i]);
        else
            unknown(load, fields, map->keys[i]);
    }
    for (const struct bide__section_field *f = fields; f->key; f++)
        if (f->required && bide__map_find(map, f->key) < 0)
            bide__mistake(load, where, "missing-key", NULL, "`%s` is missing",
                          f->key);
}

void bide__check_proxy(struct bide__load *load, const struct bide__node *key,
                       const struct bide__node *node)
{
    check_fields(load, proxy_fields, key, node);
}
