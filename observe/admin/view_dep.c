/* One dependency in a state: totals, gauges, histograms, endpoints. */
#include <math.h>
#include <string.h>

#include "bide/share.h"
#include "observe/admin/condition.h"
#include "observe/admin/ideal.h"
#include "observe/admin/view.h"
#include "observe/admin/view_parts.h"

/* One dependency while it is being written. */
struct part {
    struct bide__json *j;
    const bide_stats *s;
    const bide_policy_conf *conf;
    const bide_dep *dep;
    int64_t now_ns;
};

static void put_counts(const struct part *p)
{
    struct bide__json *j = p->j;
    const bide_stats *s = p->s;

    bide__json_object(j, "calls");
    bide__json_count(j, "first_success", s->first_successes);
    bide__json_count(j, "late_success", s->late_successes);
    bide__json_count(j, "failure", s->failures);
    bide__json_end(j);
    bide__json_object(j, "attempts");
    for (unsigned c = 0; c < BIDE_N_CLASSES; c++)
        bide__json_count(j, bide_class_name(c), s->by_class[c]);
    bide__json_end(j);
    bide__json_object(j, "refused");
    for (unsigned r = BIDE_BECAUSE_CANCELLED; r < BIDE_BECAUSE_FIRST; r++)
        if (s->done[r])
            bide__json_count(j, bide_reason_name(r), s->done[r]);
    bide__json_end(j);
    bide__json_object(j, "retries");
    for (unsigned r = BIDE_BECAUSE_BACKOFF; r <= BIDE_BECAUSE_IMMEDIATE; r++)
        bide__json_count(j, bide_reason_name(r), s->retries_by_reason[r]);
    bide__json_count(j, "dropped", s->retries_dropped);
    bide__json_end(j);
    bide__json_number(j, "amplification", bide_stats_amplification(s));
}

static void put_hedges(const struct part *p)
{
    bide__json_object(p->j, "hedges");
    bide__json_flag(p->j, "on", p->conf->hedge.max > 0);
    bide__json_count(p->j, "sent", p->s->hedges);
    bide__json_count(p->j, "won", p->s->hedges_won);
    bide__json_count(p->j, "refused", p->s->hedges_refused);
    bide__json_end(p->j);
}

/* Of one that is in a fleet. */
static void put_fleet(const struct part *p)
{
    bide_share_view v;

    if (bide_dep_share_view(p->dep, p->now_ns, &v) < 0)
        return;
    bide__json_object(p->j, "fleet");
    bide__json_flag(p->j, "joined", v.joined);
    bide__json_count(p->j, "instances", v.instances);
    bide__json_count(p->j, "leased", v.held);
    bide__json_count(p->j, "used", v.used);
    bide__json_count(p->j, "allowed", v.allowed);
    bide__json_count(p->j, "with_traffic", v.with_traffic);
    bide__json_count(p->j, "failing", v.failing);
    bide__json_count(p->j, "trips", v.opened);
    bide__json_end(p->j);
}

static const char *mode_name(bide_breaker_mode mode)
{
    static const char *const names[] = {
#define X(name, key) key,
        BIDE_BREAKER_MODES(X)
#undef X
    };
    return names[mode];
}

/* Of a breaker, whatever an overview needs; returns the rest. */
static bide_breaker_view begin_breaker(const struct part *p)
{
    bide_breaker_view view = { .state = BIDE_BREAKER_CLOSED };
    int64_t left;

    bide_dep_breaker_view(p->dep, p->now_ns, &view);
    left = view.open_until_ns > p->now_ns ? view.open_until_ns - p->now_ns : 0;
    bide__json_object(p->j, "breaker");
    bide__json_flag(p->j, "on", p->conf->breaker.kind != BIDE_BREAKER_OFF);
    bide__json_text(p->j, "state", bide_breaker_state_name(view.state));
    bide__json_text(p->j, "mode", mode_name(view.mode));
    bide__json_ms(p->j, "open_for_ms",
                  view.state == BIDE_BREAKER_OPEN ? left : 0);
    bide__json_count(p->j, "opened", p->s->breaker_to[BIDE_BREAKER_OPEN]);
    return view;
}

static void put_breaker(const struct part *p)
{
    const bide_breaker_conf *conf = &p->conf->breaker;
    bide_breaker_view view = begin_breaker(p);

    bide__json_count(p->j, "trips", p->s->breaker_trips);
    bide__json_count(p->j, "attempts", view.attempts);
    bide__json_count(p->j, "failed", view.failed);
    bide__json_count(p->j, "slow", view.slow);
    bide__json_number(p->j, "opens_at", conf->failure_rate);
    bide__json_count(p->j, "min_calls", conf->min_calls);
    bide__json_end(p->j);
}

/* What is normally left of the budget; that of a window grows with traffic. */
static double usual_budget(const bide_budget_conf *b)
{
    switch (b->kind) {
    case BIDE_BUDGET_WINDOW:
        return b->floor_per_s * (double)b->window_ns / 1e9;
    case BIDE_BUDGET_QUOTA:
        return b->cost ? floor((double)b->capacity / b->cost) : INFINITY;
    case BIDE_BUDGET_THROTTLE:
        return floor(b->max_tokens / 2);
    case BIDE_BUDGET_IN_FLIGHT:
        return b->min_in_flight;
    default:
        return INFINITY;
    }
}

static const char *budget_name(bide_budget_kind kind)
{
    static const char *const names[] = {
#define X(name, key) key,
        BIDE_BUDGETS(X)
#undef X
    };
    return names[kind];
}

static void put_budget(const struct part *p)
{
    int64_t left = p->s->budget_left;

    bide__json_object(p->j, "budget");
    bide__json_text(p->j, "kind", budget_name(p->conf->budget.kind));
    bide__json_number(p->j, "left",
                      left == BIDE_FOREVER ? INFINITY : (double)left);
    bide__json_number(p->j, "usual", usual_budget(&p->conf->budget));
    bide__json_end(p->j);
}

static void put_limits(const struct part *p)
{
    bide__json_object(p->j, "limits");
    bide__json_number(p->j, "rate", p->s->rate);
    bide__json_count(p->j, "in_flight", p->s->in_flight);
    bide__json_number(p->j, "in_flight_max",
                      p->s->in_flight_limit == BIDE_UNLIMITED
                          ? (double)INFINITY
                          : (double)p->s->in_flight_limit);
    bide__json_count(p->j, "queued", p->s->queued);
    bide__json_end(p->j);
}

/* ===== histograms: [[bucket, count], ...] ===== */

static void put_histogram(struct bide__json *j, const char *key,
                          const bide_histogram *h)
{
    bide__json_list(j, key);
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        if (h->bucket[i] == 0)
            continue;
        bide__json_list(j, NULL);
        bide__json_count(j, NULL, i);
        bide__json_count(j, NULL, h->bucket[i]);
        bide__json_end(j);
    }
    bide__json_end(j);
}

static void put_ideal(const struct part *p)
{
    double want[BIDE_N_BUCKETS];

    bide__ideal_waits(&p->conf->backoff, p->conf->attempts,
                      &p->s->wait_computed, want);
    bide__json_list(p->j, "ideal");
    for (unsigned i = 0; i < BIDE_N_BUCKETS; i++) {
        if (want[i] < 0.005)
            continue;
        bide__json_list(p->j, NULL);
        bide__json_count(p->j, NULL, i);
        bide__json_number(p->j, NULL, floor(want[i] * 100 + 0.5) / 100);
        bide__json_end(p->j);
    }
    bide__json_end(p->j);
}

static void put_histograms(const struct part *p)
{
    bide__json_object(p->j, "waits");
    put_histogram(p->j, "computed", &p->s->wait_computed);
    put_histogram(p->j, "jittered", &p->s->wait_jittered);
    put_histogram(p->j, "slept", &p->s->wait_slept);
    put_ideal(p);
    bide__json_end(p->j);
    bide__json_object(p->j, "times");
    put_histogram(p->j, "call", &p->s->call_time);
    put_histogram(p->j, "attempt", &p->s->attempt_time);
    bide__json_end(p->j);
}

/* ===== endpoints ===== */

static void put_endpoints(struct bide__json *j, const struct bide__observed *w,
                          const char *upstream)
{
    bide__json_list(j, "endpoints");
    for (size_t i = 0; i < w->n_endpoints; i++) {
        const struct bide__observed_endpoint *e = &w->endpoints[i];
        if (strcmp(e->upstream, upstream) != 0)
            continue;
        bide__json_object(j, NULL);
        bide__json_text(j, "address", e->address);
        bide__json_text(j, "state", bide__endpoint_state_name(e->state));
        bide__json_text(j, "text", bide__endpoint_state_text(e->state));
        bide__json_count(j, "in_flight", e->in_flight);
        bide__json_count(j, "connections", e->connections);
        bide__json_count(j, "idle", e->idle);
        bide__json_count(j, "http2", e->http2);
        bide__json_count(j, "requests", e->requests);
        bide__json_count(j, "failures", e->failures);
        bide__json_count(j, "retries", e->retries);
        bide__json_end(j);
    }
    bide__json_end(j);
}

static void count_endpoints(struct bide__json *j,
                            const struct bide__observed *w,
                            const char *upstream)
{
    uint64_t up = 0, all = 0;
    for (size_t i = 0; i < w->n_endpoints; i++) {
        const struct bide__observed_endpoint *e = &w->endpoints[i];
        if (strcmp(e->upstream, upstream) != 0)
            continue;
        up += bide__endpoint_is_up(e);
        all++;
    }
    bide__json_count(j, "endpoints_up", up);
    bide__json_count(j, "endpoints_all", all);
}

static void put_routes(struct bide__json *j, const struct bide__observed *w,
                       const char *dep)
{
    bide__json_list(j, "routes");
    for (size_t i = 0; i < w->n_routes; i++) {
        const struct bide__observed_route *r = &w->routes[i];
        if (strcmp(r->dep, dep) != 0)
            continue;
        bide__json_object(j, NULL);
        bide__json_text(j, "name", r->name);
        bide__json_count(j, "requests", r->requests);
        bide__json_count(j, "retries", r->retries);
        bide__json_end(j);
    }
    bide__json_end(j);
}

static void put_second(struct bide__json *j, const struct bide__view *view,
                       const char *name)
{
    const struct bide__track *t =
        view->history ? bide__history_find(view->history, name) : NULL;
    if (t && bide__track_samples(t))
        bide__view_sample(j, "second", view, bide__track_sample(t, 0));
    else
        bide__json_null(j, "second");
}

/* Begins an object with what is written of every dependency. */
static void begin(struct part *p, const struct bide__view *view,
                  const struct bide__observed_dep *d, bide_stats *stats)
{
    struct bide__condition h = bide__condition_of(view, d);

    bide__observed_stats(d, p->now_ns, stats);
    p->s = stats;
    bide__json_object(p->j, NULL);
    bide__json_text(p->j, "name", d->name);
    bide__json_text(p->j, "policy", d->policy);
    bide__json_flag(p->j, "faults", d->faults);
    bide__json_flag(p->j, "retries_on", stats->retries_on);
    bide__json_text(p->j, "mood", bide__mood_name(h.mood));
    bide__json_text(p->j, "why", h.why);
}

void bide__view_dep(struct bide__json *j, const struct bide__view *view,
                    const struct bide__observed_dep *d)
{
    bide_stats stats;
    struct part p = { j, NULL, bide_dep_policy(d->dep), d->dep, view->now_ns };

    begin(&p, view, d, &stats);
    put_counts(&p);
    put_hedges(&p);
    put_breaker(&p);
    put_budget(&p);
    put_fleet(&p);
    put_limits(&p);
    bide__view_rules(j, p.conf);
    put_histograms(&p);
    put_second(j, view, d->name);
    put_endpoints(j, view->observed, d->upstream);
    put_routes(j, view->observed, d->name);
    bide__json_end(j);
}

void bide__view_brief(struct bide__json *j, const struct bide__view *view,
                      const struct bide__observed_dep *d)
{
    bide_stats stats;
    struct part p = { j, NULL, bide_dep_policy(d->dep), d->dep, view->now_ns };

    begin(&p, view, d, &stats);
    bide__json_flag(j, "brief", true);
    begin_breaker(&p);
    bide__json_end(j);
    put_budget(&p);
    put_fleet(&p);
    put_second(j, view, d->name);
    count_endpoints(j, view->observed, d->upstream);
    bide__json_end(j);
}
