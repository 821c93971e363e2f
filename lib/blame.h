/* Blame: what counts against a dependency, and what does not.
 *
 * An attempt counts only for what the dependency did with the time it was
 * given. The time of an attempt begins when it is let through, or when its
 * driver says that it begins (bide_call_started). The policy allows it
 *
 *   full = min(attempt_timeout, deadline - what the dependency has used)
 *
 * where all the time since the call began is used by the dependency (attempts
 * that failed, the waits after them), except what was ours: before the first
 * attempt, waiting for a connection, while the client delivered the body.
 *
 * A timeout at the end of the call's time after less than nine tenths of `full`
 * says nothing: the caller's deadline cut it off, or our own delays did. The
 * tenth is for deadlines that are passed down: two layers with the same policy
 * differ by the time that the request was in transit. */
#ifndef BIDE_LIB_BLAME_H
#define BIDE_LIB_BLAME_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/call.h"

/* What an outcome says about the health of the dependency. */
enum bide__health bide__health_of(const bide_outcome *out);

/* Whether it says nothing about it at all, not even that it throttles. */
bool bide__blames_nobody(const bide_outcome *out);

/* Records how much of the call's time had passed before its first attempt: none
 * of that was the dependency's. */
void bide__blame_first(struct bide__call *c, const struct bide__running *r);

/* Whether the attempt ended because the call's time ended, before it had been
 * given its own. */
bool bide__is_clipped(const struct bide__call *c, const struct bide__running *r,
                      const bide_outcome *out, int64_t now);

/* Whether the call's deadline is the caller's, and earlier than the policy's. */
bool bide__deadline_is_callers(const struct bide__call *c);

/* How an attempt was let through, as the breaker knows it. */
struct bide__pass bide__pass_of(const struct bide__call *c,
                                const struct bide__running *r);

#endif
