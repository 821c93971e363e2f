/* bide worker: ids and durations for people. */
#ifndef BIDE_CMD_WORKER_WORDS_H
#define BIDE_CMD_WORKER_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "queue/broker.h"

/* An id that bide made is known by its first four digits; others are shown whole,
 * with '?' for what a terminal should not get. In `buffer`. */
enum { WORDS_ID = 48 };
const char *words_id(const char *id, char buffer[WORDS_ID]);

/* Prints what others have written, with what a terminal might take for more than a
 * character as \xNN, and so all that is not UTF-8. `lines`: but not line feeds and tabs.
 * Without it the text stays in its line, and cannot pass for another one. */
void words_print(FILE *to, const void *text, size_t len, bool lines);

/* The last of the errors of a message (queue_errors_add()), without when and which
 * attempt; "": none. In `buffer`. */
enum { WORDS_ERROR = QUEUE_ERROR_MAX + 1 };
const char *words_last_error(const char *errors, char buffer[WORDS_ERROR]);

/* "waiting", "held", "later", "running", "dead". */
const char *words_state(enum broker_state state);

/* "4ms", "2.7s", "3m12s", "2h5m". */
enum { WORDS_TIME = 32 };
const char *words_time(int64_t ns, char buffer[WORDS_TIME]);

#endif
