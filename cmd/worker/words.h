/* bide worker: ids and durations for people. */
#ifndef BIDE_CMD_WORKER_WORDS_H
#define BIDE_CMD_WORKER_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "queue/broker.h"

/* An id that bide made is known by its first four digits; others are shown whole,
 * with '?' for what a terminal should not get. In `buffer`. */
enum { WORDS_ID = 48 };
const char *words_id(const char *id, char buffer[WORDS_ID]);

/* "waiting", "held", "later", "running", "dead". */
const char *words_state(enum broker_state state);

/* "4ms", "2.7s", "3m12s", "2h5m". */
enum { WORDS_TIME = 32 };
const char *words_time(int64_t ns, char buffer[WORDS_TIME]);

#endif
