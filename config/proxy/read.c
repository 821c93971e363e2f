/* read.c: what is more than a number in the section of the sidecar. */
#include "config/proxy/read.h"

#include <string.h>

#include "config/policy/policy_rules.h"
#include "config/proxy/address.h"

/* ===== texts ===== */

bool bide__fits_path(const struct bide__node *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->text[i] <= ' ' || text->text[i] >= 0x7f ||
            text->text[i] == '?' || text->text[i] == '#')
            return false;
    return text->text[0] == '/';
}

bool bide__fits_token(const struct bide__node *text)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return strspn(text->text, token) == text->len;
}

/* Methods are told apart by case: `get` is one that nobody sends. */
bool bide__fits_method(const struct bide__node *text)
{
    return bide__fits_token(text) &&
           strspn(text->text, "abcdefghijklmnopqrstuvwxyz") < text->len;
}

/* What useradd(8) takes, or a number. */
bool bide__fits_account(const struct bide__node *text)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t n = strspn(text->text, "0123456789");

    if (text->len == 0 || text->len > 32)
        return false;
    if (n == 0 && strspn(text->text, first) > 0)
        n = strcspn(text->text, ":,/ \t");
    return n == text->len;
}

bool bide__fits_host(const struct bide__node *text)
{
    return bide__is_host(text->text, text->len);
}

bool bide__fits_match_host(const struct bide__node *text)
{
    size_t skip = strncmp(text->text, "*.", 2) == 0 ? 2 : 0;

    if (text->text[0] == '[') {
        size_t n = strspn(text->text + 1, "0123456789abcdefABCDEF:.");

        return n > 1 && strcmp(text->text + 1 + n, "]") == 0;
    }
    return bide__is_host(text->text + skip, text->len - skip);
}

/* What a field of a head may hold: nothing that would end it. */
bool bide__fits_field(const struct bide__node *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->text[i] < ' ' || text->text[i] >= 0x7f)
            return false;
    return text->text[0] != ' ' && text->text[text->len - 1] != ' ';
}

/* ===== addresses ===== */

static void not_this(struct bide__load *load,
                     const struct bide__section_field *f,
                     const struct bide__node *key,
                     const struct bide__node *node, const char *help)
{
    bide__wrong_field(load, f, key, node, NULL, help);
}

/* Room for the members of a list; NULL after a mistake. */
static void *make_list(struct bide__load *load,
                       const struct bide__section_field *f,
                       const struct bide__node *key,
                       const struct bide__node *node, size_t size)
{
    if (bide__node_empty(node) || node->kind == BIDE__MAP) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return NULL;
    }
    if (!bide__right_number(load, f, key, node))
        return NULL;
    return bide__load_alloc(load, bide__member_count(node) * size);
}

/* The same address twice; the kernel chooses port 0 anew each time. */
static bool same_address(const struct bide__proxy_address *a,
                         const struct bide__proxy_address *b)
{
    if (a->path && b->path)
        return strcmp(a->path, b->path) == 0;
    return a->host && b->host && a->port == b->port && a->port != 0 &&
           strcmp(a->host, b->host) == 0;
}

static void check_twice(struct bide__load *load,
                        const struct bide__proxy_address *list, size_t i,
                        const struct bide__node *node)
{
    for (size_t k = 0; k < i; k++)
        if (same_address(&list[k], &list[i])) {
            bide__mistake(load, bide__member(node, i), "duplicate-address",
                          "take out one of the two",
                          "`%s` is listened on already", list[i].text);
            bide__diag(load->notes, load->tree, bide__member(node, k),
                       BIDE_NOTE, "duplicate-address", NULL,
                       "the first is here");
            return;
        }
}

BIDE__READER(bide__read_listen)
{
    struct bide__proxy_conf *conf = to;
    struct bide__proxy_address *list =
        make_list(load, f, key, node, sizeof *list);

    if (!list)
        return;
    conf->listen = list;
    conf->n_listen = bide__member_count(node);
    for (size_t i = 0; i < conf->n_listen; i++) {
        const struct bide__node *item = bide__member(node, i);
        const char *help = f->hint;

        if (!bide__is_text(item) ||
            (help = bide__read_address(load, item, &list[i])))
            not_this(load, f, key, item, help);
        else
            check_twice(load, list, i, node);
    }
}

BIDE__READER(bide__read_admin)
{
    struct bide__proxy_conf *conf = to;
    struct bide__proxy_address *address =
        bide__load_alloc(load, sizeof *address);
    const char *help = f->hint;

    if (!address)
        return;
    conf->admin = address;
    if (!bide__is_text(node) ||
        (help = bide__read_address(load, node, address)))
        not_this(load, f, key, node, help);
}

BIDE__READER(bide__read_trusted)
{
    struct bide__proxy_conf *conf = to;
    struct bide__proxy_net *list = make_list(load, f, key, node, sizeof *list);

    if (!list)
        return;
    conf->trusted = list;
    conf->n_trusted = bide__member_count(node);
    for (size_t i = 0; i < conf->n_trusted; i++) {
        const struct bide__node *item = bide__member(node, i);
        const char *help = f->hint;

        if (!bide__is_text(item) ||
            (help = bide__read_net(load, item, &list[i])))
            not_this(load, f, key, item, help);
    }
}

BIDE__READER(bide__read_endpoints)
{
    struct bide__proxy_upstream *upstream = to;
    struct bide__proxy_endpoint *list =
        make_list(load, f, key, node, sizeof *list);

    if (!list)
        return;
    upstream->endpoints = list;
    upstream->n_endpoints = bide__member_count(node);
    for (size_t i = 0; i < upstream->n_endpoints; i++) {
        const struct bide__node *item = bide__member(node, i);
        const char *help = f->hint;

        if (!bide__is_text(item) ||
            (help = bide__read_endpoint(load, item, &list[i])))
            not_this(load, f, key, item, help);
    }
}

/* ===== names ===== */

BIDE__READER(bide__read_policy)
{
    if (!bide__is_text(node))
        not_this(load, f, key, node, NULL);
    else if (bide__map_find(load->config->policies, node->text) < 0)
        bide__mistake(load, node, "unknown-policy",
                      bide__suggest_policy(load, node->text),
                      "there is no policy %s",
                      bide__node_found(load->tree, node));
    else
        memcpy((char *)to + f->o.offset, &node->text, sizeof node->text);
}

static void unknown_upstream(struct bide__load *load,
                             const struct bide__node *all,
                             const struct bide__node *node)
{
    enum { MAX_SUGGESTED = 100 };
    const char *known[MAX_SUGGESTED + 1];
    size_t n = 0;

    for (; all && all->kind == BIDE__MAP && n < all->n && n < MAX_SUGGESTED;
         n++)
        known[n] = all->keys[n]->text;
    known[n] = NULL;
    bide__mistake(load, node, "unknown-upstream",
                  bide__did_you_mean(load->notes, node->text, known),
                  "there is no upstream %s",
                  bide__node_found(load->tree, node));
}

/* Upstreams stand in the order of their map, and may come behind the routes. */
BIDE__READER(bide__read_upstream)
{
    const struct bide__node *all =
        bide__map_get(load->config->proxy, "upstreams", NULL);
    size_t at;
    long i = -1;

    if (!bide__is_text(node)) {
        not_this(load, f, key, node, NULL);
        return;
    }
    i = bide__map_find(all, node->text);
    at = (size_t)i;
    if (i < 0)
        unknown_upstream(load, all, node);
    else
        memcpy((char *)to + f->o.offset, &at, sizeof at);
}

/* ===== others ===== */

void bide__read_log_name(struct bide__load *load,
                         const struct bide__section_field *f,
                         const struct bide__node *key,
                         const struct bide__node *node, const char **ret)
{
    static const char *const names[] = { "stdout", "stderr", "syslog", "off" };
    bool known = bide__is_text(node) &&
                 (node->text[0] == '/' ||
                  strncmp(node->text, "syslog:/", 8) == 0);

    for (size_t i = 0; !known && i < sizeof names / sizeof names[0]; i++)
        known = bide__node_is(node, names[i]);
    if (!known)
        not_this(load, f, key, node, NULL);
    else
        *ret = bide__node_is(node, "off") ? NULL : node->text;
}

BIDE__READER(bide__read_log)
{
    bide__read_log_name(load, f, key, node,
                        &((struct bide__proxy_conf *)to)->access_log);
}

BIDE__READER(bide__read_answers)
{
    struct bide__proxy_health *health = to;

    if (!bide__read_status(node, &health->status_min, &health->status_max) ||
        health->status_max > 599)
        not_this(load, f, key, node, NULL);
}

BIDE__READER(bide__read_clients)
{
    struct bide__proxy_server_tls *tls = to;
    static const char *const known[] = { "none", "optional", "required", NULL };

    tls->client_required = bide__node_is(node, "required");
    if (tls->client_required || bide__node_is(node, "optional") ||
        bide__node_is(node, "none"))
        return;
    not_this(load, f, key, node,
             bide__is_text(node)
                 ? bide__did_you_mean(load->notes, node->text, known)
                 : NULL);
}
