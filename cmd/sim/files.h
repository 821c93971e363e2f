/* bide sim: the files of --csv, --html and --svg. sim/report writes their
 * contents. */
#ifndef BIDE_CMD_SIM_FILES_H
#define BIDE_CMD_SIM_FILES_H

#include "cmd/sim/ask.h"
#include "sim/report/page.h"

/* Whether standard output is for people: no --quiet, no --json, and no file is
 * written there. */
bool prints_for_people(const struct sim_ask *ask);

/* Opens the file of a flag; "-" is standard output. On failure prints a message
 * and returns NULL. */
FILE *file_open(const char *flag, const char *path);

/* The same for a table of --csv: PATH/name if that is a directory. */
bool csv_is_directory(const char *path);
FILE *csv_open(const char *path, const char *name);

/* Closes it. -1 to continue, or an exit code after a message: writing failed,
 * or was `bad` before. */
int file_close(const char *flag, const char *path, FILE *out, bool bad);

/* The context of a report's figures; the caller frees `command`. */
struct sim_page_context page_context(const struct sim_ask *ask, char **command);

#endif
