/* bide run: what was asked for. */
#ifndef BIDE_CMD_RUN_ARGS_H
#define BIDE_CMD_RUN_ARGS_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/codes.h"
#include "cmd/common/fleet.h"
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
enum run_until { UNTIL_SUCCESS, UNTIL_FAILURE, UNTIL_CODES };
enum run_stdin { STDIN_AUTO, STDIN_REPLAY, STDIN_INHERIT, STDIN_NULL };

/* A regular expression over output. */
struct pattern {
    bool given;
    regex_t compiled;
};

struct run_args {
    struct policy_choice policy;
    char **command;
    struct bide__codes retry_on, stop_on, until_codes;
    enum run_until until;
    struct pattern retry_if, stop_if;
    int64_t kill_after_ns;
    int end_signal;  /* when an attempt's time is up */
    bool foreground; /* the command stays in our process group */
    const char *on_retry, *on_failure, *on_success; /* for sh -c; or NULL */
    enum run_output output;
    enum run_stdin input;
    bool at_most_once;
    bool quiet, verbose;
    bool json;              /* what we say is JSON */
    const char *log_file;   /* or NULL */
    const char *key;        /* or NULL */
    struct fleet_flag fleet; /* .settings.store NULL: none */
    bool list, reset;       /* states of keys */
};

/* Takes a flag, for flags_parse(). */
const char *run_take(void *args, const char *name, const char *argument);
void run_args_done(struct run_args *args);

/* Whether as many attempts are made as it takes; and what it says of them to
 * people: " of 4", or nothing. */
bool run_is_unlimited(uint32_t attempts);
const char *run_of_attempts(uint32_t attempts, char *buffer, size_t size);

#endif
