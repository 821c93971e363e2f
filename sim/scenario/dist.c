/* dist.c: distributions of durations.
 *
 *     100ms                                     always that
 *     { exponential: 100ms }                    by its mean
 *     { normal: { mean: 10ms, deviation: 2ms } }
 *     { lognormal: { median: 20ms, sigma: 0.8 } }   or `p99: 130ms`
 *     { pareto: { least: 5ms, alpha: 1.5 } }
 *     { mixture: [ { share: 95%, exponential: 10ms }, { share: 5%, ... } ] }
 *     { histogram: [ { upto: 10ms, share: 50% }, { upto: 1s, share: 50% } ] }
 *     { percentiles: { p50: 10ms, p99: 80ms, p99.9: 1s } }
 */
#include "config/field/read.h"
#include "sim/model/number.h"
#include "sim/scenario/rows.h"

/* Threads: owned. */
struct params {
    int64_t at_ns, spread_ns;
    double spread;
};

#define NORMAL "write `normal: { mean: 10ms, deviation: 2ms }`"
#define LOGNORMAL                                                              \
    "write `lognormal: { median: 20ms, sigma: 0.8 }`, or `p99: 130ms` "        \
    "instead of `sigma`"
#define PARETO "write `pareto: { least: 5ms, alpha: 1.5 }`"

#define S struct params
static const struct bide__field span_field = {
    "time", AT(at_ns), TAKES_SPAN ", or a distribution"
};
static const struct bide__field mean_field = {
    "exponential", AT(at_ns), TAKES_SPAN_OVER_0 ": its mean"
};
static const struct bide__field normal_fields[] = {
    { "mean", AT(at_ns), TAKES_SPAN, .required = true, .hint = NORMAL },
    { "deviation", AT(spread_ns), TAKES_SPAN, .required = true,
      .hint = NORMAL },
    LAST
};
static const struct bide__field lognormal_fields[] = {
    { "median", AT(at_ns), TAKES_SPAN_OVER_0, .required = true,
      .hint = LOGNORMAL },
    { "sigma", AT(spread), TAKES_NUMBER(0, 10) },
    { "p99", AT(spread_ns), TAKES_SPAN_OVER_0 },
    LAST
};
static const struct bide__field pareto_fields[] = {
    { "least", AT(at_ns), TAKES_SPAN_OVER_0, .required = true,
      .hint = PARETO },
    { "alpha", AT(spread), TAKES_NUMBER(0.01, 1000), .required = true,
      .hint = PARETO },
    LAST
};
#undef S
static const struct bide__table normal_table = { .fields = normal_fields };
static const struct bide__table lognormal_table = {
    .fields = lognormal_fields
};
static const struct bide__table pareto_table = { .fields = pareto_fields };

/* ===== those with a formula ===== */

static bool read_span(struct sim_load *l, struct sim_dist *ret,
                      const struct bide__node *key,
                      const struct bide__node *node)
{
    struct bide__field field = span_field;
    struct params p = { 0 };

    field.key = key->text;
    if (!bide__read_value(&l->base, &field, key, node, &p))
        return false;
    *ret = sim_constant(p.at_ns);
    return true;
}

static bool read_exponential(struct sim_load *l, struct sim_dist *ret,
                             const struct bide__node *key,
                             const struct bide__node *node)
{
    struct params p = { 0 };

    if (!bide__read_value(&l->base, &mean_field, key, node, &p))
        return false;
    *ret = sim_exponential((double)p.at_ns);
    return true;
}

static bool read_normal(struct sim_load *l, struct sim_dist *ret,
                        const struct bide__node *key,
                        const struct bide__node *node)
{
    struct params p = { 0 };

    if (!sim_read_map(l, &normal_table, &p, key, node, NORMAL))
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
    struct bide__node *p99 = NULL;
    struct params p = { 0 };

    if (!sim_read_map(l, &lognormal_table, &p, key, node, LOGNORMAL) ||
        sim_both(l, node, "sigma", "p99", "how wide it is"))
        return false;
    bide__map_get(node, "p99", &p99);
    if (!p99 && !bide__map_get(node, "sigma", NULL)) {
        sim_mistake(l, node, "missing-key", LOGNORMAL, "`sigma` is missing");
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
    struct params p = { 0 };

    if (!sim_read_map(l, &pareto_table, &p, key, node, PARETO))
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
    { "histogram", sim_read_histogram }, { "percentiles", sim_read_percentiles },
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

SIM_READER(sim_read_dist)
{
    struct sim_load *l = (struct sim_load *)load;
    struct sim_dist *dist = (void *)((char *)into + f->offset);

    if (node->kind == BIDE__MAP)
        sim_read_shape(l, dist, key, node, false);
    else if (node->kind == BIDE__LIST)
        sim_wrong(l, key, node, "a duration, or a distribution",
                  "write `100ms` or `{ exponential: 100ms }`");
    else
        read_span(l, dist, key, node);
}

bool sim_set_dist(const struct bide__field *f, void *into, const char *text,
                  size_t len)
{
    struct sim_dist *d = (void *)((char *)into + f->offset);
    int64_t ns;

    if (bide_parse_duration(text, len, &ns) < 0 || d->kind == SIM_MIXTURE ||
        d->kind == SIM_EMPIRICAL || d->kind == SIM_PERCENTILES)
        return false;
    if (d->kind == SIM_NORMAL && d->at_ns > 0)
        d->spread *= (double)ns / d->at_ns;
    d->at_ns = (double)ns;
    return true;
}
