/* bide fetch: what is told about transfers, to people (progress.c) and to machines
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

/* ... and that the rest of a broken download was not what was asked for. */
void fetch_explain_start_over(struct fetch_transfer *t);

/* Says why a transfer failed, unless -s. */
void fetch_print_failure(struct fetch_transfer *t);

/* "503", "connection refused": what the last attempt came to. */
const char *fetch_what(const bide_outcome *last, char *buffer, size_t size);

/* Writes the summary. False, and errno. */
bool fetch_json(const struct fetch *f, int exit);

#endif
