/* Snapshots: the sums of the counters and the lanes. */
#include "lib/stats.h"

#include <string.h>

#include "bide/error.h"
#include "lib/dep.h"
#include "lib/sized.h"

_Static_assert(BIDE_N_CLASSES <= BIDE_MAX_CLASSES, "the layout of bide_stats");
_Static_assert(BIDE_N_REASONS <= BIDE_MAX_REASONS, "the layout of bide_stats");

static uint64_t get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static uint64_t first_successes(const bide_dep *dep)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < dep->policy.conf.lanes; i++)
        sum += get(&dep->lanes[i].first_successes);
    return sum;
}

static void read_calls(const bide_dep *dep, bide_stats *s)
{
    const struct bide__counters *from = &dep->counters;
    s->first_successes = first_successes(dep);
    s->late_successes = get(&from->done[BIDE_BECAUSE_SUCCESS]);
    for (int r = 0; r < BIDE_N_REASONS; r++) {
        s->done[r] = get(&from->done[r]);
        s->retries_by_reason[r] = get(&from->retries_by_reason[r]);
        s->retries += s->retries_by_reason[r];
        if (r != BIDE_BECAUSE_SUCCESS && r != BIDE_BECAUSE_CUT_SHORT)
            s->failures += s->done[r];
    }
    s->done[BIDE_BECAUSE_SUCCESS] += s->first_successes;
    s->calls = s->done[BIDE_BECAUSE_SUCCESS] + s->failures;
}

static void read_attempts(const bide_dep *dep, bide_stats *s)
{
    const struct bide__counters *from = &dep->counters;
    for (int c = 0; c < BIDE_N_CLASSES; c++) {
        s->by_class[c] = get(&from->by_class[c]);
        s->retries_by_class[c] = get(&from->retries_by_class[c]);
    }
    s->by_class[BIDE_SUCCESS] += s->first_successes;
    for (int c = 0; c < BIDE_N_CLASSES; c++)
        s->attempts += s->by_class[c];
    s->unreached = get(&from->unreached);
    s->retries_dropped = get(&from->retries_dropped);
    s->hedges = get(&from->hedges);
    s->hedges_won = get(&from->hedges_won);
    s->hedges_refused = get(&from->hedges_refused);
}

static void read_gauges(const bide_dep *dep, int64_t now, bide_stats *s)
{
    s->late_reports = get(&dep->breaker.late_reports);
    s->breaker = bide_dep_breaker(dep, now);
    for (int i = 0; i < 3; i++)
        s->breaker_to[i] = get(&dep->breaker.entered[i]);
    s->breaker_trips = get(&dep->breaker.trips);
    s->budget_left = bide_dep_budget_left(dep, now);
    s->rate = bide_dep_rate(dep, now);
    s->in_flight = get(&dep->places.used);
    s->queued = get(&dep->places.queued);
    s->in_flight_limit = bide_dep_in_flight_limit(dep);
    s->retries_on = bide_dep_retries(dep);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* First attempts that a hedge overtook were recorded, to keep the quantile
 * honest; they did not succeed, and are subtracted here. While a slice is being
 * recycled, a few may be in neither place. */
static void take_out(bide_histogram *h, const bide_histogram *out)
{
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++)
        h->bucket[i] = less(h->bucket[i], out->bucket[i]);
    h->count = less(h->count, out->count);
    h->sum_ns = less(h->sum_ns, out->sum_ns);
}

static void read_times(const bide_dep *dep, bide_stats *s)
{
    const struct bide__counters *from = &dep->counters;
    bide_histogram overtaken = { 0 };

    bide__histogram_read(&from->wait_computed, &s->wait_computed);
    bide__histogram_read(&from->wait_jittered, &s->wait_jittered);
    bide__histogram_read(&from->wait_slept, &s->wait_slept);

    bide__histogram_read(&from->overtaken, &overtaken);
    bide__histogram_read(&from->first_time, &s->attempt_time);
    if (dep->latency)
        bide__latency_add_to(dep->latency, dep->policy.conf.lanes,
                             &s->attempt_time);
    take_out(&s->attempt_time, &overtaken);
    s->call_time = s->attempt_time;
    bide__histogram_read(&from->late_attempt_time, &s->attempt_time);
    bide__histogram_read(&from->late_call_time, &s->call_time);
}

void bide_dep_cut_short(bide_dep *dep)
{
    if (dep)
        bide__count(&dep->counters.done[BIDE_BECAUSE_CUT_SHORT]);
}

static void take_snapshot(const bide_dep *dep, int64_t now, bide_stats *s)
{
    memset(s, 0, sizeof *s);
    read_calls(dep, s);
    read_attempts(dep, s);
    read_gauges(dep, now, s);
    read_times(dep, s);
}

int bide_dep_stats_sized(const bide_dep *dep, int64_t now_ns, bide_stats *ret,
                         size_t size)
{
    if (!dep || !ret)
        return BIDE_EINVAL;
    if (size == sizeof *ret) {
        take_snapshot(dep, bide__clock(now_ns), ret);
        return 0;
    }
    bide_stats stats;
    take_snapshot(dep, bide__clock(now_ns), &stats);
    bide__sized_out(ret, size, &stats, sizeof stats);
    return 0;
}

double bide_stats_amplification(const bide_stats *stats)
{
    if (!stats || stats->calls == 0)
        return 0;
    return (double)stats->attempts / (double)stats->calls;
}
