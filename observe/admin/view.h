/* The whole state as one JSON object: `/api/state`, one message a second on
 * `/api/stream`, and what `bide top` and the dashboard show.
 *
 *     bide__view_write(&out, &view);
 *
 *   { "program": "bide proxy", "version": "0.1.0", "file": "/etc/bide.yaml",
 *     "now_ms": 1763280000123,
 *     "uptime_s": 61.5, "ready": true, "draining": false, "actions": false,
 *     "bounds_ms": [0, 0.00125, ...],      129 of them: of all histograms
 *     "deps": [ {
 *       "name": "pay", "policy": "payments",
 *       "faults": false,                     made on purpose are switched on
 *       "mood": "bad", "why": "breaker open",   or good, warn, idle: condition.h
 *       "calls": { "first_success": 3, "late_success": 1, "failure": 2 },
 *       "attempts": { "success": 4, "transient": 6, ... },
 *       "refused": { "attempts": 1, ... },   by reason; those over 0
 *       "retries": { "backoff": 5, "hint": 0, "immediate": 0, "dropped": 0 },
 *       "retries_on": true,                  see bide_dep_set_retries()
 *       "amplification": 1.83,
 *       "hedges": { "on": false, "sent": 0, "won": 0, "refused": 0 },
 *       "breaker": { "on": true, "state": "open", "mode": "normal",
 *         "attempts": 24, "failed": 13, "slow": 0, "opens_at": 0.5, "min_calls": 20,
 *         "open_for_ms": 21500, "opened": 1, "trips": 1 },
 *       "budget": { "kind": "window", "left": 7, "usual": 10 },
 *       "fleet": { "joined": true, "instances": 8, "leased": 2,    if it is in one:
 *         "used": 9, "allowed": 40, "with_traffic": 7,             bide/share.h
 *         "failing": 0, "trips": 0 },
 *       "limits": { "rate": null, "in_flight": 2, "in_flight_max": null,
 *         "queued": 0 },
 *       "rules": [ ["attempts", "4"], ["backoff.base", "100ms"], ... ],
 *       "waits": { "computed": [[i, n], ...], "jittered": ..., "slept": ...,
 *         "ideal": ... },
 *       "times": { "call": [[i, n], ...], "attempt": [[i, n], ...] },
 *       "second": { "at_ms": ..., "seconds": 1, "first": 120, "late": 3,
 *         "refused": { "attempts": 1 }, "attempts": 131, "backoff": 8,
 *         "hint": 0, "immediate": 0, "hedges": 0, "hedges_won": 0,
 *         "budget": 7, "breaker": "closed", "p50_call_ms": 1.2,
 *         "p99_call_ms": 240, "p50_attempt_ms": 1.2, "p99_attempt_ms": 3.1 },
 *       "endpoints": [ { "address": "127.0.0.1:9001", "state": "up",
 *         "text": "takes requests", "in_flight": 2, "connections": 5,
 *         "idle": 3, "requests": 11, "failures": 1, "retries": 2 } ],
 *       "routes": [ { "name": "POST /pay/", "requests": 6, "retries": 2 } ]
 *       } ],
 *     "values": [ { "name": "bide_connections", "label": "side",
 *       "label_value": "client", "value": 12, "help": "..." } ],
 *     "decisions": [ { "id": 7, "times": 1, "at_ms": ..., "dep": "pay",
 *       "operation": "GET /pay/17", "attempt": 1, "attempts": 4,
 *       "class": "transient", "status": 503, "action": "wait",
 *       "reason": "backoff", "text": "waiting as the policy computes",
 *       "value_ms": 200, "wait_ms": 120,                the wait that follows,
 *       "computed_ms": 0, "asked_ms": 0, "slept_ms": 0, and the one before
 *       ... } ],                                        newest first
 *     "turns": [ { "at_ms": ..., "dep": "pay", "from": "closed",
 *       "to": "open" } ] }                              newest first
 *
 * Times are milliseconds, points in time since 1970. `second` is null at first.
 * Members are only ever added.
 *
 * A program may have hundreds of dependencies. With `?dep=NAME` only that one is
 * written in full, and the rest as an overview needs them:
 *
 *   { "name": "search", "policy": "", "brief": true, "faults", "mood", "why",
 *     "breaker": { "on", "state", "mode", "open_for_ms", "opened" },
 *     "budget": { as above }, "fleet": { as above },
 *     "endpoints_up": 2, "endpoints_all": 3,
 *     "second": { as above } }
 *
 * `/api/history` has the fifteen minutes before: five by the second, and the ten
 * before that in steps of ten seconds. `?dep=NAME` has those of one dependency;
 * `?brief` has the last minute of all, as lists of five numbers:
 *
 *   { "deps": { "pay": [ { as "second" }, ... ] } }     oldest first
 *   { "deps": { "pay": [ [at_ms, seconds, calls, failed, retries], ... ] } } */
#ifndef BIDE_OBSERVE_ADMIN_VIEW_H
#define BIDE_OBSERVE_ADMIN_VIEW_H

#include "observe/event/history.h"
#include "observe/event/journal.h"
#include "base/json.h"
#include "observe/event/observed.h"

/* The parts of a state. history and journal may be NULL. Threads: owned. */
struct bide__view {
    const char *program;
    const char *file; /* of its policies; or NULL */
    int64_t now_ns; /* monotonic */
    int64_t start_ns;
    int64_t wall_offset_ns; /* nanoseconds since 1970 minus monotonic ones */
    bool ready, draining;
    bool actions; /* there is a token, so breakers can be forced */
    const struct bide__observed *observed;
    const struct bide__history *history;
    const struct bide__journal *journal;
    uint64_t topic; /* bide__view_topic() of the only one that is written in
                       full; 0: all are */
};

/* Stands for a dependency's name; never 0. "" is nobody's. */
uint64_t bide__view_topic(const char *dep);

/* Writes the object, on one line without a newline. out->failed: no memory. */
void bide__view_write(struct bide__out *out, const struct bide__view *view);
void bide__view_history(struct bide__out *out, const struct bide__view *view);
void bide__view_brief_history(struct bide__out *out,
                              const struct bide__view *view);

#endif
