/* Flags: `--name VALUE`, `--name=VALUE`, `-n VALUE`; and messages about
 * others. */
#include "cmd/common/flags.h"

#include <stdlib.h>
#include <string.h>

#include "base/people.h"
#include "cmd/common/output.h"
#include "config/field/text.h"

/* Where the help of a flag begins, if the terminal has room for that. */
enum { HELP_COLUMN = 28, ROOMY = 60 };

const char flag_elsewhere[] = "";

/* ===== --help ===== */

static void print_flag(const struct flag *f, int width)
{
    char left[64];
    int column = width < ROOMY ? 8 : HELP_COLUMN;
    int n =
        snprintf(left, sizeof left, "  %c%c%s --%s%s%s", f->letter ? '-' : ' ',
                 f->letter ? f->letter : ' ', f->letter ? "," : " ", f->name,
                 f->argument ? " " : "", f->argument ? f->argument : "");

    fputs(left, stdout);
    if (n + 2 > column) {
        putchar('\n');
        n = 0;
    }
    printf("%*s", column - n, "");
    bide__print_wrapped(stdout, f->help, column, column, width);
}

static void print_help(const struct flags *flags)
{
    static const struct flag help = { "help", 'h', NULL, "show this page" };
    struct paint p = paint_for(stdout);
    int width = terminal_width(stdout);

    if (width > 100)
        width = 100;
    printf("%sUsage:%s ", p.bold, p.plain);
    bide__print_wrapped(stdout, flags->usage, 7, 7, width);
    putchar('\n');
    bide__print_wrapped(stdout, flags->about, 0, 0, width);
    printf("\n%sOptions:%s\n", p.bold, p.plain);
    for (const struct flag *f = flags->list; f->name; f++)
        if (f->argument != flag_elsewhere)
            print_flag(f, width);
    print_flag(&help, width);
    if (flags->after) {
        putchar('\n');
        bide__print_wrapped(stdout, flags->after, 0, 0, width);
    }
}

/* ===== parsing ===== */

struct parser {
    const struct flags *flags;
    const char *command;
    int argc, at; /* the argument that is looked at */
    char **argv;
    bool command_follows; /* the first operand ends the flags */
    const char *(*take)(void *ctx, const char *name, const char *argument);
    void *ctx;
};

static int see_help(const struct parser *p)
{
    fprintf(stderr, "  see `bide %s --help`\n", p->command);
    return EXIT_USAGE;
}

static int unknown(const struct parser *p, const char *text, size_t len)
{
    enum { MOST = 128 };
    static char names[MOST][40];
    const char *known[MOST + 2];
    char found[40];
    int n = 0;

    for (const struct flag *f = p->flags->list; f->name && n < MOST; f++) {
        if (f->argument == flag_elsewhere)
            continue;
        snprintf(names[n], sizeof names[n], "--%s", f->name);
        known[n] = names[n];
        n++;
    }
    known[n++] = "--help";
    known[n] = NULL;
    snprintf(found, sizeof found, "%.*s", (int)len, text);
    complain(p->command, "unknown option %.*s", (int)len, text);
    suggest(found, known);
    return see_help(p);
}

static bool has_flag(const struct parser *p, const char *name)
{
    for (const struct flag *f = p->flags->list; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return true;
    return false;
}

/* For those who come from another program. */
static int use_instead(const struct parser *p, const struct flag *f)
{
    complain(p->command, "there is no option --%s here", f->name);
    fprintf(stderr, "  %s\n", f->help);
    return EXIT_USAGE;
}

/* Passes a flag on. `value` is what was joined to it, or NULL. */
static int hand_over(struct parser *p, const struct flag *f, const char *value)
{
    if (f->argument == flag_elsewhere)
        return use_instead(p, f);
    if (!f->argument && value) {
        complain(p->command, "--%s takes no argument, found `%s`", f->name,
                 value);
        if (strcmp(f->name, "json") == 0 && has_flag(p, "log-file"))
            fprintf(stderr, "  to write it to a file: --log-file %s\n", value);
        return see_help(p);
    }
    if (f->argument && !value) {
        if (p->at + 1 >= p->argc) {
            complain(p->command, "--%s: expected an argument, %s, found none",
                     f->name, f->argument);
            return see_help(p);
        }
        value = p->argv[++p->at];
    }
    const char *expected = p->take(p->ctx, f->name, value);
    if (!expected)
        return -1;
    if (value)
        return complain(p->command, "--%s: found `%s`, expected %s", f->name,
                        value, expected);
    return complain(p->command, "--%s: expected %s", f->name, expected);
}

static int take_long(struct parser *p, const char *arg)
{
    size_t len = strcspn(arg + 2, "=");
    const char *value = arg[2 + len] == '=' ? arg + 2 + len + 1 : NULL;

    if (len == 4 && strncmp(arg + 2, "help", 4) == 0) {
        print_help(p->flags);
        return EXIT_OK;
    }
    for (const struct flag *f = p->flags->list; f->name; f++)
        if (strlen(f->name) == len && strncmp(f->name, arg + 2, len) == 0)
            return hand_over(p, f, value);
    return unknown(p, arg, 2 + len);
}

/* -x, -xy for -x -y where x takes no argument, -xVALUE where it takes one. */
static int take_short(struct parser *p, const char *arg)
{
    for (const char *c = arg + 1; *c; c++) {
        const struct flag *f = p->flags->list;
        if (*c == 'h') {
            print_help(p->flags);
            return EXIT_OK;
        }
        while (f->name && f->letter != *c)
            f++;
        if (!f->name) {
            complain(p->command, "unknown option -%c", *c);
            return see_help(p);
        }
        bool joined = f->argument && c[1];
        int rc = hand_over(p, f, joined ? c + 1 : NULL);
        if (rc >= 0 || f->argument)
            return rc;
    }
    return -1;
}

/* Moves the operands after the flags, keeping the order. False: no memory. */
static bool gather_operands(char **argv, int argc, const bool *operand,
                            int *ret_first)
{
    char **sorted = calloc((size_t)argc + 1, sizeof *sorted);
    int n = 0;

    if (!sorted)
        return false;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            *ret_first = n;
        for (int i = 0; i < argc; i++)
            if (operand[i] == (pass == 1))
                sorted[n++] = argv[i];
    }
    memcpy(argv, sorted, (size_t)argc * sizeof *sorted);
    free(sorted);
    return true;
}

static int take_all(struct parser *p, bool *operand)
{
    bool only_operands = false;

    for (p->at = 1; p->at < p->argc; p->at++) {
        const char *arg = p->argv[p->at];
        int rc = -1;

        if (only_operands || arg[0] != '-' || !arg[1]) {
            operand[p->at] = true; /* "-" is standard input */
            only_operands = only_operands || p->command_follows;
        } else if (strcmp(arg, "--") == 0) {
            only_operands = true;
        } else {
            rc = arg[1] == '-' ? take_long(p, arg) : take_short(p, arg);
        }
        if (rc >= 0)
            return rc;
    }
    return -1;
}

static int parse(struct parser *p, int *ret_first)
{
    bool *operand = calloc((size_t)p->argc + 1, sizeof *operand);
    int rc, first = p->argc;

    if (!operand)
        return complain(p->command, "out of memory");
    rc = take_all(p, operand);
    if (rc < 0 && !gather_operands(p->argv, p->argc, operand, &first))
        rc = complain(p->command, "out of memory");
    free(operand);
    if (rc < 0 && !ret_first && first < p->argc) {
        complain(p->command, "found `%s`, expected no operand", p->argv[first]);
        return see_help(p);
    }
    if (rc < 0 && ret_first)
        *ret_first = first;
    return rc;
}

int flags_parse(const struct flags *flags, int argc, char **argv,
                const char *(*take)(void *ctx, const char *name,
                                    const char *argument),
                void *ctx, int *ret_first)
{
    struct parser p = { flags, argv[0], argc, 0, argv, false, take, ctx };

    return parse(&p, ret_first);
}

int flags_parse_command(const struct flags *flags, int argc, char **argv,
                        const char *(*take)(void *ctx, const char *name,
                                            const char *argument),
                        void *ctx, int *ret_first)
{
    struct parser p = { flags, argv[0], argc, 0, argv, true, take, ctx };

    return parse(&p, ret_first);
}

/* ===== by a table ===== */

static bool set_text(const struct bide__field *f, void *to, const char *text)
{
    memcpy((char *)to + f->offset, &text, sizeof text);
    return *text;
}

int field_flag(const struct bide__table *table, void *to, const char *name,
               const char *argument, const char **ret_expected)
{
    size_t base;
    const struct bide__field *f = bide__field_find(table, name, &base);
    const char *text = argument ? argument : "true";

    if (!f)
        return 0;
    *ret_expected = f->expects;
    if (f->type == BIDE__TEXT && !f->set)
        return set_text(f, to, text) ? 1 : -1;
    return bide__field_set(f, to, text, strlen(text)) == BIDE__SET_OK ? 1 : -1;
}
