/* bide sim: the files of --csv, --html and --svg. What is written into them is in
 * sim/report. */
#ifndef BIDE_CMD_SIM_FILES_H
#define BIDE_CMD_SIM_FILES_H

#include "cmd/sim/ask.h"
#include "sim/report/page.h"

/* Whether standard output is for people: not --quiet, --json, or a file that is
 * written there. */
bool prints_for_people(const struct sim_ask *ask);

/* Opens what a flag names; "-" is standard output. Complains, and gives NULL. */
FILE *file_open(const char *flag, const char *path);

/* The same for a table of --csv: PATH/name if that is a directory. */
bool csv_is_directory(const char *path);
FILE *csv_open(const char *path, const char *name);

/* Closes it. -1 to go on, or an exit code after a complaint: writing failed, or was
 * `bad` before. */
int file_close(const char *flag, const char *path, FILE *out, bool bad);

/* What stands in a report beside its figures; `command` must be freed. */
struct sim_page_context page_context(const struct sim_ask *ask, char **command);

#endif
