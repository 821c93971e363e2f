/* import_value.c: the scalars of other systems' documents. */
#include <string.h>

#include "base/arena.h"
#include "config/field/value.h"
#include "config/translate/import.h"
#include "config/translate/translate_value.h"

bool bide__import_count(struct bide__import *im, const struct bide__node *node,
                        uint64_t min, uint64_t max, uint64_t *ret)
{
    uint64_t n;

    if (node->kind != BIDE__SCALAR ||
        bide__parse_count(node->text, node->len, &n) < 0)
        return bide__import_refuse(im, node, "a whole number");
    if (n < min || n > max) {
        bide__import_mistake(im, node, NULL,
                             "expected a number from %llu to %llu, not %s",
                             (unsigned long long)min, (unsigned long long)max,
                             bide__node_found(im->tree, node));
        return false;
    }
    *ret = n;
    return true;
}

bool bide__import_number(struct bide__import *im, const struct bide__node *node,
                         double *ret)
{
    if (node->kind == BIDE__SCALAR &&
        bide__parse_number(node->text, node->len, ret) == 0)
        return true;
    return bide__import_refuse(im, node, "a number");
}

bool bide__import_seconds(struct bide__import *im,
                          const struct bide__node *node, int64_t *ret_ns)
{
    if (node->kind == BIDE__SCALAR &&
        bide__parse_proto_duration(node->text, node->len, ret_ns) == 0)
        return true;
    return bide__import_refuse(im, node,
                               "a duration in seconds such as \"0.1s\"");
}

bool bide__import_duration(struct bide__import *im,
                           const struct bide__node *node, int64_t *ret_ns)
{
    if (node->kind == BIDE__SCALAR && !memchr(node->text, 'd', node->len) &&
        bide_parse_duration(node->text, node->len, ret_ns) == 0)
        return true;
    return bide__import_refuse(im, node,
                               "a duration such as 250ms, 2s or 1m30s");
}

const char *bide__import_text(struct bide__import *im,
                              const struct bide__node *node)
{
    const char *copy;

    if (node->kind != BIDE__SCALAR || memchr(node->text, '\0', node->len)) {
        bide__import_refuse(im, node, "text");
        return NULL;
    }
    copy = bide__arena_copy(im->arena, node->text, node->len);
    im->no_memory = im->no_memory || !copy;
    return copy;
}

int64_t bide__import_clip(struct bide__import *im,
                          const struct bide__node *node, int64_t ns,
                          int64_t min_ns, int64_t max_ns)
{
    int64_t clipped = ns < min_ns ? min_ns : ns > max_ns ? max_ns : ns;
    char buffer[32];

    if (clipped != ns)
        bide__import_warn(im, node, "bide takes %s for it, not %s",
                          bide_format_duration(clipped, buffer, sizeof buffer),
                          bide__node_found(im->tree, node));
    return clipped;
}
