/* Flags. Every command treats `--help`, unknown flags (with a "did you mean"),
 * missing arguments and `--` alike: `--name VALUE`, `--name=VALUE`, `-n VALUE`,
 * `-nVALUE`. Not getopt_long: it takes any beginning of a name for the name, so
 * that a new flag breaks old scripts, and it will not say what was expected. */
#ifndef BIDE_CMD_COMMON_FLAGS_H
#define BIDE_CMD_COMMON_FLAGS_H

struct flag {
    const char *name;     /* "policy": --policy */
    char letter;          /* 'p': -p; 0: none */
    const char *argument; /* "FILE[:NAME]"; NULL: takes none */
    const char *help;
};

/* In place of `argument`: a flag that other programs have. It is not listed, and
 * `help` says what to use here instead. */
extern const char flag_elsewhere[];

struct flags {
    const char *usage;       /* "bide explain [options]" */
    const char *about;       /* a sentence or two */
    const struct flag *list; /* ends with a NULL name */
    const char *after;       /* examples, exit codes; or NULL */
};

/* Parses argv. For each flag `take` is called with its name and argument; it
 * returns NULL, or what was expected, which is a usage error. Operands are
 * moved to the end of argv, *ret_first is the index of the first; with
 * ret_first NULL, an operand is an error. Returns -1 to continue, else the exit
 * code: 0 after --help, EXIT_USAGE after an error (which has been printed). */
int flags_parse(const struct flags *flags, int argc, char **argv,
                const char *(*take)(void *ctx, const char *name,
                                    const char *argument),
                void *ctx, int *ret_first);

/* The same for a command that runs another: the first operand begins that
 * command, with or without `--`, and what follows is not parsed. */
int flags_parse_command(const struct flags *flags, int argc, char **argv,
                        const char *(*take)(void *ctx, const char *name,
                                            const char *argument),
                        void *ctx, int *ret_first);

/* Takes a flag if a table of fields has it (config/field/field.h): 1 taken, 0
 * not one of these; -1 an error, and *ret_expected says what was expected. A
 * flag without an argument is set. */
struct bide__table;
int field_flag(const struct bide__table *table, void *to, const char *name,
               const char *argument, const char **ret_expected);

#endif
