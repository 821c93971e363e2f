/* The arguments of `bide run`: errors say what was expected. */
#include "cmd/run/args.h"

#include <ctype.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/flags.h"
#include "cmd/common/policy_choice.h"
#include "cmd/run/judge.h"
#include "config/field/rows.h"

/* ===== exit codes ===== */

static bool set_codes(const struct bide__field *f, void *to, const char *text,
                      size_t size)
{
    (void)size;
    return bide__codes_read((void *)((char *)to + f->offset), text, 1);
}

/* "success", "failure" or codes. */
static bool set_until(const struct bide__field *f, void *to, const char *text,
                      size_t size)
{
    struct run_args *a = to;

    (void)f;
    (void)size;
    if (strcmp(text, "success") == 0)
        a->until = UNTIL_SUCCESS;
    else if (strcmp(text, "failure") == 0 || strcmp(text, "fail") == 0)
        a->until = UNTIL_FAILURE;
    else
        a->until = UNTIL_CODES;
    return a->until != UNTIL_CODES || bide__codes_read(&a->until_codes, text, 0);
}

static bool set_signal(const struct bide__field *f, void *to, const char *text,
                       size_t size)
{
    struct run_args *a = to;

    (void)f;
    (void)size;
    a->end_signal = bide__signal_number(text);
    return a->end_signal > 0;
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

/* ===== the table ===== */

/* It becomes the name of a file. */
static bool set_key(const struct bide__field *f, void *to, const char *text,
                    size_t len)
{
    (void)f;
    ((struct run_args *)to)->key = text;
    return len > 0 && len <= 64 && text[0] != '.' &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789._-") == len;
}

static bool set_fleet(const struct bide__field *f, void *to, const char *text,
                      size_t len)
{
    (void)f;
    (void)len;
    return fleet_flag_read(&((struct run_args *)to)->fleet, text);
}

#define TAKES_CODES                                                            \
    TAKES_AS(BIDE__OTHER, "exit codes from 1 to 255, such as 1,75,100-110, "   \
                          "and names of signals")
static const char *const outputs[] = { "all", "prefix", "last", "success",
                                       NULL };
static const char *const inputs[] = { "auto", "replay", "inherit", "null",
                                      NULL };

#define S struct run_args
static const struct bide__field fields[] = {
    { "retry-on", AT(retry_on), TAKES_CODES, .set = set_codes },
    { "stop-on", AT(stop_on), TAKES_CODES, .set = set_codes },
    { "at-most-once", AT(at_most_once), TAKES_FLAG },
    { "until", AT(until),
      TAKES_AS(BIDE__OTHER, "success, failure, or exit codes such as 0,3"),
      .set = set_until },
    { "on-retry", AT(on_retry), TAKES_TEXT("a command for the shell") },
    { "on-failure", AT(on_failure), TAKES_TEXT("a command for the shell") },
    { "on-success", AT(on_success), TAKES_TEXT("a command for the shell") },
    { "signal", AT(end_signal),
      TAKES_AS(BIDE__OTHER, "the name or number of a signal, such as INT"),
      .set = set_signal },
    { "foreground", AT(foreground), TAKES_FLAG },
    { "kill-after", AT(kill_after_ns),
      TAKES(DURATION, 0, MAX_NS, "a duration, such as 250ms or 2s") },
    { "stdin", AT(input),
      TAKES_CHOICE(inputs, "auto, replay, inherit or null") },
    { "output", AT(output),
      TAKES_CHOICE(outputs, "all, prefix, last or success") },
    { "key", AT(key),
      TAKES_TEXT("up to 64 letters, digits, `.`, `_` and `-`, no `.` first"),
      .set = set_key },
    { "fleet", AT(fleet),
      TAKES_TEXT(FLEET_FLAG_EXPECTED),
      .set = set_fleet },
    { "list", AT(list), TAKES_FLAG },
    { "reset", AT(reset), TAKES_FLAG },
    { "json", AT(json), TAKES_FLAG },
    { "log-file", AT(log_file),
      TAKES_TEXT("the name of a file, the number of a descriptor or -") },
    { "quiet", AT(quiet), TAKES_FLAG },
    { "verbose", AT(verbose), TAKES_FLAG },
    LAST
};
#undef S
static const struct bide__table table = { .fields = fields };

const char *run_take(void *ctx, const char *name, const char *argument)
{
    struct run_args *a = ctx;
    const char *expected = NULL;
    int taken;

    if (strcmp(name, "retry-if") == 0)
        return take_pattern(&a->retry_if, argument);
    if (strcmp(name, "stop-if") == 0)
        return take_pattern(&a->stop_if, argument);
    taken = field_flag(&table, a, name, argument, &expected);
    if (taken == 0)
        taken = policy_flag(&a->policy, name, argument, &expected);
    return taken < 0 ? expected : NULL;
}

bool run_is_unlimited(uint32_t attempts)
{
    return attempts == POLICY_UNLIMITED;
}

const char *run_of_attempts(uint32_t attempts, char *buffer, size_t size)
{
    buffer[0] = '\0';
    if (!run_is_unlimited(attempts))
        snprintf(buffer, size, " of %u", attempts);
    return buffer;
}

void run_args_done(struct run_args *a)
{
    if (a->retry_if.given)
        regfree(&a->retry_if.compiled);
    if (a->stop_if.given)
        regfree(&a->stop_if.compiled);
    policy_done(&a->policy);
}
