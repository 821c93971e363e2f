/* bide run: what was asked for. */
#ifndef BIDE_CMD_RUN_ARGS_H
#define BIDE_CMD_RUN_ARGS_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/policy_choice.h"

/* bide's own exit codes, beside the command's. The last four are those of
 * timeout(1), env(1) and the shell. */
enum {
    EXIT_REFUSED = 75,      /* EX_TEMPFAIL: not even attempted */
    EXIT_TIMED_OUT = 124,
    EXIT_BIDE_FAILED = 125,
    EXIT_NOT_EXECUTABLE = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128       /* and the number of the signal */
};

enum run_output { OUTPUT_ALL, OUTPUT_PREFIX, OUTPUT_LAST, OUTPUT_SUCCESS };
enum run_stdin { STDIN_AUTO, STDIN_REPLAY, STDIN_INHERIT, STDIN_NULL };

/* A set of exit codes. */
struct codes {
    bool given;
    bool has[256];
};

/* A regular expression over output. */
struct pattern {
    bool given;
    regex_t compiled;
};

struct run_args {
    struct policy_choice policy;
    char **command;
    struct codes retry_on, stop_on;
    struct pattern retry_if, stop_if;
    int64_t kill_after_ns;
    enum run_output output;
    enum run_stdin input;
    bool at_most_once;
    bool quiet, verbose;
    const char *json;       /* or NULL */
    const char *key;        /* or NULL */
};

/* Takes a flag, for flags_parse(). */
const char *run_take(void *args, const char *name, const char *argument);
void run_args_done(struct run_args *args);

#endif
