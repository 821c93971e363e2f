/* The policy of a command: a file or a preset, overridden by flags. */
#include "cmd/common/policy_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/common/output.h"
#include "config/field/option_value.h"
#include "config/policy/policy_set.h"

/* Flags that are options of a policy under a shorter name. */
static const char *const aliases[][2] = {
    { "attempts", "attempts" },     { "attempt-timeout", "attempt_timeout" },
    { "deadline", "deadline" },     { "base", "backoff.base" },
    { "factor", "backoff.factor" }, { "cap", "backoff.cap" },
    { "jitter", "backoff.jitter" }, { "floor", "backoff.floor" },
    { "nested", "nested" },
};

static const bide_option *option_of(const char *key)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        if (strcmp(options[i].key, key) == 0)
            return &options[i];
    return NULL;
}

/* ===== flags ===== */

/* A number without its unit is the most common error. */
static const char *what_fits(const bide_option *option, const char *text)
{
    int64_t ns;
    bool bare = option->type == BIDE_OPTION_DURATION && *text >= '0' &&
                *text <= '9' &&
                bide_parse_duration(text, strlen(text), &ns) < 0;

    return bare ? "a duration with its unit, such as 250ms or 2s"
                : option->expects;
}

/* `key` is that of an option: there is room for all of them. */
static void add_override(struct policy_choice *c, const char *flag,
                         const char *key, const char *text)
{
    const int most = sizeof c->overrides / sizeof c->overrides[0];
    int i = 0;

    while (i < c->n_overrides && strcmp(c->overrides[i][1], key) != 0)
        i++; /* of two the last wins */
    if (i == most)
        return;
    c->overrides[i][0] = flag;
    c->overrides[i][1] = key;
    c->overrides[i][2] = text;
    if (i == c->n_overrides)
        c->n_overrides++;
}

static int take_option(struct policy_choice *c, const char *const *alias,
                       const char *text, const char **ret_expected)
{
    bide_policy_conf scratch = BIDE_POLICY_CONF_INIT;

    if (bide__option_set(&scratch, alias[1], text, strlen(text)) < 0) {
        *ret_expected = what_fits(option_of(alias[1]), text);
        return -1;
    }
    add_override(c, alias[0], alias[1], text);
    return 1;
}

/* Mistakes are kept until all flags have been read, to be shown together. */
static int take_set(struct policy_choice *c, const char *text)
{
    bide_policy_conf scratch = BIDE_POLICY_CONF_INIT;
    bide_diagnostics *notes =
        c->wrong_sets ? c->wrong_sets : bide_diagnostics_new();
    const char *value = NULL;
    const bide_option *o =
        notes ? bide__policy_set(&scratch, "--set", text, notes, &value) : NULL;

    if (o)
        add_override(c, "set", o->key, value);
    if (!o || c->wrong_sets)
        c->wrong_sets = notes;
    else
        bide_diagnostics_free(notes);
    c->no_memory = c->no_memory || !notes;
    return 1;
}

static int read_seed(struct policy_choice *c, const char *text,
                     const char **ret_expected)
{
    char *end;

    errno = 0;
    c->seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) {
        *ret_expected = "a number from 0 to 18446744073709551615";
        return -1;
    }
    c->seeded = true;
    return 1;
}

/* A number as the text that a flag would have. */
#define TEXT_OF(x) #x
#define WORD(x)    TEXT_OF(x)

int policy_flag(struct policy_choice *c, const char *name, const char *argument,
                const char **ret_expected)
{
    if (strcmp(name, "policy") == 0) {
        *ret_expected = "the name of a file, or FILE:NAME";
        c->file = argument;
        return *argument ? 1 : -1;
    }
    if (strcmp(name, "preset") == 0) {
        c->preset = argument;
        return 1;
    }
    if (strcmp(name, "set") == 0)
        return take_set(c, argument);
    if (strcmp(name, "seed") == 0)
        return read_seed(c, argument, ret_expected);
    if (strcmp(name, "attempts") == 0 && strcmp(argument, "unlimited") == 0)
        argument = WORD(POLICY_UNLIMITED);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(name, aliases[i][0]) == 0)
            return take_option(c, aliases[i], argument, ret_expected);
    return 0;
}

bool policy_flag_given(const struct policy_choice *c, const char *option)
{
    for (int i = 0; i < c->n_overrides; i++)
        if (strcmp(c->overrides[i][1], option) == 0)
            return true;
    return false;
}

/* ===== files and presets ===== */

static int read_preset(struct policy_choice *c)
{
    const char *names[32];
    size_t n = 0;

    if (bide_policy_preset(&c->conf, c->preset) == 0)
        return -1;
    while (n < 31 && bide_policy_preset_name(n)) {
        names[n] = bide_policy_preset_name(n);
        n++;
    }
    names[n] = NULL;
    complain(c->command, "--preset: there is none called `%s`", c->preset);
    suggest(c->preset, names);
    return EXIT_USAGE;
}

/* A file may have a colon in its name: if the whole name exists, it is
 * meant. */
static int read_file(struct policy_choice *c)
{
    const char *colon = strrchr(c->file, ':');
    bide_diagnostics *notes = bide_diagnostics_new();
    char *path = NULL;
    int rc;

    if (colon && access(c->file, F_OK) != 0) {
        path = strndup(c->file, (size_t)(colon - c->file));
        c->name = colon + 1;
    }
    rc = bide_config_read(&c->config, path ? path : c->file, notes);
    if (rc == BIDE_ENOMEM)
        complain(c->command, "out of memory");
    else if (rc < 0)
        bide_diagnostics_print(notes, stderr, use_colours(stderr));
    bide_diagnostics_free(notes);
    free(path);
    return rc < 0 ? EXIT_USAGE : -1;
}

static int no_such_policy(const struct policy_choice *c)
{
    const char *names[33];
    size_t n = 0;

    while (n < 32 && bide_config_policy_name(c->config, n)) {
        names[n] = bide_config_policy_name(c->config, n);
        n++;
    }
    names[n] = NULL;
    if (n == 0)
        return complain(c->command, "%s holds no policy", c->file);
    if (c->name) {
        complain(c->command, "%.*s has no policy `%s`",
                 (int)(c->name - c->file - 1), c->file, c->name);
        suggest(c->name, names);
        return EXIT_USAGE;
    }
    complain(c->command, "%s has several policies and none is called `default`",
             c->file);
    fprintf(stderr, "  say which one: --policy %s:%s\n", c->file, names[0]);
    return EXIT_USAGE;
}

static int read_policy(struct policy_choice *c)
{
    int rc = read_file(c);

    if (rc >= 0)
        return rc;
    const bide_policy_conf *conf = bide_config_policy(c->config, c->name);
    if (!conf)
        return no_such_policy(c);
    c->conf = *conf;
    return -1;
}

/* ===== putting it together ===== */

/* Two values that conflict: each may be valid by itself, so the message says
 * which value is meant, and where it came from. */
static int refused(const struct policy_choice *c, int rc)
{
    const char *key = bide_error_name(rc);
    const bide_option *option = option_of(key);
    char buffer[BIDE__VALUE_TEXT];

    if (!option)
        return complain(c->command, "%s", bide_strerror(rc));
    for (int i = 0; i < c->n_overrides; i++) {
        const char *const *o = c->overrides[i];
        bool set = strcmp(o[0], "set") == 0;

        if (strcmp(o[1], key) == 0)
            return complain(c->command, "--%s%s%s: found `%s`, expected %s",
                            o[0], set ? " " : "", set ? key : "", o[2],
                            option->expects);
    }
    complain(c->command, "%s is %s, expected %s", key,
             bide__option_text(&c->conf, option, buffer, sizeof buffer),
             option->expects);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i][1], key) == 0) {
            fprintf(stderr, "  set --%s too\n", aliases[i][0]);
            return EXIT_USAGE;
        }
    fprintf(stderr, "  set it too: --set %s=...\n", key);
    return EXIT_USAGE;
}

static int settle_seed(struct policy_choice *c)
{
    uint32_t seed; /* short enough to type again */

    if (c->seeded)
        return -1;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        return complain(c->command, "no randomness: %s", strerror(errno));
    c->seed = seed;
    return -1;
}

int policy_sets(struct policy_choice *c)
{
    if (c->no_memory)
        return complain(c->command, "out of memory");
    if (!c->wrong_sets)
        return -1;
    bide_diagnostics_print(c->wrong_sets, stderr, use_colours(stderr));
    bide_diagnostics_free(c->wrong_sets);
    c->wrong_sets = NULL;
    return EXIT_USAGE;
}

int policy_settle(struct policy_choice *c)
{
    int rc = policy_sets(c);

    if (rc >= 0)
        return rc;
    if (c->file && c->preset)
        return complain(c->command,
                        "--policy and --preset: expected one of them");
    if (c->file)
        rc = read_policy(c);
    else if (c->preset)
        rc = read_preset(c);
    if (rc >= 0)
        return rc;
    for (int i = 0; i < c->n_overrides; i++)
        bide__option_set(&c->conf, c->overrides[i][1], c->overrides[i][2],
                         strlen(c->overrides[i][2]));
    rc = bide_policy_check(&c->conf);
    if (rc < 0)
        return refused(c, rc);
    return settle_seed(c);
}

void policy_done(struct policy_choice *c)
{
    bide_config_free(c->config);
    c->config = NULL;
    bide_diagnostics_free(c->wrong_sets);
    c->wrong_sets = NULL;
}
