/* The arguments of `bide run`: each says what it expected, if it was not
 * that. */
#include "cmd/run/args.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/run/judge.h"

/* ===== exit codes ===== */

/* Reads "75" or "TERM" (143); -1 if it is neither. */
static int read_code(const char *text, size_t len)
{
    char word[16];
    char *end;
    long n;
    int number;

    if (len == 0 || len >= sizeof word)
        return -1;
    memcpy(word, text, len);
    word[len] = '\0';
    if (!isdigit((unsigned char)word[0])) {
        number = run_signal_number(word);
        if (strcmp(word, "timeout") == 0)
            return EXIT_TIMED_OUT;
        return number ? EXIT_SIGNAL + number : -1;
    }
    n = strtol(word, &end, 10);
    return *end || n < 1 || n > 255 ? -1 : (int)n;
}

/* "1,75,100-110,TERM" */
static const char *take_codes(struct codes *codes, const char *text)
{
    static const char expected[] =
        "exit codes from 1 to 255, such as 1,75,100-110, and names of signals";

    codes->given = true;
    for (;;) {
        size_t len = strcspn(text, ",");
        const char *dash = memchr(text, '-', len);
        size_t first_len = dash ? (size_t)(dash - text) : len;
        int first = read_code(text, first_len);
        int last = dash ? read_code(dash + 1, len - first_len - 1) : first;
        if (first < 0 || last < first)
            return expected;
        memset(&codes->has[first], true, (size_t)(last - first) + 1);
        if (!text[len])
            return NULL;
        text += len + 1;
    }
}

static const char *take_retry_on(struct run_args *a, const char *text)
{
    return take_codes(&a->retry_on, text);
}

static const char *take_stop_on(struct run_args *a, const char *text)
{
    return take_codes(&a->stop_on, text);
}

/* ===== expressions ===== */

static const char *take_pattern(struct pattern *p, const char *text)
{
    static char expected[160];
    char why[100];
    int rc;

    if (p->given)
        regfree(&p->compiled);
    p->given = false;
    setlocale(LC_CTYPE, "");
    rc = regcomp(&p->compiled, text, REG_EXTENDED | REG_NOSUB | REG_NEWLINE);
    if (rc != 0) {
        regerror(rc, &p->compiled, why, sizeof why);
        snprintf(expected, sizeof expected,
                 "an extended regular expression (%s)", why);
        return expected;
    }
    p->given = true;
    return NULL;
}

static const char *take_retry_if(struct run_args *a, const char *text)
{
    return take_pattern(&a->retry_if, text);
}

static const char *take_stop_if(struct run_args *a, const char *text)
{
    return take_pattern(&a->stop_if, text);
}

/* ===== the rest ===== */

static const char *take_kill_after(struct run_args *a, const char *text)
{
    return bide_parse_duration(text, strlen(text), &a->kill_after_ns) == 0
               ? NULL
               : "a duration, such as 250ms or 2s";
}

/* The place of a word in a list that ends with NULL; -1 if it is not there. */
static int place_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(word, list[i]) == 0)
            return i;
    return -1;
}

static const char *take_output(struct run_args *a, const char *text)
{
    static const char *const words[] = { "all", "prefix", "last", "success",
                                         NULL };
    int i = place_of(text, words);

    a->output = (enum run_output)i;
    return i < 0 ? "all, prefix, last or success" : NULL;
}

static const char *take_stdin(struct run_args *a, const char *text)
{
    static const char *const words[] = { "auto", "replay", "inherit", "null",
                                         NULL };
    int i = place_of(text, words);

    a->input = (enum run_stdin)i;
    return i < 0 ? "auto, replay, inherit or null" : NULL;
}

/* It becomes the name of a file. */
static const char *take_key(struct run_args *a, const char *text)
{
    size_t len = strlen(text);

    a->key = text;
    if (len == 0 || len > 64 || text[0] == '.' ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                     "0123456789._-") != len)
        return "up to 64 letters, digits, `.`, `_` and `-`, no `.` first";
    return NULL;
}

static const char *take_json(struct run_args *a, const char *text)
{
    a->json = text;
    return *text ? NULL : "the name of a file, the number of a descriptor or -";
}

static const char *take_once(struct run_args *a, const char *text)
{
    (void)text;
    a->at_most_once = true;
    return NULL;
}

static const char *take_quiet(struct run_args *a, const char *text)
{
    (void)text;
    a->quiet = true;
    return NULL;
}

static const char *take_verbose(struct run_args *a, const char *text)
{
    (void)text;
    a->verbose = true;
    return NULL;
}

static const struct {
    const char *name;
    const char *(*take)(struct run_args *a, const char *text);
} takers[] = {
    { "retry-on", take_retry_on }, { "stop-on", take_stop_on },
    { "retry-if", take_retry_if }, { "stop-if", take_stop_if },
    { "at-most-once", take_once }, { "kill-after", take_kill_after },
    { "stdin", take_stdin },       { "output", take_output },
    { "key", take_key },           { "json", take_json },
    { "quiet", take_quiet },       { "verbose", take_verbose },
};

const char *run_take(void *ctx, const char *name, const char *argument)
{
    struct run_args *a = ctx;
    const char *expected = NULL;

    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (strcmp(name, takers[i].name) == 0)
            return takers[i].take(a, argument);
    return policy_flag(&a->policy, name, argument, &expected) < 0 ? expected
                                                                  : NULL;
}

void run_args_done(struct run_args *a)
{
    if (a->retry_if.given)
        regfree(&a->retry_if.compiled);
    if (a->stop_if.given)
        regfree(&a->stop_if.compiled);
    policy_done(&a->policy);
}
