/* export_envoy.c: a policy as parts of an Envoy configuration (API v3), in
 * JSON.
 *
 * `route` is a RouteAction, `cluster` a Cluster, each with only the fields that
 * a policy determines; field names are those of the protobuf files. Where Envoy
 * has a default limit (3 retries at once, 1024 requests, 15 s), the absence of
 * a limit is written explicitly. */
#include "config/translate/export_envoy.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "config/policy/retry_set.h"
#include "config/translate/mesh.h"
#include "config/translate/translate_value.h"

static const int64_t no_limit = UINT32_MAX;

/* ===== retry_policy ===== */

/* Envoy treats shorter intervals as 1 ms. */
static void interval(struct bide__translation *t, struct bide__json *j,
                     const char *option, const char *key, int64_t ns)
{
    bide__kept(t, option);
    if (ns < BIDE_MILLISECOND) {
        ns = BIDE_MILLISECOND;
        bide__approximated(t, option, "an interval is 1ms or more", "1ms");
    }
    bide__put_proto_duration(j, key, ns);
}

static void back_off(struct bide__translation *t, struct bide__json *j)
{
    const bide_backoff *b = &t->conf->backoff;

    bide__mesh_shape(t);
    bide__json_object(j, "retry_back_off");
    if (t->conf->hedge.max > 0) { /* the next hedge goes out at once */
        bide__put_proto_duration(j, "base_interval", BIDE_MILLISECOND);
        bide__put_proto_duration(j, "max_interval", BIDE_MILLISECOND);
    } else {
        interval(t, j, "backoff.base", "base_interval", b->base_ns);
        interval(t, j, "backoff.cap", "max_interval", b->cap_ns);
    }
    bide__json_end(j);
}

static void reset_header(struct bide__json *j, const char *name,
                         const char *format)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "name", name);
    bide__json_text(j, "format", format);
    bide__json_end(j);
}

static void tell_hints(struct bide__translation *t)
{
    const bide_retry_after_conf *r = &t->conf->retry_after;

    if (r->mode != BIDE_HINT_REPLACE)
        bide__lost(t, "retry_after.mode", "a hint replaces the wait");
    bide__approximated(t, "retry_after.max",
                       "over it the hint is passed over, and the call goes on",
                       "max_interval");
    bide__kept(t, "retry_after.jitter");
    if (fabs(r->jitter - 0.5) > 1e-9)
        bide__approximated(t, "retry_after.jitter",
                           "a hint is always lengthened by up to half of it",
                           "50 %%");
    if (r->then != BIDE_THEN_CONTINUE)
        bide__lost(t, "retry_after.then",
                   "after a hint the waits go on growing");
    if (r->throttled_without_hint != BIDE_UNHINTED_BACKOFF)
        bide__lost(t, "retry_after.throttled_without_hint",
                   "what is retried with a hint is retried without one");
}

/* An interval cannot be "none"; ten years serve as well. */
static void hints(struct bide__translation *t, struct bide__json *j)
{
    const int64_t ten_years = INT64_C(315360000) * BIDE_SECOND;
    int64_t max_ns = t->conf->retry_after.max_ns;

    tell_hints(t);
    if (max_ns == 0) {
        bide__lost(t, "retry_after.max",
                   "max_interval must be over 0, so hints "
                   "are not read at all");
        return;
    }
    bide__json_object(j, "rate_limited_retry_back_off");
    bide__json_list(j, "reset_headers");
    reset_header(j, "Retry-After", "SECONDS");
    reset_header(j, "RateLimit-Reset", "SECONDS");
    reset_header(j, "X-RateLimit-Reset", "UNIX_TIMESTAMP");
    bide__json_end(j);
    bide__put_proto_duration(j, "max_interval",
                             max_ns < ten_years ? max_ns : ten_years);
    bide__json_end(j);
}

/* Retries only requests that may be sent twice: one of these must match. */
static void only_idempotent(struct bide__json *j)
{
    bide__json_list(j, "retriable_request_headers");
    bide__json_object(j, NULL);
    bide__json_text(j, "name", ":method");
    bide__json_object(j, "string_match");
    bide__json_object(j, "safe_regex");
    bide__json_text(j, "regex", "GET|HEAD|OPTIONS|TRACE|PUT|DELETE");
    bide__json_end(j);
    bide__json_end(j);
    bide__json_end(j);
    bide__json_object(j, NULL);
    bide__json_text(j, "name", "Idempotency-Key");
    bide__json_flag(j, "present_match", true);
    bide__json_end(j);
    bide__json_end(j);
}

static bool has_codes(const struct bide__mesh *m)
{
    for (unsigned s = 100; s <= 999; s++)
        if (bide__status_in(&m->retried, s) &&
            !(m->any_5xx && s >= 500 && s <= 599))
            return true;
    return false;
}

static void conditions(const struct bide__mesh *m, struct bide__translation *t,
                       struct bide__json *j)
{
    const char *list = m->conditions;

    if (!has_codes(m)) {
        bide__json_text(j, "retry_on", list);
        return;
    }
    list = bide__arena_printf(t->arena, "%s%sretriable-status-codes", list,
                              *list ? "," : "");
    t->no_memory = t->no_memory || !list;
    bide__json_text(j, "retry_on", list ? list : "");
    bide__json_list(j, "retriable_status_codes");
    for (unsigned s = 100; s <= 999; s++)
        if (bide__status_in(&m->retried, s) &&
            !(m->any_5xx && s >= 500 && s <= 599))
            bide__json_integer(j, NULL, s);
    bide__json_end(j);
}

static void retry_policy(const struct bide__mesh *m,
                         struct bide__translation *t, struct bide__json *j,
                         uint32_t retries, int64_t try_timeout_ns)
{
    bide__json_object(j, "retry_policy");
    conditions(m, t, j);
    bide__json_integer(j, "num_retries", retries);
    if (try_timeout_ns != BIDE_FOREVER)
        bide__put_proto_duration(j, "per_try_timeout", try_timeout_ns);
    back_off(t, j);
    hints(t, j);
    only_idempotent(j);
    bide__json_end(j);
}

/* ===== hedging ===== */

static bool can_hedge(struct bide__translation *t)
{
    static const char why[] =
        "hedges go out after a fixed per_try_timeout; set "
        "hedge.after to one";
    const bide_hedge_conf *h = &t->conf->hedge;

    if (h->after_ns != BIDE_FOREVER && h->after_ns > 0)
        return true;
    bide__lost(t, "hedge.max", why);
    bide__lost(t, "hedge.after", why);
    bide__lost(t, "hedge.quantile", why);
    bide__lost(t, "attempt_timeout", "only a route that retries has one");
    return false;
}

/* When a try times out, the next one is sent, and the first continues. */
static bool hedge(const struct bide__mesh *m, struct bide__translation *t,
                  struct bide__json *j)
{
    const bide_hedge_conf *h = &t->conf->hedge;

    if (!can_hedge(t))
        return false;
    bide__kept(t, "hedge.max");
    bide__kept(t, "hedge.after");
    if (h->extra_load < h->max) {
        static const char why[] = "only the retry budget limits hedges";

        bide__lost(t, "hedge.extra_load", why);
        bide__lost(t, "hedge.window", why);
    }
    if (t->conf->attempt_timeout_ns != BIDE_FOREVER)
        bide__lost(t, "attempt_timeout",
                   "per_try_timeout is when a hedge is sent");
    retry_policy(m, t, j, h->max, h->after_ns);
    bide__json_object(j, "hedge_policy");
    bide__json_flag(j, "hedge_on_per_try_timeout", true);
    bide__json_end(j);
    return true;
}

/* ===== route and cluster ===== */

/* Returns whether it will retry or hedge. */
static bool route(const struct bide__mesh *m, struct bide__translation *t,
                  const struct bide__export_names *names, struct bide__json *j)
{
    const bide_policy_conf *c = t->conf;
    int64_t timeout_ns = bide__call_timeout(t);
    bool repeats = c->attempts > 1;

    bide__json_object(j, "route");
    bide__json_text(j, "cluster", names->host);
    bide__put_proto_duration(j, "timeout",
                             timeout_ns == BIDE_FOREVER ? 0 : timeout_ns);
    bide__kept(t, "attempts");
    bide__kept(t, "attempt_timeout");
    if (c->hedge.max > 0)
        repeats = hedge(m, t, j);
    else if (repeats)
        retry_policy(m, t, j, c->attempts - 1, c->attempt_timeout_ns);
    bide__json_end(j);
    return repeats;
}

static void thresholds(const struct bide__mesh *m, struct bide__translation *t,
                       struct bide__json *j)
{
    uint32_t in_flight = t->conf->limits.in_flight;

    bide__kept(t, "limits.in_flight");
    bide__lost(t, "limits.queue", "requests over max_requests fail at once");
    if (t->conf->limits.queue == 0)
        bide__kept(t, "limits.queue");
    bide__json_object(j, "circuit_breakers");
    bide__json_list(j, "thresholds");
    bide__json_object(j, NULL);
    bide__json_integer(j, "max_requests",
                       in_flight == BIDE_UNLIMITED ? no_limit : in_flight);
    if (m->has_budget) {
        bide__json_object(j, "retry_budget");
        bide__json_object(j, "budget_percent");
        bide__json_number(j, "value", m->budget_percent);
        bide__json_end(j);
        bide__json_integer(j, "min_retry_concurrency", m->budget_min);
        bide__json_end(j);
    } else {
        bide__json_integer(j, "max_retries", no_limit);
    }
    bide__json_end(j);
    bide__json_end(j);
    bide__json_end(j);
}

void bide__export_envoy(struct bide__translation *t,
                        const struct bide__export_names *names, FILE *out)
{
    struct bide__mesh m;
    struct bide__json j;
    bool repeats;

    bide__mesh_plan(&m, t);
    bide__json_init(&j, out, true);
    bide__json_object(&j, NULL);
    repeats = route(&m, t, names, &j);
    if (!repeats)
        bide__mesh_no_budget(&m, t);
    bide__json_object(&j, "cluster");
    bide__json_text(&j, "name", names->host);
    thresholds(&m, t, &j);
    bide__envoy_outliers(t, &j);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
    if (repeats)
        bide__caveat(t, "only requests that are idempotent or carry an "
                        "Idempotency-Key are retried; bide also repeats others "
                        "that were never sent");
}
