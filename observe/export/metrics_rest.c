/* Metrics that do not belong to a dependency: its endpoints, the program's own,
 * and the bounds of all histograms. */
#include "observe/export/metrics.h"

#include <string.h>

static uint64_t is_up(const struct bide__observed_endpoint *e)
{
    return bide__endpoint_is_up(e);
}

#define ONE(name, field)                                                       \
    static uint64_t name(const struct bide__observed_endpoint *e)              \
    {                                                                          \
        return e->field;                                                       \
    }

ONE(in_flight_of, in_flight)
ONE(connections_of, connections)
ONE(idle_of, idle)
ONE(http2_of, http2)
ONE(requests_of, requests)
ONE(failures_of, failures)
ONE(retries_of, retries)

/* clang-format off */
static const struct {
    struct bide__metric metric;
    uint64_t (*get)(const struct bide__observed_endpoint *e);
} families[] = {
    { { "bide_endpoint_up", BIDE__METRIC_GAUGE, "1",
        "1 if the endpoint receives requests, 0 if it is ejected." }, is_up },
    { { "bide_endpoint_in_flight", BIDE__METRIC_GAUGE, "{attempt}",
        "Attempts in flight at the endpoint." }, in_flight_of },
    { { "bide_endpoint_connections", BIDE__METRIC_GAUGE, "{connection}",
        "Open connections to the endpoint." }, connections_of },
    { { "bide_endpoint_idle_connections", BIDE__METRIC_GAUGE, "{connection}",
        "Idle connections to the endpoint in the pool." }, idle_of },
    { { "bide_endpoint_http2_connections", BIDE__METRIC_GAUGE, "{connection}",
        "Open connections to the endpoint that speak HTTP/2." }, http2_of },
    { { "bide_endpoint_requests_total", BIDE__METRIC_COUNTER, "{attempt}",
        "Attempts sent to the endpoint." }, requests_of },
    { { "bide_endpoint_failures_total", BIDE__METRIC_COUNTER, "{attempt}",
        "Attempts at the endpoint that failed." }, failures_of },
    { { "bide_endpoint_retries_total", BIDE__METRIC_COUNTER, "{attempt}",
        "Attempts sent to the endpoint that were retries." }, retries_of },
};
/* clang-format on */

static struct bide__number whole(uint64_t n)
{
    return (struct bide__number){ true, n, (double)n };
}

static void walk_endpoints(const struct bide__observed *w,
                           const struct bide__metric_sink *sink)
{
    enum { N = sizeof families / sizeof families[0] };
    for (size_t f = 0; f < N && w->n_endpoints; f++) {
        const struct bide__metric *m = &families[f].metric;
        sink->begin(sink->ctx, m);
        for (size_t i = 0; i < w->n_endpoints; i++) {
            const struct bide__observed_endpoint *e = &w->endpoints[i];
            struct bide__label labels[] = { { "upstream", e->upstream },
                                            { "endpoint", e->address } };
            sink->number(sink->ctx, m, labels, 2, whole(families[f].get(e)));
        }
        sink->end(sink->ctx, m);
    }
}

static uint64_t route_requests(const struct bide__observed_route *r)
{
    return r->requests;
}

static uint64_t route_retries(const struct bide__observed_route *r)
{
    return r->retries;
}

/* clang-format off */
static const struct {
    struct bide__metric metric;
    uint64_t (*get)(const struct bide__observed_route *r);
} route_families[] = {
    { { "bide_route_requests_total", BIDE__METRIC_COUNTER, "{request}",
        "Requests that the route took." }, route_requests },
    { { "bide_route_retries_total", BIDE__METRIC_COUNTER, "{retry}",
        "Retries of requests that the route took." }, route_retries },
};
/* clang-format on */

static void walk_routes(const struct bide__observed *w,
                        const struct bide__metric_sink *sink)
{
    enum { N = sizeof route_families / sizeof route_families[0] };
    for (size_t f = 0; f < N && w->n_routes; f++) {
        const struct bide__metric *m = &route_families[f].metric;
        sink->begin(sink->ctx, m);
        for (size_t i = 0; i < w->n_routes; i++) {
            const struct bide__observed_route *r = &w->routes[i];
            struct bide__label labels[] = { { "dep", r->dep },
                                            { "route", r->name } };
            sink->number(sink->ctx, m, labels, 2,
                         whole(route_families[f].get(r)));
        }
        sink->end(sink->ctx, m);
    }
}

static bool same_family(const struct bide__observed *w, size_t i, size_t j)
{
    return j < w->n_values && strcmp(w->values[i].name, w->values[j].name) == 0;
}

static void walk_values(const struct bide__observed *w,
                        const struct bide__metric_sink *sink)
{
    for (size_t i = 0; i < w->n_values; i++) {
        const struct bide__observed_value *v = &w->values[i];
        struct bide__metric m = { v->name,
                                  v->kind == BIDE__VALUE_COUNTER
                                      ? BIDE__METRIC_COUNTER
                                      : BIDE__METRIC_GAUGE,
                                  "1", v->help };
        struct bide__label label = { v->label, v->label_value };
        if (i == 0 || !same_family(w, i, i - 1))
            sink->begin(sink->ctx, &m);
        sink->number(sink->ctx, &m, &label, v->label != NULL,
                     (struct bide__number){ false, 0, v->value });
        if (!same_family(w, i, i + 1))
            sink->end(sink->ctx, &m);
    }
}

void bide__metrics_rest(const struct bide__observed *observed,
                        const struct bide__metric_sink *sink)
{
    walk_endpoints(observed, sink);
    walk_routes(observed, sink);
    walk_values(observed, sink);
}

/* ===== bounds ===== */

enum { STEP = 4, FIRST_BUCKET = 5 * STEP };

int64_t bide__metric_bound_ns(unsigned i)
{
    return bide_bucket_ns(FIRST_BUCKET + i * STEP);
}

void bide__metric_buckets(const bide_histogram *h,
                          uint64_t counts[BIDE__METRIC_BOUNDS + 1])
{
    memset(counts, 0, (BIDE__METRIC_BOUNDS + 1) * sizeof counts[0]);
    for (unsigned b = 0; b < BIDE_N_BUCKETS; b++) {
        unsigned i = b < FIRST_BUCKET ? 0 : (b - FIRST_BUCKET) / STEP + 1;
        counts[i < BIDE__METRIC_BOUNDS ? i : BIDE__METRIC_BOUNDS] +=
            h->bucket[b];
    }
}
