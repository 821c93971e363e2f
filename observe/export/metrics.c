/* The metric families of a dependency, of its endpoints, and the program's own.
 * All series of a name are adjacent, so the snapshots of all dependencies are
 * taken first. */
#include "observe/export/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bide/share.h"

/* A dependency, as it was when the walk began. */
struct snapshot {
    const char *name;
    bide_stats s;
    bool in_fleet;
    bide_share_view share;
};

/* One family while it is written to the sink. */
struct walk {
    const struct bide__metric_sink *sink;
    const struct bide__metric *metric;
    const struct snapshot *snap;
};

static struct bide__number whole(uint64_t n)
{
    return (struct bide__number){ true, n, (double)n };
}

static struct bide__number any(double x)
{
    return (struct bide__number){ false, 0, x };
}

static void tell(const struct walk *t, const char *name, const char *value,
                 struct bide__number n)
{
    struct bide__label labels[] = { { "dep", t->snap->name }, { name, value } };
    t->sink->number(t->sink->ctx, t->metric, labels, name ? 2 : 1, n);
}

static void tell_histogram(const struct walk *t, const char *name,
                           const char *value, const bide_histogram *h)
{
    struct bide__label labels[] = { { "dep", t->snap->name }, { name, value } };
    t->sink->histogram(t->sink->ctx, t->metric, labels, 2, h);
}

/* ===== with a label ===== */

static void put_calls(const struct walk *t)
{
    const bide_stats *s = &t->snap->s;
    tell(t, "result", "first_success", whole(s->first_successes));
    tell(t, "result", "late_success", whole(s->late_successes));
    tell(t, "result", "failure", whole(s->failures));
}

static void put_attempts(const struct walk *t)
{
    for (unsigned c = 0; c < BIDE_N_CLASSES; c++)
        tell(t, "class", bide_class_name(c), whole(t->snap->s.by_class[c]));
}

/* A success is never retried. */
static void put_retried(const struct walk *t)
{
    for (unsigned c = BIDE_TRANSIENT; c < BIDE_N_CLASSES; c++)
        tell(t, "class", bide_class_name(c),
             whole(t->snap->s.retries_by_class[c]));
}

static void put_refused(const struct walk *t)
{
    for (unsigned r = BIDE_BECAUSE_CANCELLED; r < BIDE_BECAUSE_FIRST; r++)
        tell(t, "reason", bide_reason_name(r), whole(t->snap->s.done[r]));
    tell(t, "reason", bide_reason_name(BIDE_BECAUSE_CUT_SHORT),
         whole(t->snap->s.done[BIDE_BECAUSE_CUT_SHORT]));
}

static void put_retries(const struct walk *t)
{
    for (unsigned r = BIDE_BECAUSE_BACKOFF; r <= BIDE_BECAUSE_IMMEDIATE; r++)
        tell(t, "reason", bide_reason_name(r),
             whole(t->snap->s.retries_by_reason[r]));
}

static void put_breaker(const struct walk *t)
{
    for (unsigned b = BIDE_BREAKER_CLOSED; b <= BIDE_BREAKER_HALF_OPEN; b++)
        tell(t, "state", bide_breaker_state_name(b),
             whole(t->snap->s.breaker == (bide_breaker_state)b));
}

static void put_transitions(const struct walk *t)
{
    for (unsigned b = BIDE_BREAKER_CLOSED; b <= BIDE_BREAKER_HALF_OPEN; b++)
        tell(t, "to", bide_breaker_state_name(b),
             whole(t->snap->s.breaker_to[b]));
}

static void put_waits(const struct walk *t)
{
    const bide_stats *s = &t->snap->s;
    tell_histogram(t, "stage", "computed", &s->wait_computed);
    tell_histogram(t, "stage", "jittered", &s->wait_jittered);
    tell_histogram(t, "stage", "slept", &s->wait_slept);
}

static void put_times(const struct walk *t)
{
    const bide_stats *s = &t->snap->s;
    tell_histogram(t, "retry_time", "with", &s->call_time);
    tell_histogram(t, "retry_time", "without", &s->attempt_time);
}

/* ===== one number each ===== */

#define ONE(name, value)                                                       \
    static void put_##name(const struct walk *t)                            \
    {                                                                          \
        const bide_stats *s = &t->snap->s;                                     \
        tell(t, NULL, NULL, value);                                            \
    }

static struct bide__number left_of(int64_t budget)
{
    return any(budget == BIDE_FOREVER ? INFINITY : (double)budget);
}

ONE(trips, whole(s->breaker_trips))
ONE(dropped, whole(s->retries_dropped))
ONE(hedges, whole(s->hedges))
ONE(hedges_won, whole(s->hedges_won))
ONE(hedges_refused, whole(s->hedges_refused))
ONE(late_reports, whole(s->late_reports))
ONE(in_flight, whole(s->in_flight))
ONE(queued, whole(s->queued))
ONE(in_flight_limit, any(s->in_flight_limit == BIDE_UNLIMITED
                             ? INFINITY
                             : (double)s->in_flight_limit))
ONE(retries_off, whole(!s->retries_on))
ONE(budget, left_of(s->budget_left))
ONE(rate, any(s->rate))
ONE(amplification, any(bide_stats_amplification(s)))

/* ===== of those in a fleet ===== */

#define FLEET(name, value)                                                     \
    static void put_fleet_##name(const struct walk *t)                         \
    {                                                                          \
        const bide_share_view *v = &t->snap->share;                            \
        if (t->snap->in_fleet)                                                 \
            tell(t, NULL, NULL, whole(value));                                 \
    }

FLEET(joined, v->joined)
FLEET(instances, v->instances)
FLEET(held, v->held)
FLEET(allowed, v->allowed)
FLEET(used, v->used)
FLEET(failing, v->failing)
FLEET(opened, v->opened)

/* ===== the list ===== */

#define COUNTER   BIDE__METRIC_COUNTER
#define GAUGE     BIDE__METRIC_GAUGE
#define HISTOGRAM BIDE__METRIC_HISTOGRAM

/* clang-format off */
static const struct family {
    struct bide__metric metric;
    void (*put)(const struct walk *t);
} families[] = {
    { { "bide_calls_total", COUNTER, "{call}",
        "Finished calls: success at the first attempt, success after retries "
        "or hedges, failure." }, put_calls },
    { { "bide_attempts_total", COUNTER, "{attempt}",
        "Finished attempts, by the class of their outcome." }, put_attempts },
    { { "bide_refused_total", COUNTER, "{call}",
        "Calls that ended without success, by the reason why there was no "
        "further attempt." }, put_refused },
    { { "bide_retries_total", COUNTER, "{retry}",
        "Retries, by what set the wait before them." }, put_retries },
    { { "bide_retried_failures_total", COUNTER, "{retry}",
        "Retries, by the class of the failure before them." }, put_retried },
    { { "bide_retries_dropped_total", COUNTER, "{retry}",
        "Retries that were granted, but whose call ended during the wait." },
      put_dropped },
    { { "bide_hedges_total", COUNTER, "{hedge}", "Hedges sent." }, put_hedges },
    { { "bide_hedges_won_total", COUNTER, "{hedge}",
        "Hedges that got the first response." }, put_hedges_won },
    { { "bide_hedges_refused_total", COUNTER, "{hedge}",
        "Hedges that were due, but refused by the budget, extra_load or the "
        "in-flight limit." }, put_hedges_refused },
    { { "bide_late_reports_total", COUNTER, "{attempt}",
        "Results that arrived after the breaker had changed state, and did not "
        "count." }, put_late_reports },
    { { "bide_breaker_state", GAUGE, "1",
        "1 for the state that the breaker is in, 0 for the others." },
      put_breaker },
    { { "bide_breaker_transitions_total", COUNTER, "{transition}",
        "Transitions of the breaker, by the new state." },
      put_transitions },
    { { "bide_breaker_trips_total", COUNTER, "{transition}",
        "Times that the breaker opened while it was closed: reopening after a "
        "failed probe is not one." }, put_trips },
    { { "bide_budget_remaining", GAUGE, "{retry}",
        "Retries that the budget would grant now; +Inf if there is no budget." },
      put_budget },
    { { "bide_adaptive_rate_limit", GAUGE, "{attempt}/s",
        "Attempts a second that the adaptive rate allows; +Inf if there is no "
        "limit." }, put_rate },
    { { "bide_in_flight", GAUGE, "{attempt}",
        "Attempts in flight, if the policy limits them." }, put_in_flight },
    { { "bide_in_flight_limit", GAUGE, "{attempt}",
        "Attempts that may be in flight, as of now; +Inf if there is no "
        "limit." }, put_in_flight_limit },
    { { "bide_retries_off", GAUGE, "1",
        "1 while all retries are switched off." }, put_retries_off },
    { { "bide_queued", GAUGE, "{call}",
        "Calls that wait for a place in flight." }, put_queued },
    { { "bide_amplification_ratio", GAUGE, "1",
        "Attempts per call since the start; 1 is no retry at all." },
      put_amplification },
    { { "bide_wait_seconds", HISTOGRAM, "s",
        "Waits before retries: as computed, with jitter, and as actually "
        "slept." }, put_waits },
    { { "bide_call_seconds", HISTOGRAM, "s",
        "Duration of successful calls: with retries and waits, and of the "
        "successful attempt alone." }, put_times },
    { { "bide_fleet_joined", GAUGE, "1",
        "1 while the fleet's Redis answers; 0 while this instance is alone." },
      put_fleet_joined },
    { { "bide_fleet_instances", GAUGE, "{instance}",
        "Instances of the fleet, as last known." }, put_fleet_instances },
    { { "bide_fleet_leased", GAUGE, "{retry}",
        "Retries that this instance may make without asking." },
      put_fleet_held },
    { { "bide_fleet_allowed", GAUGE, "{retry}",
        "Retries that the budget of the fleet allows over its window." },
      put_fleet_allowed },
    { { "bide_fleet_used", GAUGE, "{retry}",
        "Of those, spent or leased, by all instances." }, put_fleet_used },
    { { "bide_fleet_failing", GAUGE, "{instance}",
        "Instances at which the dependency fails." }, put_fleet_failing },
    { { "bide_fleet_trips_total", COUNTER, "{transition}",
        "Times that the breaker opened by what the fleet saw." },
      put_fleet_opened },
};
/* clang-format on */

/* Left out if no dependency is in one. */
static bool is_fleets(const struct bide__metric *metric)
{
    return strncmp(metric->name, "bide_fleet_", strlen("bide_fleet_")) == 0;
}

static void walk_deps(const struct bide__metric_sink *sink,
                      const struct snapshot *snaps, size_t n)
{
    enum { N = sizeof families / sizeof families[0] };
    bool fleet = false;
    for (size_t i = 0; i < n; i++)
        fleet = fleet || snaps[i].in_fleet;
    for (size_t f = 0; f < N && n; f++) {
        if (!fleet && is_fleets(&families[f].metric))
            continue;
        struct walk t = { sink, &families[f].metric, NULL };
        sink->begin(sink->ctx, t.metric);
        for (size_t i = 0; i < n; i++) {
            t.snap = &snaps[i];
            families[f].put(&t);
        }
        sink->end(sink->ctx, t.metric);
    }
}

bool bide__metrics_walk(const struct bide__observed *observed, int64_t now_ns,
                        const struct bide__metric_sink *sink)
{
    size_t n = observed->n_deps;
    struct snapshot *snaps = calloc(n ? n : 1, sizeof *snaps);
    if (!snaps)
        return false;
    for (size_t i = 0; i < n; i++) {
        snaps[i].name = observed->deps[i].name;
        bide__observed_stats(&observed->deps[i], now_ns, &snaps[i].s);
        snaps[i].in_fleet = bide_dep_share_view(observed->deps[i].dep, now_ns,
                                                &snaps[i].share) == 0;
    }
    walk_deps(sink, snaps, n);
    free(snaps);
    bide__metrics_rest(observed, sink);
    return true;
}
