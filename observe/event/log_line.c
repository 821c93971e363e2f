/* One event as one line of JSON. */
#include "observe/event/log.h"

#include <stdio.h>

#include "base/date.h"
#include "base/json.h"

static void put_text(struct bide__json *j, const char *name, const char *text)
{
    if (text && *text)
        bide__json_text(j, name, text);
}

/* "2026-11-16T08:00:00.123Z" */
static void begin(struct bide__json *j, struct bide__out *out, int64_t wall_ns)
{
    char date[BIDE__DATE_TEXT], text[BIDE__DATE_TEXT + 8];

    bide__date_text(wall_ns / BIDE_SECOND, date);
    snprintf(text, sizeof text, "%s.%03dZ", date,
             (int)(wall_ns / BIDE_MILLISECOND % 1000));
    bide__json_into(j, out);
    bide__json_object(j, NULL);
    bide__json_text(j, "time", text);
}

static void end(struct bide__json *j)
{
    bide__json_end(j);
    bide__json_done(j);
}

static const char *event_name(const struct bide__event *e)
{
    if (e->kind == BIDE__EVENT_BREAKER)
        return "breaker";
    if (e->reason == BIDE_BECAUSE_CUT_SHORT)
        return "cut_short";
    if (e->kind == BIDE__EVENT_CALL)
        return e->attempt == 0 ? "refused" : "call";
    if (e->action == BIDE_DONE)
        return e->reason == BIDE_BECAUSE_SUCCESS ? "success" : "give_up";
    return e->reason == BIDE_BECAUSE_HEDGE ? "hedge" : "retry";
}

/* A response that broke off had been a success until then. */
static void put_outcome(struct bide__json *j, const struct bide__event *e)
{
    if (e->reason != BIDE_BECAUSE_CUT_SHORT)
        put_text(j, "class", bide_class_name(e->cls));
    if (e->status)
        bide__json_count(j, "status", e->status);
    if (e->http2)
        put_text(j, "protocol", "HTTP/2");
    if (e->grpc)
        put_text(j, "grpc_status", bide_grpc_name(e->grpc - 1));
    if (e->fault != BIDE_FAULT_NONE)
        put_text(j, "fault", bide_fault_name(e->fault));
    if (e->stream)
        put_text(j, "stream", e->stream);
    if (e->hinted)
        bide__json_ms(j, "hint_ms", e->hint_ns);
}

static void put_waits(struct bide__json *j, const struct bide__event *e)
{
    if (e->action == BIDE_WAIT) {
        bide__json_ms(j, "wait_computed_ms", e->value_ns);
        bide__json_ms(j, "wait_ms", e->wait_ns);
    }
    if (e->kind == BIDE__EVENT_ATTEMPT && e->attempt > 1) {
        bide__json_ms(j, "computed_ms", e->computed_ns);
        bide__json_ms(j, "asked_ms", e->asked_ns);
    }
    if (e->attempt > 1)
        bide__json_ms(j, "slept_ms", e->slept_ns);
    bide__json_ms(j, "took_ms", e->end_ns - e->begin_ns);
}

static void put_call(struct bide__json *j, const struct bide__event *e)
{
    static const uint8_t none[16];
    bool traced = false;

    for (size_t i = 0; i < sizeof none; i++)
        traced |= e->trace.trace_id[i] != 0;
    put_text(j, "operation", bide__event_get(e, BIDE__OPERATION));
    put_text(j, "request_id", bide__event_get(e, BIDE__REQUEST_ID));
    if (traced)
        bide__json_hex(j, "trace_id", e->trace.trace_id,
                       sizeof e->trace.trace_id);
    put_text(j, "endpoint", bide__event_get(e, BIDE__ENDPOINT));
    bide__json_count(j, "attempt", e->attempt);
    if (e->attempts)
        bide__json_count(j, "attempts", e->attempts);
    put_outcome(j, e);
    put_text(j, "reason", bide_reason_name(e->reason));
    put_waits(j, e);
}

void bide__log_line(struct bide__out *out, const struct bide__event *e,
                    int64_t wall_offset_ns)
{
    struct bide__json j;

    begin(&j, out, e->end_ns + wall_offset_ns);
    put_text(&j, "event", event_name(e));
    put_text(&j, "dep", bide__event_get(e, BIDE__DEP));
    if (e->kind == BIDE__EVENT_BREAKER) {
        put_text(&j, "from", bide_breaker_state_name(e->from));
        put_text(&j, "to", bide_breaker_state_name(e->to));
    } else {
        put_call(&j, e);
    }
    end(&j);
}

void bide__log_suppressed(struct bide__out *out, uint64_t lines,
                          int64_t wall_ns)
{
    struct bide__json j;

    begin(&j, out, wall_ns);
    put_text(&j, "event", "suppressed");
    bide__json_count(&j, "lines", lines);
    end(&j);
}
