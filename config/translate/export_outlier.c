/* export_outlier.c: a breaker as Envoy's outlier detection.
 *
 * This is the nearest equivalent, but not the same: Envoy ejects single hosts
 * from a cluster and readmits them after a time, whereas bide stops calling a
 * dependency and probes it. All five of Envoy's detectors are set; those
 * without a counterpart are disabled. */
#include <math.h>

#include "base/json.h"
#include "config/translate/export_envoy.h"
#include "config/translate/translate_value.h"

/* ===== losses and approximations ===== */

static void tell_shape(struct bide__translation *t)
{
    static const char slow[] = "it does not look at how long an answer took";
    static const char *const quiet[] = { "breaker.slow_rate",
                                         "breaker.window_calls", NULL };
    static const char probes[] = "a host comes back with its full traffic";
    const bide_breaker_conf *b = &t->conf->breaker;

    bide__approximated(t, "breaker.kind",
                       "single hosts are ejected, not the whole cluster",
                       "outlier_detection");
    bide__lost(t, "breaker.window_calls", "failures are counted per interval");
    if (b->slow_ns != BIDE_FOREVER)
        bide__lost(t, "breaker.slow", slow);
    bide__lost(t, "breaker.slow_rate", slow);
    bide__quietly(t, quiet);
    bide__approximated(t, "breaker.open_factor",
                       "each further ejection is longer by base_ejection_time",
                       "linear growth");
    bide__lost(t, "breaker.probes", probes);
    if (b->probe_failure_rate > 0)
        bide__lost(t, "breaker.probe_failure_rate", probes);
}

static void tell_numbers(struct bide__translation *t, unsigned percent)
{
    static const char *const kept[] = {
        "breaker.window",   "breaker.min_calls",   "breaker.failure_rate",
        "breaker.open",     "breaker.consecutive", "breaker.open_jitter",
        "breaker.open_max", "breaker.mode"
    };

    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        bide__kept(t, kept[i]);
    if (fabs(percent / 100.0 - t->conf->breaker.failure_rate) > 1e-9)
        bide__approximated(t, "breaker.failure_rate",
                           "a threshold is a whole percentage", "%u %%",
                           percent);
}

/* ===== the fields ===== */

static void detectors(const bide_breaker_conf *b, unsigned percent,
                      struct bide__json *j)
{
    int64_t enforce = b->mode == BIDE_BREAKER_DRY_RUN ? 0 : 100;

    if (b->consecutive > 0)
        bide__json_integer(j, "consecutive_5xx", b->consecutive);
    bide__json_integer(j, "enforcing_consecutive_5xx",
                       b->consecutive > 0 ? enforce : 0);
    bide__json_integer(j, "enforcing_success_rate", 0);
    bide__json_integer(j, "failure_percentage_threshold", percent);
    bide__json_integer(j, "enforcing_failure_percentage", enforce);
    bide__json_integer(j, "enforcing_failure_percentage_local_origin", enforce);
    bide__json_integer(j, "failure_percentage_minimum_hosts", 1);
    bide__json_integer(j, "failure_percentage_request_volume", b->min_calls);
}

/* A share of a time in whole milliseconds, the resolution of Envoy. */
static int64_t share(int64_t ns, double ratio)
{
    return (int64_t)((double)ns * ratio) / BIDE_MILLISECOND * BIDE_MILLISECOND;
}

static void ejection(const bide_breaker_conf *b, struct bide__json *j)
{
    bide__put_proto_duration(j, "interval",
                             b->kind == BIDE_BREAKER_TIME ? b->window_ns
                                                          : 10 * BIDE_SECOND);
    bide__put_proto_duration(j, "base_ejection_time", b->open_ns);
    bide__put_proto_duration(j, "max_ejection_time",
                             b->open_max_ns > b->open_ns ? b->open_max_ns
                                                         : b->open_ns);
    bide__put_proto_duration(j, "max_ejection_time_jitter",
                             share(b->open_ns, b->open_jitter));
    bide__json_integer(j, "max_ejection_percent", 100);
}

void bide__envoy_outliers(struct bide__translation *t, struct bide__json *j)
{
    static const char forced[] = "a cluster cannot be held closed to calls";
    const bide_breaker_conf *b = &t->conf->breaker;
    unsigned percent = (unsigned)ceil(b->failure_rate * 100 - 1e-9);

    bide__kept(t, "breaker.kind");
    bide__kept(t, "breaker.mode");
    if (b->kind == BIDE_BREAKER_OFF || b->mode == BIDE_BREAKER_FORCED_CLOSED)
        return;
    if (b->mode == BIDE_BREAKER_FORCED_OPEN) {
        bide__lost(t, "breaker.kind", forced);
        bide__lost(t, "breaker.mode", forced);
        return;
    }
    tell_shape(t);
    tell_numbers(t, percent);
    bide__json_object(j, "outlier_detection");
    detectors(b, percent, j);
    ejection(b, j);
    bide__json_end(j);
}
