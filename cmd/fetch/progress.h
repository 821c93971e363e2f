/* bide fetch: reports on transfers, for people (progress.c) and for programs
 * (json.c). */
#ifndef BIDE_CMD_FETCH_PROGRESS_H
#define BIDE_CMD_FETCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bide/call.h"
#include "bide/run.h"

struct fetch;
struct fetch_transfer;

/* Prints a decision, for --explain. */
void fetch_explain(struct fetch_transfer *t, const bide_decision *d,
                   const bide_outcome *last, int64_t now);

/* Whether somebody sits there and sees nothing else; and, for them, once, that it
 * waits. */
bool fetch_wait_wanted(const struct fetch_transfer *t, const bide_decision *d,
                       int64_t now);
void fetch_say_waits(struct fetch_transfer *t, const bide_outcome *last);

/* Prints that the rest of an interrupted download was not what was
 * requested. */
void fetch_explain_start_over(struct fetch_transfer *t);

/* Prints why a transfer failed, unless -s. */
void fetch_print_failure(struct fetch_transfer *t);

/* "503", "connection refused": the outcome of the last attempt. */
const char *fetch_what(const struct fetch_transfer *t, const bide_outcome *last,
                       char *buffer, size_t size);

/* Writes the summary. False, and errno. */
bool fetch_json(const struct fetch *f, int exit);

#endif
