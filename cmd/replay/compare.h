/* Several policies, or one with a page, over one log. */
#ifndef BIDE_CMD_REPLAY_COMPARE_H
#define BIDE_CMD_REPLAY_COMPARE_H

#include <stdbool.h>

#include "cmd/common/policy_choice.h"

struct replay_log;
struct replay_printer;
struct replay_settings;

enum { COMPARED_MAX = 16 };

/* The policies to compare. Threads: owned. */
struct compared {
    struct policy_choice policies[COMPARED_MAX];
    int n;
};

/* Settles `--policy`, if it was given, and the operands (FILE[:NAME] or
 * preset:NAME), each with the flags applied to it. -1, or an exit code. */
int compared_settle(struct compared *c, const struct policy_choice *flags,
                    char **operands, int n);
void compared_done(struct compared *c);

/* Runs the log through each policy, with the other settings as given. `html` is
 * where the page goes, or NULL. Returns an exit code; *ret_rc is an error of
 * the engine, or 0. */
int compared_run(const struct compared *c, const char *log_name,
                 const struct replay_log *log,
                 const struct replay_settings *settings,
                 struct replay_printer *printer, const char *html, int *ret_rc);

/* The page of one policy. An exit code. */
int page_write(const char *path, const char *log_name,
               const struct replay_log *log,
               const struct replay_settings *settings, const char *name);

#endif
