/* The names of what is observed, and cumulative totals. */
#include "observe/event/observed.h"

static const struct {
    const char *key, *text;
} states[] = {
#define X(name, key, text) { key, text },
    BIDE__ENDPOINT_STATES(X)
#undef X
};

const char *bide__endpoint_state_name(enum bide__endpoint_state state)
{
    return (unsigned)state < BIDE__N_ENDPOINT_STATES ? states[state].key : "?";
}

const char *bide__endpoint_state_text(enum bide__endpoint_state state)
{
    return (unsigned)state < BIDE__N_ENDPOINT_STATES ? states[state].text : "?";
}

/* ===== totals ===== */

static void add_all(uint64_t *to, const uint64_t *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

static void add_histogram(bide_histogram *to, const bide_histogram *from)
{
    to->count += from->count;
    to->sum_ns += from->sum_ns;
    add_all(to->bucket, from->bucket, BIDE_N_BUCKETS);
}

static void add_attempts(bide_stats *to, const bide_stats *from)
{
    to->attempts += from->attempts;
    add_all(to->by_class, from->by_class, BIDE_MAX_CLASSES);
    to->retries += from->retries;
    add_all(to->retries_by_class, from->retries_by_class, BIDE_MAX_CLASSES);
    add_all(to->retries_by_reason, from->retries_by_reason, BIDE_MAX_REASONS);
    to->retries_dropped += from->retries_dropped;
    to->hedges += from->hedges;
    to->hedges_won += from->hedges_won;
    to->hedges_refused += from->hedges_refused;
    to->unreached += from->unreached;
    to->late_reports += from->late_reports;
    add_all(to->breaker_to, from->breaker_to, 3);
    to->breaker_trips += from->breaker_trips;
}

void bide__stats_add(bide_stats *to, const bide_stats *from)
{
    to->calls += from->calls;
    to->first_successes += from->first_successes;
    to->late_successes += from->late_successes;
    to->failures += from->failures;
    add_all(to->done, from->done, BIDE_MAX_REASONS);
    add_attempts(to, from);
    add_histogram(&to->wait_computed, &from->wait_computed);
    add_histogram(&to->wait_jittered, &from->wait_jittered);
    add_histogram(&to->wait_slept, &from->wait_slept);
    add_histogram(&to->attempt_time, &from->attempt_time);
    add_histogram(&to->call_time, &from->call_time);
}

void bide__observed_stats(const struct bide__observed_dep *d, int64_t now_ns,
                          bide_stats *ret)
{
    bide_stats prior;

    bide_dep_stats(d->dep, now_ns, ret);
    if (d->prior && bide_dep_stats(d->prior, now_ns, &prior) == 0)
        bide__stats_add(ret, &prior);
    if (d->before)
        bide__stats_add(ret, d->before);
}
