/* What the subcommands of `bide` share. Each subcommand begins in one file,
 * cmd_NAME.c, with a function that takes its arguments and gives the exit
 * code. */
#ifndef BIDE_CMD_COMMON_CLI_H
#define BIDE_CMD_COMMON_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bide/bide.h"
#include "bide/config.h"

/* Exit codes. Those of `bide run` and `bide fetch` are their own
 * (cmd_run.c, main.c). */
enum {
    EXIT_OK = 0,
    EXIT_FINDINGS = 1, /* the answer is "no": lints found, not retried, ... */
    EXIT_USAGE = 2     /* a mistake in the arguments or in a policy */
};

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand */
    const char *summary;               /* one line, for `bide --help` */
};

int cmd_check(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_fetch(int argc, char **argv);
int cmd_proxy(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_schedule(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_import(int argc, char **argv);

/* Runs another program in the place of this one: it returns only if it cannot, and
 * has told why then. An exit code. */
int become(const char *program, char **argv);

/* ===== flags =====
 *
 * Every subcommand treats `--help`, unknown flags (with a "did you mean"),
 * missing arguments and `--` alike: `--name VALUE`, `--name=VALUE`, `-n VALUE`,
 * `-nVALUE`. Not getopt_long: it takes any beginning of a name for the name, so
 * that a new flag breaks old scripts, and it will not say what was expected. */
struct flag {
    const char *name;     /* "policy": --policy */
    char letter;          /* 'p': -p; 0: none */
    const char *argument; /* "FILE[:NAME]"; NULL: takes none */
    const char *help;
};

struct flags {
    const char *usage;       /* "bide explain [options]" */
    const char *about;       /* a sentence or two */
    const struct flag *list; /* ends with a NULL name */
    const char *after;       /* examples, exit codes; or NULL */
};

/* Parses argv. For each flag `take` is called with its name and argument; it
 * returns NULL, or what was expected, and then usage is the outcome. Operands
 * are moved to the end of argv, *ret_first is the index of the first; with
 * ret_first NULL, an operand is a mistake. Returns -1 to go on, else the exit
 * code: 0 after --help, EXIT_USAGE after a mistake (which has been printed). */
int flags_parse(const struct flags *flags, int argc, char **argv,
                const char *(*take)(void *ctx, const char *name,
                                    const char *argument),
                void *ctx, int *ret_first);

/* The same for a command that runs another: the first operand begins that one,
 * with or without `--`, and what follows is not looked at. */
int flags_parse_command(const struct flags *flags, int argc, char **argv,
                        const char *(*take)(void *ctx, const char *name,
                                            const char *argument),
                        void *ctx, int *ret_first);

/* Takes a flag if a table of fields has it (config/field/field.h): 1 taken, 0 not
 * one of these; -1 a mistake, and *ret_expected says what was expected. A flag
 * without an argument is set. */
struct bide__table;
int field_flag(const struct bide__table *table, void *to, const char *name,
               const char *argument, const char **ret_expected);

/* ===== the policy that a command works with =====
 *
 * `--policy FILE[:NAME]`, and over it the flags of POLICY_FLAGS, each of which
 * is an option of the policy table under another name. */
struct policy_choice {
    const char *command;     /* in whose name mistakes are told; or NULL */
    bide_config *config;     /* or NULL: no --policy was given */
    const char *file, *name; /* as given; name may be NULL */
    bide_policy_conf conf;   /* the outcome; start with POLICY_CHOICE_INIT */
    bool seeded;
    uint64_t seed;
    const char *preset;      /* or NULL */
    const char *overrides[16][3]; /* flag, option key, text */
    int n_overrides;
};

#define POLICY_CHOICE_INIT { .conf = BIDE_POLICY_CONF_INIT }

#define POLICY_FLAGS                                                           \
    { "policy", 'p', "FILE[:NAME]", "read the policy from a file" },           \
    { "preset", 0, "NAME", "start from a built-in policy" },                   \
    { "attempts", 0, "N", "attempts of a call, the first included" },          \
    { "attempt-timeout", 0, "D", "how long one attempt may take" },            \
    { "deadline", 0, "D", "how long all of it may take" },                     \
    { "base", 0, "D", "the first wait, before jitter" },                       \
    { "factor", 0, "X", "how much longer each wait is" },                      \
    { "cap", 0, "D", "the longest wait" },                                     \
    { "jitter", 0, "KIND", "none, full, equal, decorrelated, proportional" },  \
    { "floor", 0, "D", "the shortest wait" },                                  \
    { "seed", 0, "N", "draw the same waits each time" }

/* Takes a flag if it is one of POLICY_FLAGS: 1 taken, 0 not one of these; -1 a
 * mistake, and *ret_expected says what was expected. */
int policy_flag(struct policy_choice *choice, const char *name,
                const char *argument, const char **ret_expected);

/* Puts it all together after the flags were parsed: file or preset, then
 * overrides, then bide_policy_check(). -1 to go on, else an exit code; mistakes
 * are printed. Without --seed there is a seed from the kernel. policy_done()
 * frees. */
int policy_settle(struct policy_choice *choice);
void policy_done(struct policy_choice *choice);

/* ===== the layer above ===== */

/* Sets of `op` what the environment (BIDE_ATTEMPT, BIDE_DEADLINE_MS) tells of a
 * `bide run` that runs us. What bide would not have put there is ignored. */
void heed_layer_above(bide_op *op, int64_t now);

/* ===== files ===== */

/* To be called first: a standard file that was closed is not to be taken by
 * another. What holds its place is closed again for programs that are run. */
void hold_standard_files(void);

/* A file in TMPDIR that is gone with the process, however that ends; or -1. */
int nameless_file(void);

/* Writes all of it: 0 or errno. */
int write_whole(int fd, const char *data, size_t len);

/* ===== output ===== */

/* Whether to use colours on a stream: a terminal, TERM not dumb, NO_COLOR not
 * set. The width of the terminal: COLUMNS, or what the terminal says, or 80; at
 * least 20. And whether text may hold more than ASCII: the locale is UTF-8. */
bool use_colours(FILE *stream);
int terminal_width(FILE *stream);
bool use_utf8(void);

/* The sequences that begin and end a colour; "" where there are none. */
struct paint {
    const char *bold, *dim, *red, *green, *yellow, *plain;
};
struct paint paint_for(FILE *stream);

/* A jitter before the word "jitter": "full", "no". */
const char *jitter_word(const bide_backoff *backoff);

/* Prints "bide NAME: message" on stderr (NULL: "bide: message"), and gives
 * EXIT_USAGE. */
int complain(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "  did you mean `NAME`?" on stderr, or what else there is to choose
 * from; nothing if there is nothing helpful to say. `known` ends with NULL. */
void suggest(const char *found, const char *const *known);

#endif
