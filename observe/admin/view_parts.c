/* Samples, decisions, and the settings of a dependency. */
#include "observe/admin/view_parts.h"

#include <string.h>

#include "config/field/option_value.h"
#include "observe/admin/view.h"

static uint64_t wall_ms(const struct bide__view *v, int64_t at_ns)
{
    return (uint64_t)((at_ns + v->wall_offset_ns) / BIDE_MILLISECOND);
}

/* ===== a second ===== */

static void put_quantile(struct bide__json *j, const char *key, float ms)
{
    if (ms < 0)
        bide__json_null(j, key);
    else
        bide__json_number(j, key,
                          (double)(int64_t)((double)ms * 1000 + 0.5) / 1000);
}

void bide__view_sample(struct bide__json *j, const char *key,
                        const struct bide__view *view,
                        const struct bide__sample *s)
{
    bide__json_object(j, key);
    bide__json_count(j, "at_ms", wall_ms(view, s->at_ns));
    bide__json_number(j, "seconds", (double)(int)(s->seconds * 1000) / 1000);
    bide__json_count(j, "first", s->first);
    bide__json_count(j, "late", s->late);
    bide__json_object(j, "refused");
    for (unsigned r = BIDE_BECAUSE_CANCELLED; r < BIDE__DONE_REASONS; r++)
        if (s->refused[r])
            bide__json_count(j, bide_reason_name(r), s->refused[r]);
    bide__json_end(j);
    bide__json_count(j, "attempts", s->attempts);
    bide__json_count(j, "backoff", s->backoff);
    bide__json_count(j, "hint", s->hint);
    bide__json_count(j, "immediate", s->immediate);
    bide__json_count(j, "hedges", s->hedges);
    bide__json_count(j, "hedges_won", s->hedges_won);
    bide__json_number(j, "budget", (double)s->budget);
    bide__json_text(j, "breaker", bide_breaker_state_name(s->breaker));
    put_quantile(j, "p50_call_ms", s->p50_call_ms);
    put_quantile(j, "p99_call_ms", s->p99_call_ms);
    put_quantile(j, "p50_attempt_ms", s->p50_attempt_ms);
    put_quantile(j, "p99_attempt_ms", s->p99_attempt_ms);
    bide__json_end(j);
}

/* ===== a decision ===== */

static void put_outcome(struct bide__json *j, const struct bide__event *e)
{
    bide__json_text(j, "class", bide_class_name(e->cls));
    if (e->status)
        bide__json_count(j, "status", e->status);
    if (e->http2)
        bide__json_text(j, "protocol", "HTTP/2");
    if (e->grpc)
        bide__json_text(j, "grpc_status", bide_grpc_name(e->grpc - 1));
    if (e->fault != BIDE_FAULT_NONE)
        bide__json_text(j, "fault", bide_fault_name(e->fault));
    if (e->hinted)
        bide__json_ms(j, "hint_ms", e->hint_ns);
    bide__json_flag(j, "not_processed", e->not_processed);
}

void bide__view_decision(struct bide__json *j, const struct bide__view *view,
                          const struct bide__entry *entry)
{
    static const char *const actions[] = { "try", "wait", "done" };
    const struct bide__event *e = &entry->event;

    bide__json_object(j, NULL);
    bide__json_count(j, "id", entry->id);
    bide__json_count(j, "times", entry->times);
    bide__json_count(j, "at_ms", wall_ms(view, e->end_ns));
    bide__json_text(j, "dep", bide__event_get(e, BIDE__DEP));
    bide__json_text(j, "operation", bide__event_get(e, BIDE__OPERATION));
    bide__json_text(j, "request_id", bide__event_get(e, BIDE__REQUEST_ID));
    bide__json_text(j, "endpoint", bide__event_get(e, BIDE__ENDPOINT));
    bide__json_count(j, "attempt", e->attempt);
    bide__json_count(j, "attempts", e->attempts);
    bide__json_text(j, "why", bide_reason_name(e->why));
    put_outcome(j, e);
    bide__json_text(j, "action", actions[e->action]);
    bide__json_text(j, "reason", bide_reason_name(e->reason));
    bide__json_text(j, "text", bide_reason_text(e->reason));
    bide__json_ms(j, "value_ms", e->value_ns);
    bide__json_ms(j, "wait_ms", e->wait_ns);
    bide__json_ms(j, "computed_ms", e->computed_ns);
    bide__json_ms(j, "asked_ms", e->asked_ns);
    bide__json_ms(j, "slept_ms", e->slept_ns);
    bide__json_ms(j, "took_ms", e->end_ns - e->begin_ns);
    bide__json_ms(j, "elapsed_ms", e->elapsed_ns);
    bide__json_end(j);
}

/* ===== rules ===== */

/* The main settings, and those that differ from the defaults. */
static bool worth_telling(const bide_option *o, const bide_policy_conf *conf)
{
    static const char *const always[] = {
        "attempts",       "attempt_timeout",      "deadline",
        "backoff.base",   "backoff.factor",       "backoff.cap",
        "backoff.jitter", "budget.kind",          "budget.ratio",
        "breaker.kind",   "breaker.failure_rate", "breaker.open",
    };
    static const bide_policy_conf usual = BIDE_POLICY_CONF_INIT;

    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strcmp(o->key, always[i]) == 0)
            return true;
    return !bide__option_same(conf, &usual, o);
}

void bide__view_rules(struct bide__json *j, const bide_policy_conf *conf)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    char text[BIDE__VALUE_TEXT];

    bide__json_list(j, "rules");
    for (size_t i = 0; i < n; i++) {
        if (!worth_telling(&options[i], conf))
            continue;
        bide__json_list(j, NULL);
        bide__json_text(j, NULL, options[i].key);
        bide__json_text(
            j, NULL, bide__option_text(conf, &options[i], text, sizeof text));
        bide__json_text(j, NULL, options[i].help);
        bide__json_end(j);
    }
    bide__json_end(j);
}
