/* The policy that a command works with: `--policy FILE[:NAME]`, and over it the
 * flags of POLICY_FLAGS, each of which is an option of the policy table under
 * another name; `--set KEY=VALUE` has all of them. Of several for one option the
 * last counts. */
#ifndef BIDE_CMD_COMMON_POLICY_CHOICE_H
#define BIDE_CMD_COMMON_POLICY_CHOICE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bide/config.h"

struct policy_choice {
    const char *command;     /* for error messages; or NULL */
    bide_config *config;     /* or NULL: no --policy was given */
    const char *file, *name; /* as given; name may be NULL */
    bide_policy_conf conf;   /* the outcome; start with POLICY_CHOICE_INIT */
    bool seeded;
    uint64_t seed;
    const char *preset;           /* or NULL */
    const char *overrides[128][3]; /* flag, option key, text */
    int n_overrides;
    bide_diagnostics *wrong_sets; /* mistakes in --set; or NULL: none */
    bool no_memory;
};

/* What `--attempts unlimited` means: as many as the engine can count. */
#define POLICY_UNLIMITED 2147483648

#define POLICY_CHOICE_INIT                                                     \
    {                                                                          \
        .conf = BIDE_POLICY_CONF_INIT                                          \
    }

#define POLICY_FLAGS                                                           \
    { "policy", 'p', "FILE[:NAME]", "read the policy from a file" },           \
        { "preset", 0, "NAME", "start from a built-in policy" },               \
        { "attempts", 0, "N",                                                  \
          "how many attempts a call may make, or unlimited" },                 \
        { "attempt-timeout", 0, "D", "how long one attempt may take" },        \
        { "deadline", 0, "D", "how long a call may take, waits included" },    \
        { "base", 0, "D", "the first wait, before jitter" },                   \
        { "factor", 0, "X", "how much longer each wait is" },                  \
        { "cap", 0, "D", "the longest wait" },                                 \
        { "jitter", 0, "KIND",                                                 \
          "none, full, equal, decorrelated, proportional" },                   \
        { "floor", 0, "D", "the shortest wait" },                              \
        { "nested", 0, "HOW",                                                  \
          "pass or retry: whether to retry although a layer above does" },     \
        { "set", 0, "KEY=VALUE",                                               \
          "set any option of the policy, such as budget.ratio=5%; may be "     \
          "repeated" },                                                        \
    {                                                                          \
        "seed", 0, "N", "draw the same waits each time"                        \
    }

/* Takes a flag if it is one of POLICY_FLAGS: 1 taken, 0 not one of these; -1 an
 * error, and *ret_expected says what was expected. */
int policy_flag(struct policy_choice *choice, const char *name,
                const char *argument, const char **ret_expected);

/* Whether all of --set was understood: -1 to continue, else an exit code;
 * mistakes are printed, all of them. policy_settle() asks this too. */
int policy_sets(struct policy_choice *choice);

/* Whether a flag has set this option of the policy ("attempts"). */
bool policy_flag_given(const struct policy_choice *choice, const char *option);

/* Combines everything after the flags were parsed: file or preset, then
 * overrides, then bide_policy_check(). -1 to continue, else an exit code;
 * errors are printed. Without --seed the kernel provides one. policy_done()
 * frees. */
int policy_settle(struct policy_choice *choice);
void policy_done(struct policy_choice *choice);

#endif
