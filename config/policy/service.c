/* service.c: what is known about the service that a policy is for. The engine
 * has no use for it; the lints do. */
#include "config/policy/load.h"

#include <string.h>

#include "config/field/value.h"

const char *const bide__service_keys[] = { "capacity", "load",  "p99",
                                           "clients",  "depth", NULL };

static const char *set_rate(double *rate, const char *text, size_t len)
{
    double value;

    if (bide_parse_rate(text, len, &value) < 0)
        return "a rate, as in `500/s`";
    *rate = value;
    return NULL;
}

static const char *set_count(uint32_t *count, const char *text, size_t len)
{
    uint64_t value;

    if (bide__parse_count(text, len, &value) < 0 || value == 0 ||
        value > 1000000000)
        return "a count from 1 to 1000000000";
    *count = (uint32_t)value;
    return NULL;
}

const char *bide__service_set(struct bide__service *service, const char *key,
                              const char *text, size_t len)
{
    int64_t ns;

    if (strcmp(key, "capacity") == 0)
        return set_rate(&service->capacity_per_s, text, len);
    if (strcmp(key, "load") == 0)
        return set_rate(&service->load_per_s, text, len);
    if (strcmp(key, "clients") == 0)
        return set_count(&service->clients, text, len);
    if (strcmp(key, "depth") == 0)
        return set_count(&service->depth, text, len);
    if (bide_parse_duration(text, len, &ns) < 0 || ns == BIDE_FOREVER)
        return "a duration, as in `800ms`";
    service->p99_ns = ns;
    return NULL;
}

static const char *code_of(const struct bide__node *node, const char *expected)
{
    double number;

    if (node->kind != BIDE__SCALAR || bide__node_empty(node))
        return "wrong-type";
    return expected[2] != 'c' && /* a count has no unit */
                   bide__parse_number(node->text, node->len, &number) == 0
               ? "missing-unit"
               : "bad-value";
}

static void load_fact(struct bide__load *load, struct bide__policy_entry *entry,
                      const char *key, const struct bide__node *key_node,
                      const struct bide__node *node)
{
    const char *expected = "one value";

    if (node->kind == BIDE__SCALAR && !bide__node_empty(node))
        expected =
            bide__service_set(&entry->service, key, node->text, node->len);
    if (expected)
        bide__mistake(load, bide__node_empty(node) ? key_node : node,
                      code_of(node, expected), NULL,
                      "`service.%s`: expected %s; found %s", key, expected,
                      bide__node_found(load->tree, node));
}

void bide__load_service(struct bide__load *load,
                        struct bide__policy_entry *entry,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    if (!bide__expect_map(load, key, node, NULL))
        return;
    for (size_t i = 0; i < node->n; i++) {
        const char *const *known = bide__service_keys;

        while (*known && !bide__node_is(node->keys[i], *known))
            known++;
        if (*known)
            load_fact(load, entry, *known, node->keys[i], node->items[i]);
        else
            bide__unknown_key(load, node->keys[i], bide__service_keys, NULL);
    }
}
