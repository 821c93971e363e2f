/* Decisions as JSON lines, rate-limited.
 *
 *     struct bide__log log;
 *     bide__log_init(&log, lines, 50, 200, wall_offset_ns);
 *     bide__log_event(&log, &event, now_ns);   // 50 a second, 200 at once
 *     ...
 *     bide__log_flush(&log, now_ns);
 *
 *   {"time":"2026-11-16T08:00:00.123Z","event":"retry","dep":"pay",
 *    "operation":"GET /pay/17","attempt":2,"attempts":4,"class":"transient",
 *    "status":503,"reason":"backoff","wait_computed_ms":200,"wait_ms":132.5,
 *    "computed_ms":100,"asked_ms":86.9,"slept_ms":87.1,...}
 *
 * wait_... is the wait that follows; the other three are the wait before.
 *
 * Most decisions are made during an outage, which is when a flooded disk or log
 * collector hurts most: a token bucket lets through a number of lines a second,
 * and one line says how many were suppressed:
 *
 *   {"time":"...","event":"suppressed","lines":1834}
 *
 * Lines go through a sink (sink.h), which never waits: lines that its target
 * does not take are dropped and counted there. */
#ifndef BIDE_OBSERVE_EVENT_LOG_H
#define BIDE_OBSERVE_EVENT_LOG_H

#include "observe/event/event.h"
#include "base/out.h"
#include "observe/event/sink.h"

/* Threads: owned. */
struct bide__log {
    struct bide__lines *to;
    int64_t wall_offset_ns;
    double per_s;
    double burst;
    double tokens;
    int64_t filled_ns;   /* when tokens were last added */
    uint64_t suppressed; /* since the last line that said so */
    uint64_t suppressed_ever;
    struct bide__out out; /* one line */
};

/* per_s: lines a second; burst: lines at once. If either is 0, none at all. */
void bide__log_init(struct bide__log *log, struct bide__lines *to,
                    double per_s, double burst, int64_t wall_offset_ns);
void bide__log_done(struct bide__log *log);

/* Logs an event, if there is a token for it. First attempts that succeed are not
 * decisions, and finished calls are in the access log: neither makes a line. */
void bide__log_event(struct bide__log *log, const struct bide__event *e,
                     int64_t now_ns);

/* Flushes the lines, and writes how many were suppressed. Call it about once a
 * second. */
void bide__log_flush(struct bide__log *log, int64_t now_ns);

/* One event as a line, without asking for a token. */
void bide__log_line(struct bide__out *out, const struct bide__event *e,
                    int64_t wall_offset_ns);

/* The line that says how many were suppressed. */
void bide__log_suppressed(struct bide__out *out, uint64_t lines,
                          int64_t wall_ns);

#endif
