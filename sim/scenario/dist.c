/* dist.c: distributions of durations.
 *
 *     100ms                                     always that
 *     { exponential: 100ms }                    by its mean
 *     { normal: { mean: 10ms, deviation: 2ms } }
 *     { lognormal: { median: 20ms, sigma: 0.8 } }   or `p99: 130ms`
 *     { pareto: { least: 5ms, alpha: 1.5 } }
 *     { mixture: [ { share: 95%, exponential: 10ms }, { share: 5%, ... } ] }
 *     { histogram: [ { upto: 10ms, share: 50% }, { upto: 1s, share: 50% } ] }
 */
#include "sim/model/number.h"
#include "sim/scenario/load.h"

#define AT(member) .offset = offsetof(struct params, member)

/* Threads: owned. */
struct params {
    int64_t at_ns, spread_ns;
    double spread;
};

static const char duration[] = "a duration over 0";
/* clang-format off */
static const struct sim_field span_field = {
    "time", SIM_FIELD_SPAN, AT(at_ns), .min = 0, .max = 2.592e15,
    .expects = "a duration, or a distribution",
};
static const struct sim_field mean_field = {
    "exponential", SIM_FIELD_SPAN, AT(at_ns), .min = 1, .max = 2.592e15,
    .expects = "a duration over 0: its mean",
};
static const struct sim_field normal_fields[] = {
    { "mean", SIM_FIELD_SPAN, AT(at_ns), .min = 0, .max = 2.592e15,
      .expects = "a duration" },
    { "deviation", SIM_FIELD_SPAN, AT(spread_ns), .min = 0, .max = 2.592e15,
      .expects = "a duration" },
    { .key = NULL }
};
static const struct sim_field lognormal_fields[] = {
    { "median", SIM_FIELD_SPAN, AT(at_ns), .min = 1, .max = 2.592e15,
      .expects = duration },
    { "sigma", SIM_FIELD_NUMBER, AT(spread), .min = 0, .max = 10,
      .expects = "a number from 0 to 10" },
    { "p99", SIM_FIELD_SPAN, AT(spread_ns), .min = 1, .max = 2.592e15,
      .expects = duration },
    { .key = NULL }
};
static const struct sim_field pareto_fields[] = {
    { "least", SIM_FIELD_SPAN, AT(at_ns), .min = 1, .max = 2.592e15,
      .expects = duration },
    { "alpha", SIM_FIELD_NUMBER, AT(spread), .min = 0.01, .max = 1000,
      .expects = "a number from 0.01 to 1000" },
    { .key = NULL }
};
/* clang-format on */

/* ===== those with a formula ===== */

static bool read_span(struct sim_load *l, struct sim_dist *ret,
                      const struct bide__node *key,
                      const struct bide__node *node)
{
    struct sim_field field = span_field;
    struct params p = { 0 };

    field.key = key->text;
    if (!sim_read_scalar(l, &field, &p, key, node))
        return false;
    *ret = sim_constant(p.at_ns);
    return true;
}

static bool read_exponential(struct sim_load *l, struct sim_dist *ret,
                             const struct bide__node *key,
                             const struct bide__node *node)
{
    struct params p = { 0 };

    if (!sim_read_scalar(l, &mean_field, &p, key, node))
        return false;
    *ret = sim_exponential((double)p.at_ns);
    return true;
}

static bool read_normal(struct sim_load *l, struct sim_dist *ret,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    static const char *const needed[] = { "mean", "deviation", NULL };
    struct params p = { 0 };

    if (!sim_read_needed(l, normal_fields, &p, key, node, needed,
                         "write `normal: { mean: 10ms, deviation: 2ms }`"))
        return false;
    *ret = sim_normal((double)p.at_ns, (double)p.spread_ns);
    return true;
}

/* How far the 99th percentile is from the median, in sigmas. */
#define Z99 2.3263478740408408

static bool read_lognormal(struct sim_load *l, struct sim_dist *ret,
                           const struct bide__node *key,
                           const struct bide__node *node)
{
    static const char help[] =
        "write `lognormal: { median: 20ms, sigma: 0.8 }`, or `p99: 130ms` "
        "instead of `sigma`";
    static const char *const needed[] = { "median", NULL };
    struct bide__node *p99 = NULL;
    struct params p = { 0 };

    if (!sim_read_needed(l, lognormal_fields, &p, key, node, needed, help) ||
        sim_both(l, node, "sigma", "p99", "how wide it is"))
        return false;
    bide__map_get(node, "p99", &p99);
    if (!p99 && !bide__map_get(node, "sigma", NULL)) {
        sim_mistake(l, node, "missing-key", help, "`sigma` is missing");
        return false;
    }
    if (p99 && p.spread_ns < p.at_ns) {
        sim_mistake(l, p99, "contradiction", NULL,
                    "`p99` is less than `median`");
        return false;
    }
    if (p99)
        p.spread = sim_log((double)p.spread_ns / (double)p.at_ns) / Z99;
    *ret = sim_lognormal((double)p.at_ns, p.spread);
    return true;
}

static bool read_pareto(struct sim_load *l, struct sim_dist *ret,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    static const char *const needed[] = { "least", "alpha", NULL };
    struct params p = { 0 };

    if (!sim_read_needed(l, pareto_fields, &p, key, node, needed,
                         "write `pareto: { least: 5ms, alpha: 1.5 }`"))
        return false;
    *ret = sim_pareto((double)p.at_ns, p.spread);
    return true;
}

/* ===== all of them ===== */

typedef bool reader(struct sim_load *l, struct sim_dist *ret,
                    const struct bide__node *key,
                    const struct bide__node *node);

static const struct {
    const char *key;
    reader *read;
} shapes[] = {
    { "constant", read_span },           { "exponential", read_exponential },
    { "normal", read_normal },           { "lognormal", read_lognormal },
    { "pareto", read_pareto },           { "mixture", sim_read_mixture },
    { "histogram", sim_read_histogram },
};

enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static void unknown_shape(struct sim_load *l, const struct bide__node *key)
{
    const char *known[N_SHAPES + 1] = { 0 };

    for (size_t i = 0; i < N_SHAPES; i++)
        known[i] = shapes[i].key;
    bide__unknown_key(&l->base, key, known, NULL);
}

/* A map that names one shape. */
bool sim_read_shape(struct sim_load *l, struct sim_dist *ret,
                    const struct bide__node *key, const struct bide__node *map,
                    bool with_share)
{
    size_t found = N_SHAPES, unknown = 0;
    bool good = true;

    for (size_t i = 0; i < map->n; i++) {
        size_t k = 0;

        if (with_share && bide__node_is(map->keys[i], "share"))
            continue;
        while (k < N_SHAPES && !bide__node_is(map->keys[i], shapes[k].key))
            k++;
        if (k == N_SHAPES) {
            unknown_shape(l, map->keys[i]);
            unknown++;
        } else if (found < N_SHAPES) {
            good = !sim_both(l, map, shapes[found].key, shapes[k].key,
                             "how long it takes");
        } else {
            found = k;
            good = shapes[k].read(l, ret, map->keys[i], map->items[i]);
        }
    }
    if (found == N_SHAPES && !unknown)
        sim_wrong(l, key, map, "a duration, or a distribution",
                  "write `100ms` or `{ exponential: 100ms }`");
    return good && !unknown && found < N_SHAPES;
}

bool sim_read_dist(struct sim_load *l, struct sim_dist *ret,
                   const struct bide__node *key, const struct bide__node *node)
{
    if (node->kind == BIDE__MAP)
        return sim_read_shape(l, ret, key, node, false);
    if (node->kind == BIDE__LIST) {
        sim_wrong(l, key, node, "a duration, or a distribution",
                  "write `100ms` or `{ exponential: 100ms }`");
        return false;
    }
    return read_span(l, ret, key, node);
}
