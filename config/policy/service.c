/* service.c: what is known about the service that a policy is for. The engine
 * has no use for it; the lints do. */
#include <float.h>

#include "config/field/read.h"
#include "config/field/rows.h"
#include "config/field/text.h"
#include "config/policy/policy_parts.h"

static void load_fact(struct bide__load *load, const struct bide__field *f,
                      const struct bide__node *key,
                      const struct bide__node *node, void *to)
{
    bool scalar = node->kind == BIDE__SCALAR && !bide__node_empty(node);
    enum bide__set rc = scalar
                            ? bide__field_set(f, to, node->text, node->len)
                            : BIDE__SET_MALFORMED;

    if (rc != BIDE__SET_OK)
        bide__mistake(load, bide__node_empty(node) ? key : node,
                      !scalar                    ? "wrong-type"
                      : rc == BIDE__SET_UNITLESS ? "missing-unit"
                                                 : "bad-value",
                      NULL, "`service.%s`: expected %s; found %s", f->key,
                      scalar ? f->expects : "one value",
                      bide__node_found(load->tree, node));
}

#define TAKES_ANY_RATE TAKES(RATE, 0, DBL_MAX, "a rate, as in `500/s`")

#define S struct bide__service
static const struct bide__field fields[] = {
    { "capacity", AT(capacity_per_s), TAKES_ANY_RATE, .read = load_fact },
    { "load", AT(load_per_s), TAKES_ANY_RATE, .read = load_fact },
    { "p99", AT(p99_ns),
      TAKES(DURATION, 0, MAX_NS, "a duration, as in `800ms`"),
      .read = load_fact },
    { "clients", AT(clients), TAKES_COUNT(1, 1000000000),
      .read = load_fact },
    { "depth", AT(depth), TAKES_COUNT(1, 1000000000),
      .read = load_fact },
    LAST
};
#undef S
const struct bide__table bide__service_table = { .fields = fields };

void bide__load_service(struct bide__load *load,
                        struct bide__policy_entry *entry,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    if (bide__expect_map(load, key, node, NULL))
        bide__read_fields(load, &bide__service_table, key, node,
                          &entry->service);
}
