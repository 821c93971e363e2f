/* One event as one line of JSON. */
#include "observe/event/log.h"

#include <stdio.h>

#include "base/date.h"
#include "base/json_text.h"

static void key(struct bide__out *out, const char *name)
{
    bide__out_text(out, ",\"");
    bide__out_text(out, name);
    bide__out_text(out, "\":");
}

static void put_text(struct bide__out *out, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    key(out, name);
    bide__json_quote(out, text);
}

static void put_number(struct bide__out *out, const char *name, uint64_t n)
{
    key(out, name);
    bide__out_u64(out, n);
}

/* Milliseconds with what is behind the point to the microsecond: no clock that
 * a wait goes by is finer. */
static void put_ms(struct bide__out *out, const char *name, int64_t ns)
{
    key(out, name);
    bide__out_double(out, (double)(ns / 1000) / 1000);
}

/* "2026-11-16T08:00:00.123Z" */
static void put_time(struct bide__out *out, int64_t wall_ns)
{
    char date[BIDE__DATE_TEXT], ms[8];

    snprintf(ms, sizeof ms, ".%03d", (int)(wall_ns / BIDE_MILLISECOND % 1000));
    bide__out_text(out, "{\"time\":\"");
    bide__out_text(out, bide__date_text(wall_ns / BIDE_SECOND, date));
    bide__out_text(out, ms);
    bide__out_text(out, "Z\"");
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

static void put_outcome(struct bide__out *out, const struct bide__event *e)
{
    put_text(out, "class", bide_class_name(e->cls));
    if (e->status)
        put_number(out, "status", e->status);
    if (e->fault != BIDE_FAULT_NONE)
        put_text(out, "fault", bide_fault_name(e->fault));
    if (e->hinted)
        put_ms(out, "hint_ms", e->hint_ns);
}

static void put_waits(struct bide__out *out, const struct bide__event *e)
{
    if (e->action == BIDE_WAIT) {
        put_ms(out, "wait_computed_ms", e->value_ns);
        put_ms(out, "wait_ms", e->wait_ns);
    }
    if (e->kind == BIDE__EVENT_ATTEMPT && e->attempt > 1)
        put_ms(out, "asked_ms", e->asked_ns);
    if (e->attempt > 1)
        put_ms(out, "slept_ms", e->slept_ns);
    put_ms(out, "took_ms", e->end_ns - e->begin_ns);
}

static void put_call(struct bide__out *out, const struct bide__event *e)
{
    static const uint8_t none[16];
    bool traced = false;

    for (size_t i = 0; i < sizeof none; i++)
        traced |= e->trace.trace_id[i] != 0;
    put_text(out, "operation", bide__event_get(e, BIDE__OPERATION));
    put_text(out, "request_id", bide__event_get(e, BIDE__REQUEST_ID));
    if (traced) {
        key(out, "trace_id");
        bide__out_char(out, '"');
        bide__out_hex(out, e->trace.trace_id, sizeof e->trace.trace_id);
        bide__out_char(out, '"');
    }
    put_text(out, "endpoint", bide__event_get(e, BIDE__ENDPOINT));
    put_number(out, "attempt", e->attempt);
    if (e->attempts)
        put_number(out, "attempts", e->attempts);
    put_outcome(out, e);
    put_text(out, "reason", bide_reason_name(e->reason));
    put_waits(out, e);
}

void bide__log_line(struct bide__out *out, const struct bide__event *e,
                    int64_t wall_offset_ns)
{
    put_time(out, e->end_ns + wall_offset_ns);
    put_text(out, "event", event_name(e));
    put_text(out, "dep", bide__event_get(e, BIDE__DEP));
    if (e->kind == BIDE__EVENT_BREAKER) {
        put_text(out, "from", bide_breaker_state_name(e->from));
        put_text(out, "to", bide_breaker_state_name(e->to));
    } else {
        put_call(out, e);
    }
    bide__out_text(out, "}\n");
}

void bide__log_suppressed(struct bide__out *out, uint64_t lines,
                          int64_t wall_ns)
{
    put_time(out, wall_ns);
    put_text(out, "event", "suppressed");
    put_number(out, "lines", lines);
    bide__out_text(out, "}\n");
}
