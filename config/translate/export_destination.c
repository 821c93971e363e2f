/* export_destination.c: the DestinationRule of a policy: breaker, budget,
 * limits.
 *
 * Istio has a part of Envoy's outlier detection: hosts are ejected for
 * consecutive failures, never for a rate. A rule that would be empty is not
 * written. */
#include <math.h>

#include "config/field/value.h"
#include "config/policy/write_policy.h"
#include "config/translate/export_istio.h"
#include "config/translate/mesh.h"

static void tell_breaker(struct bide__translation *t, uint32_t errors)
{
    static const char rate[] = "hosts are ejected for failures in a row only";
    static const char *const quiet[] = { "breaker.slow_rate",
                                         "breaker.window_calls", NULL };
    static const char once[] = "a host comes back with its full traffic";
    const bide_breaker_conf *b = &t->conf->breaker;
    bool adds_nothing = b->failure_rate >= 1 && b->consecutive > 0 &&
                        b->min_calls >= b->consecutive;

    bide__approximated(t, "breaker.kind",
                       "single hosts are ejected, not the whole service",
                       "outlierDetection");
    bide__kept(t, "breaker.consecutive");
    bide__kept(t, "breaker.failure_rate");
    bide__kept(t, "breaker.min_calls");
    if (!adds_nothing && b->consecutive > 0) {
        bide__lost(t, "breaker.failure_rate", rate);
        bide__lost(t, "breaker.min_calls", rate);
    } else if (!adds_nothing) {
        bide__approximated(t, "breaker.failure_rate", rate,
                           "consecutive5xxErrors %lu", (unsigned long)errors);
        bide__approximated(t, "breaker.min_calls", rate,
                           "consecutive5xxErrors %lu", (unsigned long)errors);
    }
    if (b->slow_ns != BIDE_FOREVER)
        bide__lost(t, "breaker.slow", rate);
    bide__lost(t, "breaker.slow_rate", rate);
    bide__lost(t, "breaker.window_calls", rate);
    bide__quietly(t, quiet);
    bide__lost(t, "breaker.probes", once);
    if (b->probe_failure_rate > 0)
        bide__lost(t, "breaker.probe_failure_rate", once);
}

static void tell_ejection(struct bide__translation *t)
{
    const bide_breaker_conf *b = &t->conf->breaker;
    int64_t longest_ns =
        b->open_ns > 5 * BIDE_MINUTE ? b->open_ns : 5 * BIDE_MINUTE;

    bide__kept(t, "breaker.open_jitter");
    if (b->open_jitter > 0)
        bide__lost(t, "breaker.open_jitter", "ejections are not spread");
    bide__approximated(t, "breaker.open_factor",
                       "each further ejection is longer by baseEjectionTime",
                       "linear growth");
    bide__kept(t, "breaker.open_max");
    if (b->open_max_ns != longest_ns)
        bide__lost(t, "breaker.open_max",
                   "an ejection lasts at most 5m, or baseEjectionTime");
}

/* As many consecutive failures as would open the breaker among its minimum
 * number of calls. */
static uint32_t failures_in_a_row(const bide_breaker_conf *b)
{
    double failures = ceil(b->failure_rate * b->min_calls);

    if (b->consecutive > 0)
        return b->consecutive;
    return failures < 1 ? 1 : (uint32_t)failures;
}

static bool has_breaker(struct bide__translation *t)
{
    static const char forced[] = "a service cannot be held closed to calls";
    static const char dry[] = "it cannot count without ejecting";
    const bide_breaker_conf *b = &t->conf->breaker;

    bide__kept(t, "breaker.kind");
    bide__kept(t, "breaker.mode");
    if (b->kind == BIDE_BREAKER_OFF || b->mode == BIDE_BREAKER_FORCED_CLOSED)
        return false;
    if (b->mode == BIDE_BREAKER_NORMAL)
        return true;
    bide__lost(t, "breaker.kind",
               b->mode == BIDE_BREAKER_DRY_RUN ? dry : forced);
    bide__lost(t, "breaker.mode",
               b->mode == BIDE_BREAKER_DRY_RUN ? dry : forced);
    return false;
}

static void outliers(struct bide__translation *t, FILE *out)
{
    const bide_breaker_conf *b = &t->conf->breaker;
    uint32_t errors = failures_in_a_row(b);

    tell_breaker(t, errors);
    tell_ejection(t);
    fprintf(out, "    outlierDetection:\n      consecutive5xxErrors: %lu\n",
            (unsigned long)errors);
    bide__istio_duration(t, out, "breaker.window", "      interval",
                         b->kind == BIDE_BREAKER_TIME ? b->window_ns
                                                      : 10 * BIDE_SECOND);
    bide__istio_duration(t, out, "breaker.open", "      baseEjectionTime",
                         b->open_ns);
    fprintf(out, "      maxEjectionPercent: 100\n");
}

static void budget(const struct bide__mesh *m, struct bide__translation *t,
                   FILE *out)
{
    uint32_t min = m->budget_min > 0 ? m->budget_min : 3;
    char digits[40];

    if (m->budget_min == 0)
        bide__approximated(t, "budget.min_in_flight",
                           "0 is taken for the default", "3");
    fprintf(out,
            "    retryBudget:\n      percent: %s\n"
            "      minRetryConcurrency: %lu\n",
            bide__format_number(m->budget_percent, digits, sizeof digits),
            (unsigned long)min);
}

void bide__istio_rule(const struct bide__mesh *m, struct bide__translation *t,
                      const struct bide__export_names *names, FILE *out)
{
    const bide_limit_conf *l = &t->conf->limits;
    bool breaker = has_breaker(t);

    bide__kept(t, "limits.in_flight");
    bide__lost(t, "limits.queue",
               "requests over http2MaxRequests fail at once");
    if (l->queue == 0)
        bide__kept(t, "limits.queue");
    if (!breaker && !m->has_budget && l->in_flight == BIDE_UNLIMITED)
        return;
    fprintf(out, "---\n");
    bide__istio_head("DestinationRule", names, out);
    fprintf(out, "  host: ");
    bide__write_yaml_text(out, names->host);
    fprintf(out, "\n  trafficPolicy:\n");
    if (l->in_flight != BIDE_UNLIMITED)
        fprintf(out,
                "    connectionPool:\n      http:\n"
                "        http2MaxRequests: %lu\n",
                (unsigned long)l->in_flight);
    if (m->has_budget)
        budget(m, t, out);
    if (breaker)
        outliers(t, out);
}
