/* Spans and metrics for an OpenTelemetry collector: the bodies of POST
 * /v1/traces and POST /v1/metrics (OTLP 1), in protobuf or JSON.
 *
 *     struct bide__otlp_source from = { .service = "bide-proxy",
 *                                       .wall_offset_ns = wall - mono };
 *     bide__otlp_spans(&out, &from, false, events, n);
 *
 * One trace for each call: its own span, and below that one for each attempt.
 */
#ifndef BIDE_OBSERVE_EXPORT_OTLP_H
#define BIDE_OBSERVE_EXPORT_OTLP_H

#include "observe/event/event.h"
#include "base/out.h"
#include "observe/event/observed.h"

/* The sender. Threads: immutable. */
struct bide__otlp_source {
    const char *service;    /* service.name */
    const char *instance;   /* service.instance.id; NULL: not sent */
    int64_t wall_offset_ns; /* nanoseconds since 1970 minus monotonic ones */
    int64_t start_ns;       /* when counting began, monotonic */
};

/* The media types. */
#define BIDE__OTLP_PROTOBUF_TYPE "application/x-protobuf"
#define BIDE__OTLP_JSON_TYPE     "application/json"

/* Writes the attempts and calls among the events as spans; the caller has
 * checked that they are sampled. out->failed if memory runs out. */
void bide__otlp_spans(struct bide__out *out,
                      const struct bide__otlp_source *from, bool json,
                      const struct bide__event *events, size_t n);

struct bide__otlp_known;

/* The same in parts, for callers that collect spans one by one: the spans, each
 * after the one before, `first` for the first; and once there are `len` bytes
 * of them, what goes before and after. `known` makes it faster; or NULL. */
void bide__otlp_span(struct bide__out *out,
                     const struct bide__otlp_source *from, bool json,
                     const struct bide__event *event, bool first,
                     struct bide__otlp_known *known);
void bide__otlp_spans_begin(struct bide__out *out,
                            const struct bide__otlp_source *from, bool json,
                            size_t len);
void bide__otlp_spans_end(struct bide__out *out, bool json);

/* Writes the current values of all metrics. */
void bide__otlp_metrics(struct bide__out *out,
                        const struct bide__otlp_source *from, bool json,
                        const struct bide__observed *observed, int64_t now_ns);

#endif
