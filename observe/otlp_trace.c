/* Spans. The numbers are the fields of opentelemetry/proto/trace/v1. */
#include "otlp.h"

#include <stdio.h>
#include <string.h>

#include "bide/version.h"
#include "otlp_parts.h"

enum { SPAN_SERVER = 2, SPAN_CLIENT = 3, STATUS_ERROR = 2, ATTRIBUTES = 9 };

/* The first word of an operation, "GET"; *ret_rest is behind the blank. */
static const char *method_of(const struct bide__event *e, char method[16],
                             const char **ret_rest)
{
    size_t len = strcspn(e->operation, " ");
    *ret_rest = e->operation[len] ? e->operation + len + 1 : "";
    bide__event_text(method, 16, e->operation, len);
    return method;
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void put_text(struct bide__otlp *w, const char *key, const char *text)
{
    if (*text)
        bide__otlp_attribute(w, ATTRIBUTES, key, text);
}

static void put_int(struct bide__otlp *w, const char *key, int64_t n)
{
    bide__otlp_attribute_int(w, ATTRIBUTES, key, n);
}

static bool failed(const struct bide__event *e)
{
    return e->kind == BIDE__EVENT_CALL ? e->reason != BIDE_BECAUSE_SUCCESS
                                       : e->cls != BIDE_SUCCESS;
}

/* error.type: how it broke off, else the status, else the class. */
static void put_error(struct bide__otlp *w, const struct bide__event *e)
{
    char status[8];

    if (!failed(e))
        return;
    snprintf(status, sizeof status, "%u", (unsigned)e->status);
    put_text(w, "error.type",
             e->fault != BIDE_FAULT_NONE   ? bide_fault_name(e->fault)
             : e->status                   ? status
             : e->kind == BIDE__EVENT_CALL ? bide_reason_name(e->reason)
                                           : bide_class_name(e->cls));
}

static void put_common(struct bide__otlp *w, const struct bide__event *e)
{
    char method[16];
    const char *path;

    put_text(w, "http.request.method", method_of(e, method, &path));
    put_text(w, "url.path", path);
    if (e->status)
        put_int(w, "http.response.status_code", e->status);
    put_error(w, e);
    put_text(w, "bide.dependency", e->dep);
    put_text(w, "bide.request_id", e->request_id);
    put_text(w, "server.address", e->endpoint);
    bide__otlp_attribute_flag(w, ATTRIBUTES, "retry.budget_exhausted",
                              e->action == BIDE_DONE &&
                                  e->reason == BIDE_BECAUSE_BUDGET);
}

/* What it waited for, and what was decided after it. */
static void put_attempt(struct bide__otlp *w, const struct bide__event *e)
{
    put_int(w, "http.request.resend_count", (int64_t)e->attempt - 1);
    put_int(w, "retry.attempt", e->attempt);
    put_text(w, "retry.reason", bide_reason_name(e->why));
    bide__otlp_attribute_double(w, ATTRIBUTES, "retry.delay_ms",
                                ms(e->slept_ns));
    put_text(w, "bide.class", bide_class_name(e->cls));
    put_text(w, "bide.decision", bide_reason_name(e->reason));
    if (e->action == BIDE_WAIT)
        bide__otlp_attribute_double(w, ATTRIBUTES, "bide.next_wait_ms",
                                    ms(e->wait_ns));
    if (e->hinted)
        bide__otlp_attribute_double(w, ATTRIBUTES, "bide.hint_ms",
                                    ms(e->hint_ns));
}

static void put_call(struct bide__otlp *w, const struct bide__event *e)
{
    put_int(w, "bide.attempts", e->attempt);
    put_text(w, "bide.reason", bide_reason_name(e->reason));
    bide__otlp_attribute_double(w, ATTRIBUTES, "bide.slept_ms",
                                ms(e->slept_ns));
}

static void put_status(struct bide__otlp *w, const struct bide__event *e)
{
    if (!failed(e))
        return;
    bide__otlp_message(w, 15, "status");
    bide__otlp_text(w, 2, "message",
                    e->kind == BIDE__EVENT_CALL ? bide_reason_text(e->reason)
                                                : bide_class_name(e->cls));
    bide__otlp_enum(w, 3, "code", STATUS_ERROR);
    bide__otlp_end(w);
}

/* Few names for many paths: a method and a dependency, and that it is one of
 * several attempts is in the attributes. */
static void put_name(struct bide__otlp *w, const struct bide__event *e)
{
    char method[16], name[80];
    const char *rest;

    snprintf(name, sizeof name, "%s %s", method_of(e, method, &rest), e->dep);
    bide__otlp_text(w, 5, "name", name);
}

static void put_span(struct bide__otlp *w, const struct bide__otlp_source *from,
                     const struct bide__event *e)
{
    static const uint8_t none[8];
    bool call = e->kind == BIDE__EVENT_CALL;

    bide__otlp_message(w, 2, NULL);
    bide__otlp_id(w, 1, "traceId", e->trace.trace_id, 16);
    bide__otlp_id(w, 2, "spanId", e->trace.span_id, 8);
    if (memcmp(e->trace.parent_id, none, sizeof none) != 0)
        bide__otlp_id(w, 4, "parentSpanId", e->trace.parent_id, 8);
    put_name(w, e);
    bide__otlp_enum(w, 6, "kind", call ? SPAN_SERVER : SPAN_CLIENT);
    bide__otlp_fixed64(w, 7, "startTimeUnixNano",
                       (uint64_t)(e->begin_ns + from->wall_offset_ns));
    bide__otlp_fixed64(w, 8, "endTimeUnixNano",
                       (uint64_t)(e->end_ns + from->wall_offset_ns));
    bide__otlp_list(w, "attributes");
    put_common(w, e);
    if (call)
        put_call(w, e);
    else
        put_attempt(w, e);
    bide__otlp_end(w);
    put_status(w, e);
    bide__otlp_end(w);
}

void bide__otlp_open(struct bide__otlp *w, const struct bide__otlp_source *from,
                     const char *resources, const char *scopes)
{
    bide__otlp_begin(w);
    bide__otlp_list(w, resources);
    bide__otlp_message(w, 1, NULL);
    bide__otlp_message(w, 1, "resource");
    bide__otlp_list(w, "attributes");
    bide__otlp_attribute(w, 1, "service.name", from->service);
    if (from->instance)
        bide__otlp_attribute(w, 1, "service.instance.id", from->instance);
    bide__otlp_attribute(w, 1, "service.version", bide_version());
    bide__otlp_end(w);
    bide__otlp_end(w);
    bide__otlp_list(w, scopes);
    bide__otlp_message(w, 2, NULL);
    bide__otlp_message(w, 1, "scope");
    bide__otlp_text(w, 1, "name", "bide");
    bide__otlp_text(w, 2, "version", bide_version());
    bide__otlp_end(w);
}

void bide__otlp_close(struct bide__otlp *w)
{
    bide__otlp_end(w); /* the scope's */
    bide__otlp_end(w);
    bide__otlp_end(w); /* the resource's */
    bide__otlp_end(w);
    bide__otlp_finish(w);
}

void bide__otlp_spans(struct bide__out *out,
                      const struct bide__otlp_source *from, bool json,
                      const struct bide__event *events, size_t n)
{
    struct bide__otlp w = { .out = out, .json = json };

    bide__otlp_open(&w, from, "resourceSpans", "scopeSpans");
    bide__otlp_list(&w, "spans");
    for (size_t i = 0; i < n; i++)
        if (events[i].kind != BIDE__EVENT_BREAKER)
            put_span(&w, from, &events[i]);
    bide__otlp_end(&w);
    bide__otlp_close(&w);
}
