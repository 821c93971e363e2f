/* Spans. The numbers are the fields of opentelemetry/proto/trace/v1. */
#include "observe/export/otlp.h"

#include <stdio.h>
#include <string.h>

#include "bide/version.h"
#include "observe/export/otlp_known.h"
#include "observe/export/otlp_parts.h"
#include "observe/export/otlp_plain.h"

enum {
    SPAN_SERVER = 2,
    SPAN_CLIENT = 3,
    SPAN_CONSUMER = 5,
    STATUS_ERROR = 2,
    ATTRIBUTES = 9
};

/* The length of the first word of an operation, "GET"; *ret_rest is after the
 * blank. */
static size_t method_len(const struct bide__event *e, const char **ret_rest)
{
    const char *text = bide__event_get(e, BIDE__OPERATION);
    size_t all = e->len[BIDE__OPERATION];
    const char *blank = memchr(text, ' ', all);
    size_t len = blank ? (size_t)(blank - text) : all;

    *ret_rest = blank ? blank + 1 : "";
    return bide__event_fits(text, len, BIDE__METHOD);
}

static double ms(int64_t ns)
{
    return (double)ns / 1e6;
}

static void put_text(struct bide__otlp *w, const char *key, size_t key_len,
                     const char *text)
{
    if (text && *text)
        bide__otlp_attribute(w, ATTRIBUTES, key, key_len, text);
}

static void put_int(struct bide__otlp *w, const char *key, size_t key_len,
                    int64_t n)
{
    bide__otlp_attribute_int(w, ATTRIBUTES, key, key_len, n);
}

static bool failed(const struct bide__event *e)
{
    return e->kind == BIDE__EVENT_CALL ? e->reason != BIDE_BECAUSE_SUCCESS
                                       : e->cls != BIDE_SUCCESS;
}

/* error.type: the fault, else the status, else the class. A gRPC call that failed
 * has a status of HTTP too, which is 200. */
static void put_error(struct bide__otlp *w, const struct bide__event *e)
{
    char status[8];

    if (!failed(e))
        return;
    snprintf(status, sizeof status, "%u", (unsigned)e->status);
    put_text(w, BIDE__KEY("error.type"),
             e->fault != BIDE_FAULT_NONE   ? bide_fault_name(e->fault)
             : e->grpc > 1                 ? bide_grpc_name(e->grpc - 1)
             : e->status                   ? status
             : e->kind == BIDE__EVENT_CALL ? bide_reason_name(e->reason)
                                           : bide_class_name(e->cls));
}

/* ===== the common part ===== */

/* Only what is in a bide__known_key may be written here. */
static void put_method(struct bide__otlp *w, const struct bide__event *e)
{
    char method[BIDE__METHOD];
    const char *path;
    size_t len = method_len(e, &path);

    memcpy(method, bide__event_get(e, BIDE__OPERATION), len);
    method[len] = '\0';
    put_text(w, BIDE__KEY("http.request.method"), method);
}

static void put_common(struct bide__otlp *w, const struct bide__event *e)
{
    put_method(w, e);
    if (e->status)
        put_int(w, BIDE__KEY("http.response.status_code"), e->status);
    if (e->kind == BIDE__EVENT_CALL) {
        put_text(w, BIDE__KEY("bide.dependency"),
                 bide__event_get(e, BIDE__DEP));
        put_int(w, BIDE__KEY("bide.attempts"), e->attempt);
        put_text(w, BIDE__KEY("bide.reason"), bide_reason_name(e->reason));
        return;
    }
    put_text(w, BIDE__KEY("server.address"),
             bide__event_get(e, BIDE__ENDPOINT));
    put_int(w, BIDE__KEY("http.request.resend_count"), (int64_t)e->attempt - 1);
    put_int(w, BIDE__KEY("retry.attempt"), e->attempt);
    put_text(w, BIDE__KEY("retry.reason"), bide_reason_name(e->why));
    bide__otlp_attribute_flag(
        w, ATTRIBUTES, BIDE__KEY("retry.budget_exhausted"),
        e->action == BIDE_DONE && e->reason == BIDE_BECAUSE_BUDGET);
}

/* Few names for many paths: a method and a dependency; the attributes say which
 * of several attempts it is. A gRPC call is named by service and method, as
 * OpenTelemetry has it. */
static void put_name(struct bide__otlp *w, const struct bide__event *e)
{
    char name[BIDE__METHOD + BIDE__DEP_NAME];
    const char *rest;
    size_t len = method_len(e, &rest);

    if (e->rpc && *rest) {
        bide__otlp_text(w, 5, "name", rest + 1);
        return;
    }
    memcpy(name, bide__event_get(e, BIDE__OPERATION), len);
    name[len] = ' ';
    memcpy(name + len + 1, bide__event_get(e, BIDE__DEP),
           e->len[BIDE__DEP] + 1u);
    bide__otlp_text(w, 5, "name", name);
}

/* Name, kind and the first attributes; more of those may follow. In protobuf a
 * list is just its elements, one by one. */
static void put_known(struct bide__otlp *w, const struct bide__event *e,
                      struct bide__otlp_known *known)
{
    struct bide__known_part *part = NULL;
    struct bide__known_key key;
    const char *rest;
    size_t at = w->out->len;

    if (known && !w->json && !e->rpc) {
        bide__known_key(&key, e, method_len(e, &rest));
        part = bide__known_find(known, &key);
    }
    if (part && part->len) {
        bide__out_bytes(w->out, part->data, part->len);
        bide__otlp_list(w, "attributes");
        return;
    }
    put_name(w, e);
    bide__otlp_enum(w, 6, "kind",
                    e->kind == BIDE__EVENT_CALL ? SPAN_SERVER : SPAN_CLIENT);
    bide__otlp_list(w, "attributes");
    put_common(w, e);
    if (part && !w->out->failed)
        bide__known_keep(part, &key, w->out->data + at, w->out->len - at);
}

/* ===== the individual part ===== */

/* The wait before it, and the decision after it. */
static void put_attempt(struct bide__otlp *w, const struct bide__event *e)
{
    bide__otlp_attribute_double(w, ATTRIBUTES, BIDE__KEY("retry.delay_ms"),
                                ms(e->slept_ns));
    if (e->cls == BIDE_SUCCESS)
        return; /* there was nothing to decide */
    put_text(w, BIDE__KEY("bide.class"), bide_class_name(e->cls));
    put_text(w, BIDE__KEY("bide.decision"), bide_reason_name(e->reason));
    if (e->action == BIDE_WAIT)
        bide__otlp_attribute_double(
            w, ATTRIBUTES, BIDE__KEY("bide.next_wait_ms"), ms(e->wait_ns));
    if (e->hinted)
        bide__otlp_attribute_double(w, ATTRIBUTES, BIDE__KEY("bide.hint_ms"),
                                    ms(e->hint_ns));
}

static void put_call(struct bide__otlp *w, const struct bide__event *e)
{
    put_text(w, BIDE__KEY("bide.request_id"),
             bide__event_get(e, BIDE__REQUEST_ID));
    if (e->slept_ns)
        bide__otlp_attribute_double(w, ATTRIBUTES, BIDE__KEY("bide.slept_ms"),
                                    ms(e->slept_ns));
}

/* "/shop.Cart/Add": the conventions for gRPC. */
static void put_rpc(struct bide__otlp *w, const struct bide__event *e,
                    const char *path)
{
    char service[BIDE__TEXT_ROOM];
    const char *method = strrchr(path, '/');

    put_text(w, BIDE__KEY("rpc.system"), "grpc");
    if (method && method > path) {
        size_t len = (size_t)(method - path) - 1;
        memcpy(service, path + 1, len);
        service[len] = '\0';
        put_text(w, BIDE__KEY("rpc.service"), service);
        put_text(w, BIDE__KEY("rpc.method"), method + 1);
    }
    if (e->grpc)
        put_int(w, BIDE__KEY("rpc.grpc.status_code"), e->grpc - 1);
}

static void put_own(struct bide__otlp *w, const struct bide__event *e)
{
    const char *path;

    method_len(e, &path);
    put_text(w, BIDE__KEY("url.path"), path);
    if (e->http2)
        put_text(w, BIDE__KEY("network.protocol.version"), "2");
    if (e->rpc)
        put_rpc(w, e, path);
    put_error(w, e);
    if (e->kind == BIDE__EVENT_CALL)
        put_call(w, e);
    else
        put_attempt(w, e);
}

/* ===== messages ===== */

/* The delivery of a message, by the conventions for messaging. Its parent is the
 * span of whoever queued it, if the message says so. */
static void put_delivery(struct bide__otlp *w, const struct bide__event *e)
{
    char name[sizeof "process " + BIDE__DEP_NAME];
    const char *queue = bide__event_get(e, BIDE__DEP);

    snprintf(name, sizeof name, "process %s", queue);
    bide__otlp_text(w, 5, "name", name);
    bide__otlp_enum(w, 6, "kind", SPAN_CONSUMER);
    bide__otlp_list(w, "attributes");
    put_text(w, BIDE__KEY("messaging.system"),
             bide__event_get(e, BIDE__ENDPOINT));
    put_text(w, BIDE__KEY("messaging.destination.name"), queue);
    put_text(w, BIDE__KEY("messaging.operation.name"), "process");
    put_text(w, BIDE__KEY("messaging.operation.type"), "process");
    put_text(w, BIDE__KEY("messaging.message.id"),
             bide__event_get(e, BIDE__OPERATION));
    put_int(w, BIDE__KEY("retry.attempt"), e->attempt);
    if (e->status)
        put_int(w, BIDE__KEY("http.response.status_code"), e->status);
    put_error(w, e);
    put_attempt(w, e);
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

static void put_span(struct bide__otlp *w, const struct bide__otlp_source *from,
                     const struct bide__event *e,
                     struct bide__otlp_known *known)
{
    static const uint8_t none[8];

    bide__otlp_message(w, 2, NULL);
    bide__otlp_id(w, 1, "traceId", e->trace.trace_id, 16);
    bide__otlp_id(w, 2, "spanId", e->trace.span_id, 8);
    if (memcmp(e->trace.parent_id, none, sizeof none) != 0)
        bide__otlp_id(w, 4, "parentSpanId", e->trace.parent_id, 8);
    bide__otlp_fixed64(w, 7, "startTimeUnixNano",
                       (uint64_t)(e->begin_ns + from->wall_offset_ns));
    bide__otlp_fixed64(w, 8, "endTimeUnixNano",
                       (uint64_t)(e->end_ns + from->wall_offset_ns));
    if (e->delivery) {
        put_delivery(w, e);
    } else {
        put_known(w, e, known);
        put_own(w, e);
    }
    bide__otlp_end(w);
    put_status(w, e);
    bide__otlp_end(w);
}

/* The short path, for nearly all. */
static bool put_plain(struct bide__out *out,
                      const struct bide__otlp_source *from,
                      const struct bide__event *e,
                      struct bide__otlp_known *known)
{
    const char *path;
    size_t method = method_len(e, &path), len = e->len[BIDE__OPERATION];
    size_t before = (size_t)(path - bide__event_get(e, BIDE__OPERATION));
    struct bide__known_key key;

    if (e->at[BIDE__OPERATION] == 0 || !*path)
        return false;
    bide__known_key(&key, e, method);
    const struct bide__known_part *part = bide__known_find(known, &key);
    return part->len && bide__otlp_plain(out, from->wall_offset_ns, e, part,
                                         path, len - before);
}

/* ===== requests ===== */

void bide__otlp_span(struct bide__out *out,
                     const struct bide__otlp_source *from, bool json,
                     const struct bide__event *event, bool first,
                     struct bide__otlp_known *known)
{
    struct bide__otlp w = { .out = out, .json = json };

    if (json)
        bide__otlp_element(&w, first);
    if (!known || json || event->delivery ||
        !put_plain(out, from, event, known))
        put_span(&w, from, event, known);
}

/* In JSON: an open request, up to the bracket of its spans. In protobuf: the
 * same, with the lengths of what will follow. */
void bide__otlp_spans_begin(struct bide__out *out,
                            const struct bide__otlp_source *from, bool json,
                            size_t len)
{
    struct bide__out resource = { 0 }, scope = { 0 };
    struct bide__otlp w = { .out = out, .json = json };
    struct bide__otlp r = { .out = &resource }, s = { .out = &scope };

    if (json) {
        bide__otlp_open(&w, from, "resourceSpans", "scopeSpans");
        bide__otlp_list(&w, "spans");
        return;
    }
    bide__otlp_resource(&r, from);
    bide__otlp_scope(&s);
    size_t inner = scope.len + len;
    bide__otlp_lengths(&w, 1,
                       resource.len + bide__otlp_length_len(2, inner) + inner);
    bide__out_bytes(out, resource.data, resource.len);
    bide__otlp_lengths(&w, 2, inner);
    bide__out_bytes(out, scope.data, scope.len);
    out->failed |= resource.failed || scope.failed;
    bide__out_done(&resource);
    bide__out_done(&scope);
}

void bide__otlp_spans_end(struct bide__out *out, bool json)
{
    if (json)
        bide__out_text(out, "]}]}]}");
}

void bide__otlp_spans(struct bide__out *out,
                      const struct bide__otlp_source *from, bool json,
                      const struct bide__event *events, size_t n)
{
    struct bide__out spans = { 0 };

    for (size_t i = 0; i < n; i++)
        if (events[i].kind != BIDE__EVENT_BREAKER)
            bide__otlp_span(&spans, from, json, &events[i], spans.len == 0,
                            NULL);
    bide__otlp_spans_begin(out, from, json, spans.len);
    bide__out_bytes(out, spans.data, spans.len);
    bide__otlp_spans_end(out, json);
    out->failed |= spans.failed;
    bide__out_done(&spans);
}
