/* Evaluates assertions against figures. */
#include <math.h>
#include <string.h>

#include "sim/study/assert_tree.h"

/* The sides of an assertion by number: two for each comparison. */
static struct sim_side *side(const struct sim_assert *a, uint32_t n)
{
    struct sim_node *node = &a->nodes[n / 2];

    return n % 2 ? &node->right : &node->left;
}

static bool has_figure(const struct sim_assert *a, uint32_t n)
{
    return a->nodes[n / 2].kind == SIM_NODE_COMPARE && side(a, n)->is_figure;
}

int sim_assert_bind(struct sim_assert *a, const char *const *names, uint32_t n,
                    struct sim_fuss *fuss)
{
    for (uint32_t i = 0; i < 2 * a->n; i++) {
        struct sim_side *s = side(a, i);
        if (!has_figure(a, i) || !s->name)
            continue;
        for (uint32_t v = 0; v < n; v++)
            if (strcmp(names[v], s->name) == 0)
                s->variant = v;
        if (s->variant == SIM_NONE) {
            sim_fuss_set(fuss, s->at, s->len, "there is no variant `%s`",
                         s->name);
            return -1;
        }
    }
    return 0;
}

bool sim_assert_named(const struct sim_assert *a)
{
    for (uint32_t i = 0; i < 2 * a->n; i++)
        if (has_figure(a, i) && !side(a, i)->name)
            return false;
    return true;
}

/* ===== judging ===== */

static double value_of(const struct sim_side *s,
                       const struct sim_interval *figures, uint32_t variant)
{
    uint32_t v = s->variant == SIM_NONE ? variant : s->variant;

    return s->is_figure
               ? sim_interval_value(&figures[v * SIM_FIGURES + s->figure])
               : s->number;
}

static enum sim_verdict compare(enum sim_compare how, double a, double b)
{
    bool holds = false;

    if (isnan(a) || isnan(b))
        return SIM_UNKNOWN;
    switch (how) {
    case SIM_LT:
        holds = a < b;
        break;
    case SIM_LE:
        holds = a <= b;
        break;
    case SIM_GT:
        holds = a > b;
        break;
    case SIM_GE:
        holds = a >= b;
        break;
    case SIM_EQ:
        holds = a >= b && a <= b;
        break;
    case SIM_NE:
        holds = a < b || a > b;
        break;
    }
    return holds ? SIM_HOLDS : SIM_FAILS;
}

/* The verdicts are ordered, so "and" is the minimum and "or" the maximum: an
 * unknown comparison makes the result unknown only where it matters. */
static enum sim_verdict judge(const struct sim_assert *a, uint32_t n,
                              const struct sim_interval *figures,
                              uint32_t variant)
{
    const struct sim_node *node = &a->nodes[n];
    enum sim_verdict x, y;

    if (node->kind == SIM_NODE_COMPARE)
        return compare(node->compare, value_of(&node->left, figures, variant),
                       value_of(&node->right, figures, variant));
    x = judge(a, node->a, figures, variant);
    if (node->kind == SIM_NODE_NOT)
        return (enum sim_verdict)(SIM_HOLDS - x);
    y = judge(a, node->b, figures, variant);
    if (node->kind == SIM_NODE_AND)
        return x < y ? x : y;
    return x > y ? x : y;
}

enum sim_verdict sim_assert_judge(const struct sim_assert *a,
                                  const struct sim_interval *figures,
                                  uint32_t variant)
{
    return judge(a, a->top, figures, variant);
}

/* ===== the figures it uses ===== */

static bool same(const struct sim_side *a, const struct sim_side *b)
{
    return a->figure == b->figure && a->variant == b->variant;
}

static bool seen_before(const struct sim_assert *a, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (has_figure(a, i) && same(side(a, i), side(a, n)))
            return true;
    return false;
}

bool sim_assert_figure(const struct sim_assert *a, uint32_t n, uint32_t variant,
                       uint32_t *ret_variant, enum sim_figure *ret_figure)
{
    for (uint32_t i = 0; i < 2 * a->n; i++) {
        if (!has_figure(a, i) || seen_before(a, i) || n-- > 0)
            continue;
        const struct sim_side *s = side(a, i);
        *ret_variant = s->variant == SIM_NONE ? variant : s->variant;
        *ret_figure = s->figure;
        return true;
    }
    return false;
}
