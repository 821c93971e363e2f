/* read.c: values in the `proxy:` section that are more than a number. */
#include <string.h>

#include "base/address.h"
#include "config/doc/diag.h"
#include "config/field/read.h"
#include "config/policy/policy_file.h"
#include "config/policy/policy_rules.h"
#include "config/proxy/address.h"
#include "config/proxy/read.h"

/* ===== texts ===== */

bool bide__fits_target(const struct bide__node *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->text[i] <= ' ' || text->text[i] >= 0x7f ||
            text->text[i] == '#')
            return false;
    return text->text[0] == '/';
}

bool bide__fits_path(const struct bide__node *text)
{
    return bide__fits_target(text) && !memchr(text->text, '?', text->len);
}

bool bide__fits_service(const struct bide__node *text)
{
    static const char name[] = "0123456789_.abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return strcmp(text->text, "*") == 0 ||
           (text->len <= 120 && strspn(text->text, name) == text->len);
}

bool bide__fits_token(const struct bide__node *text)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return strspn(text->text, token) == text->len;
}

/* Methods are case-sensitive: no client sends `get`. */
bool bide__fits_method(const struct bide__node *text)
{
    return bide__fits_token(text) &&
           strspn(text->text, "abcdefghijklmnopqrstuvwxyz") < text->len;
}

/* A service with its package, and perhaps a method. */
bool bide__fits_grpc(const struct bide__node *text)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    size_t n = strspn(text->text, name);

    if (n == 0 || n == text->len)
        return n != 0;
    size_t method = strspn(text->text + n + 1, name);
    return text->text[n] == '/' && method != 0 && n + 1 + method == text->len;
}

/* A name that useradd(8) accepts, or a number. */
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

/* A value for a header field: nothing that would end it. */
bool bide__fits_field(const struct bide__node *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->text[i] < ' ' || text->text[i] >= 0x7f)
            return false;
    return text->text[0] != ' ' && text->text[text->len - 1] != ' ';
}

/* ===== names ===== */

BIDE__READER(bide__read_policy)
{
    if (!bide__is_text(node))
        bide__wrong_field(load, f, key, node, NULL, NULL);
    else if (bide__map_find(load->config->policies, node->text) < 0)
        bide__mistake(load, node, "unknown-policy",
                      bide__suggest_policy(load, node->text),
                      "there is no policy %s",
                      bide__node_found(load->tree, node));
    else
        memcpy((char *)to + f->offset, &node->text, sizeof node->text);
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

/* Upstreams are in the order of their map, which may come after the routes. */
BIDE__READER(bide__read_upstream)
{
    const struct bide__node *all =
        bide__map_get(load->config->proxy, "upstreams", NULL);
    size_t at;
    long i = -1;

    if (!bide__is_text(node)) {
        bide__wrong_field(load, f, key, node, NULL, NULL);
        return;
    }
    i = bide__map_find(all, node->text);
    at = (size_t)i;
    if (i < 0)
        unknown_upstream(load, all, node);
    else
        memcpy((char *)to + f->offset, &at, sizeof at);
}

/* ===== others ===== */

BIDE__READER(bide__read_log)
{
    static const char *const names[] = { "stdout", "stderr", "syslog", "off" };
    const char *log = bide__node_is(node, "off") ? NULL : node->text;
    bool known = bide__is_text(node) &&
                 (node->text[0] == '/' ||
                  strncmp(node->text, "syslog:/", 8) == 0);

    for (size_t i = 0; !known && i < sizeof names / sizeof names[0]; i++)
        known = bide__node_is(node, names[i]);
    if (!known)
        bide__wrong_field(load, f, key, node, NULL, NULL);
    else
        memcpy((char *)to + f->offset, &log, sizeof log);
}

BIDE__READER(bide__read_answers)
{
    struct bide__proxy_health *health = to;

    if (!bide__read_status(node, &health->status_min, &health->status_max) ||
        health->status_max > 599)
        bide__wrong_field(load, f, key, node, NULL, NULL);
}

BIDE__READER(bide__read_clients)
{
    struct bide__proxy_server_tls *tls = to;
    static const char *const known[] = { "none", "optional", "required", NULL };

    tls->client_required = bide__node_is(node, "required");
    if (tls->client_required || bide__node_is(node, "optional") ||
        bide__node_is(node, "none"))
        return;
    bide__wrong_field(load, f, key, node, NULL,
                      bide__is_text(node)
                          ? bide__did_you_mean(load->notes, node->text, known)
                          : NULL);
}
