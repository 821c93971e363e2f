/* parts.c: distributions made of parts: mixtures of other distributions, and
 * what was measured, as a histogram or by its percentiles. */
#include <math.h>
#include <stdio.h>

#include "config/field/read.h"
#include "sim/scenario/rows.h"

/* Threads: owned. */
struct bar {
    int64_t upto_ns;
    double share;
};

#define HISTOGRAM                                                              \
    "write `histogram: [ { upto: 10ms, share: 50% }, "                         \
    "{ upto: 1s, share: 50% } ]`"
#define S struct bar
static const struct bide__field bar_fields[] = {
    { "upto", AT(upto_ns), TAKES_SPAN_OVER_0, .required = true,
      .hint = HISTOGRAM },
    { "share", AT(share), TAKES(RATIO, LEAST, 1, "a ratio over 0, up to 1"),
      .required = true, .hint = HISTOGRAM },
    LAST
};
#undef S
static const struct bide__table bar_table = { .fields = bar_fields };

/* Shares must add up to 100 %; rounding errors are evened out. */
static bool check_shares(struct sim_load *l, struct sim_dist_part *parts,
                         uint32_t n, const struct bide__node *key)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += parts[i].share;
    if (!(fabs(sum - 1) <= 1e-6)) {
        sim_mistake(l, key, "shares-not-100",
                    "let the shares of all its parts add up to 100%",
                    "the shares of `%s` add up to %.6g%%", key->text,
                    sum * 100);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        parts[i].share /= sum;
    return true;
}

static struct sim_dist_part *parts_for(struct sim_load *l,
                                       const struct bide__node *key,
                                       const struct bide__node *node,
                                       const char *expected, const char *help)
{
    if (node->kind == BIDE__LIST && node->n > 0)
        return sim_load_alloc(l, node->n, sizeof(struct sim_dist_part));
    sim_wrong(l, key, node, expected, help);
    return NULL;
}

static bool read_share(struct sim_load *l, struct sim_dist_part *part,
                       const struct bide__node *map)
{
    struct bar b = { 0 };
    struct bide__node *key;
    const struct bide__node *share = bide__map_get(map, "share", &key);

    if (!share) {
        sim_mistake(l, map, "missing-key", "write `share: 5%`",
                    "`share` is missing");
        return false;
    }
    if (!bide__read_value(&l->base, &bar_fields[1], key, share, &b))
        return false;
    part->share = b.share;
    return true;
}

bool sim_read_mixture(struct sim_load *l, struct sim_dist *ret,
                      const struct bide__node *key,
                      const struct bide__node *node)
{
    static const char help[] =
        "write `mixture: [ { share: 95%, exponential: 10ms }, { share: 5%, "
        "exponential: 1s } ]`";
    struct sim_dist_part *parts =
        parts_for(l, key, node, "a list of distributions with shares", help);
    bool good = parts != NULL;

    for (size_t i = 0; parts && i < node->n; i++) {
        const struct bide__node *item = node->items[i];

        if (item->kind != BIDE__MAP) {
            sim_wrong(l, key, item, "a list of distributions with shares",
                      help);
            good = false;
            continue;
        }
        good &= read_share(l, &parts[i], item);
        good &= sim_read_shape(l, &parts[i].of, key, item, true);
    }
    if (!good || !check_shares(l, parts, (uint32_t)node->n, key))
        return false;
    *ret = sim_mixture(parts, (uint32_t)node->n);
    return true;
}

bool sim_read_histogram(struct sim_load *l, struct sim_dist *ret,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    struct sim_dist_part *parts =
        parts_for(l, key, node, "a list of bars", HISTOGRAM);
    bool good = parts != NULL;

    for (size_t i = 0; good && i < node->n; i++) {
        double from_ns = i ? parts[i - 1].upto_ns : 0;
        struct bar b = { 0 };

        good = sim_read_map(l, &bar_table, &b, key, node->items[i], HISTOGRAM);
        if (good && (double)b.upto_ns <= from_ns) {
            sim_mistake(l, bide__map_get(node->items[i], "upto", NULL),
                        "bad-value", "put the bars in rising order",
                        "`upto` is not over that of the bar before");
            good = false;
        }
        parts[i] = (struct sim_dist_part){ .share = b.share,
                                           .from_ns = from_ns,
                                           .upto_ns = (double)b.upto_ns };
    }
    if (!good || !check_shares(l, parts, (uint32_t)node->n, key))
        return false;
    *ret = sim_empirical(parts, (uint32_t)node->n);
    return true;
}

/* ===== percentiles ===== */

#define PERCENTILES "write `percentiles: { p50: 10ms, p99: 80ms, p99.9: 1s }`"
#define S           struct bar
static const struct bide__field point_field = { "percentiles", AT(upto_ns),
                                                TAKES_SPAN_OVER_0,
                                                .hint = PERCENTILES };
#undef S

/* "p99.9": .999; false after a mistake. */
static bool read_rank(struct sim_load *l, const struct bide__node *key,
                      double *ret)
{
    char text[32];
    int n =
        snprintf(text, sizeof text, "%s%%", key->text + (*key->text == 'p'));

    if (key->text[0] == 'p' && n > 1 && (size_t)n < sizeof text &&
        bide_parse_ratio(text, (size_t)n, ret) == 0 && *ret >= 0 && *ret < 1)
        return true;
    sim_mistake(l, key, "bad-value", PERCENTILES,
                "expected a percentile under 100, such as `p99`; found %s",
                bide__node_found(l->base.tree, key));
    return false;
}

static bool read_point(struct sim_load *l, struct sim_dist_part *part,
                       const struct sim_dist_part *before,
                       const struct bide__node *key,
                       const struct bide__node *node)
{
    struct bide__field field = point_field;
    struct bar b = { 0 };

    field.key = key->text;
    if (!read_rank(l, key, &part->share) ||
        !bide__read_value(&l->base, &field, key, node, &b))
        return false;
    part->from_ns = (double)b.upto_ns;
    if (!before ||
        (part->share > before->share && part->from_ns >= before->from_ns))
        return true;
    sim_mistake(l, key, "bad-value", "put the percentiles in rising order",
                "`%s` is not over the percentile before", key->text);
    return false;
}

bool sim_read_percentiles(struct sim_load *l, struct sim_dist *ret,
                          const struct bide__node *key,
                          const struct bide__node *node)
{
    struct sim_dist_part *parts;
    bool good;

    if (node->kind != BIDE__MAP || node->n == 0) {
        sim_wrong(l, key, node, "a map of percentiles", PERCENTILES);
        return false;
    }
    parts = sim_load_alloc(l, node->n, sizeof *parts);
    good = parts != NULL;
    for (size_t i = 0; good && i < node->n; i++)
        good = read_point(l, &parts[i], i ? &parts[i - 1] : NULL, node->keys[i],
                          node->items[i]);
    if (good)
        *ret = sim_percentiles(parts, (uint32_t)node->n);
    return good;
}
