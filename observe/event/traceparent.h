/* The caller's span from a `traceparent` field (W3C Trace Context) and back,
 * and our own ids.
 *
 *     struct bide__trace call = { 0 };
 *     if (!bide__traceparent_read(&call, value, len))
 *         bide__trace_start(&call, &ids, sampled);
 *     struct bide__trace attempt = bide__trace_child(&call, &ids);
 *     bide__traceparent_write(&attempt, header);      // goes with the request
 *
 * A malformed field counts as absent: a new trace begins. */
#ifndef BIDE_OBSERVE_EVENT_TRACEPARENT_H
#define BIDE_OBSERVE_EVENT_TRACEPARENT_H

#include "observe/event/event.h"

enum { BIDE__TRACEPARENT = 55 }; /* characters */

/* A source of ids: fast, unlikely to repeat, not secret. Threads: owned. */
struct bide__ids {
    uint64_t state[2];
};

/* Seeds from the kernel. False if that fails. */
bool bide__ids_init(struct bide__ids *ids);

/* Reads a field: the trace, the caller's span as our parent, and whether it is
 * sampled. Our own span's id is left to bide__trace_enter(). */
bool bide__traceparent_read(struct bide__trace *trace, const char *text,
                            size_t len);

/* A new trace, with its own span. */
void bide__trace_start(struct bide__trace *trace, struct bide__ids *ids,
                       bool sampled);

/* Our own span in the trace that was read. */
void bide__trace_enter(struct bide__trace *trace, struct bide__ids *ids);

/* A child span of this one. */
struct bide__trace bide__trace_child(const struct bide__trace *trace,
                                     struct bide__ids *ids);

/* Writes the field for a request made in this span, and a NUL. */
void bide__traceparent_write(const struct bide__trace *trace,
                             char to[BIDE__TRACEPARENT + 1]);

#endif
