/* When a run recovered from its last fault. The rule is explained at the top of
 * result.h. */
#include <math.h>

#include "sim/model/number.h"
#include "sim/world/figures.h"
#include "sim/world/record.h"

enum { WINDOW_BEATS = 5 };

/* The state before the first fault. */
struct normal {
    double failing; /* share of the finished calls, plus one point */
    double goodput; /* successes per beat; 0: unknown */
};

static uint64_t between(const uint64_t *sums, uint32_t from, uint32_t to)
{
    return (to ? sums[to - 1] : 0) - (from ? sums[from - 1] : 0);
}

static struct normal measure(const struct sim_beats *b, uint32_t from,
                             uint32_t to)
{
    struct normal usual = { 0.01, 0 };
    if (to > b->n || to < from + WINDOW_BEATS)
        return usual;
    double ended = (double)between(b->ended, from, to);
    double good = (double)between(b->good, from, to);
    if (ended > 0)
        usual.failing += 1 - good / ended;
    usual.goodput = good / (to - from);
    return usual;
}

static bool is_well(const struct sim_beats *b, const struct normal *usual,
                    uint32_t from, uint32_t to)
{
    double n = (double)between(b->ended, from, to);
    double good = (double)between(b->good, from, to);
    double bad = usual->failing * n;
    double least = 0.95 * usual->goodput * (to - from);
    return n - good <= bad + 4 * sim_sqrt(bad) &&
           good >= least - 4 * sim_sqrt(least);
}

static uint32_t beat_after(const struct sim_beats *b, int64_t at_ns)
{
    return (uint32_t)((at_ns + b->length_ns - 1) / b->length_ns);
}

/* In seconds; infinite: never; NaN: there is nothing to recover from. */
double sim_recovery(const struct sim_record *rec, int64_t now)
{
    const struct sim_model *m = rec->build->model;
    const struct sim_beats *b = &rec->beats;
    int64_t first = INT64_MAX, last = -1;
    for (uint32_t i = 0; i < m->n_faults; i++) {
        first = m->faults[i].from_ns < first ? m->faults[i].from_ns : first;
        last = m->faults[i].to_ns > last ? m->faults[i].to_ns : last;
    }
    if (last < 0 || last > now)
        return NAN;
    int64_t window = 5 * BIDE_SECOND / b->length_ns;
    uint32_t wide = window > WINDOW_BEATS ? (uint32_t)window : WINDOW_BEATS;
    uint32_t start = beat_after(b, last);
    if (start + wide > b->n)
        return NAN;
    struct normal usual =
        measure(b, beat_after(b, m->warm_up_ns),
                (uint32_t)(first / b->length_ns));
    for (uint32_t from = b->n - wide + 1; from-- > start;) {
        if (is_well(b, &usual, from, from + wide))
            continue;
        if (from == b->n - wide)
            return INFINITY;
        return (double)((from + 1) * b->length_ns - last) / 1e9;
    }
    return (double)(start * b->length_ns - last) / 1e9;
}
