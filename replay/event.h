/* Reading scripts: one event (event.c), and what an attempt comes to (outcome.c). */
#ifndef BIDE_REPLAY_EVENT_H
#define BIDE_REPLAY_EVENT_H

#include <stdbool.h>

#include "config/doc/tree.h"
#include "replay/driver.h"
#include "replay/script.h"

struct replay_reader;

#define REPLAY_OUTCOME_KEYS                                                    \
    "status", "error", "sent", "grpc", "headers", "body", "latency"

/* The members of an outcome, in an event or in a list of results; keys are
 * checked by the caller. */
bool replay_read_outcome(struct replay_reader *r, const struct bide__node *map,
                         struct replay_outcome *ret);

/* One event from the map of its line. */
bool replay_read_event(struct replay_reader *r, const struct bide__node *map,
                       struct replay_event *ret);

#endif
