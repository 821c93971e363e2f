/* translate.c: records what a translation does with each option. */
#include "config/translate/translate.h"

#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "config/field/option_value.h"

int bide__translation_init(struct bide__translation *t, const char *target,
                           const bide_policy_conf *conf)
{
    size_t n;

    bide_policy_options(&n);
    *t = (struct bide__translation){ .target = target, .conf = conf };
    t->arena = bide__arena_new();
    t->last_other = &t->others;
    if (t->arena)
        t->options = bide__arena_alloc(t->arena, n * sizeof *t->options);
    if (t->options)
        return 0;
    bide__translation_done(t);
    return BIDE_ENOMEM;
}

void bide__translation_done(struct bide__translation *t)
{
    bide__arena_free(t->arena);
    t->arena = NULL;
}

/* ===== recording ===== */

static struct bide__finding *finding(struct bide__translation *t,
                                     const char *key)
{
    return &t->options[bide__option_index(bide__option_find(key, strlen(key)))];
}

static void say(struct bide__translation *t, const char *key,
                enum bide__fate fate, const char *why, const char *instead)
{
    struct bide__finding *f = finding(t, key);

    f->fate = fate;
    f->why = why;
    f->instead = instead;
}

void bide__kept(struct bide__translation *t, const char *key)
{
    say(t, key, BIDE__KEPT, NULL, NULL);
}

void bide__lost(struct bide__translation *t, const char *key, const char *why)
{
    say(t, key, BIDE__LOST, why, NULL);
}

void bide__approximated(struct bide__translation *t, const char *key,
                        const char *why, const char *instead, ...)
{
    va_list args;
    char *text;

    va_start(args, instead);
    text = bide__arena_vprintf(t->arena, instead, args);
    va_end(args);
    t->no_memory = t->no_memory || !text;
    say(t, key, BIDE__APPROXIMATED, why, text);
}

void bide__quietly(struct bide__translation *t, const char *const *keys)
{
    for (; *keys; keys++)
        finding(t, *keys)->quiet = true;
}

void bide__lost_other(struct bide__translation *t, const char *key,
                      const char *value, const char *why, const char *instead)
{
    struct bide__finding *f = bide__arena_alloc(t->arena, sizeof *f);

    if (!f) {
        t->no_memory = true;
        return;
    }
    *f = (struct bide__finding){ .fate =
                                     instead ? BIDE__APPROXIMATED : BIDE__LOST,
                                 .key = key,
                                 .value = value,
                                 .why = why,
                                 .instead = instead };
    *t->last_other = f;
    t->last_other = &f->next;
}

void bide__caveat(struct bide__translation *t, const char *text)
{
    if (t->n_caveats < (int)(sizeof t->caveats / sizeof t->caveats[0]))
        t->caveats[t->n_caveats++] = text;
}

/* ===== the end: option by option ===== */

/* Why nobody else has an option that exporters say nothing about. */
static const struct {
    const char *group, *why;
} only_bide[] = {
    { "when_refused", "what is over a limit fails" },
    { "unreachable.", "calls do not wait together for a server that accepts no "
                      "connections" },
    { "trust.", "claims of other layers are not read" },
    { "backoff_", "there is one backoff for all" },
    { "backoff.", "waits grow by a factor" },
    { "limits.", "only requests in flight are limited" },
};

static const char *why_lost(const char *key)
{
    for (size_t i = 0; i < sizeof only_bide / sizeof only_bide[0]; i++)
        if (strncmp(key, only_bide[i].group, strlen(only_bide[i].group)) == 0)
            return only_bide[i].why;
    return "there is no such setting";
}

static void settle(struct bide__translation *t, const bide_option *o,
                   struct bide__finding *f)
{
    static const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    const char *unused = bide__option_unused(t->conf, o->key);
    char buffer[BIDE__VALUE_TEXT];
    const char *text = bide__option_text(t->conf, o, buffer, sizeof buffer);

    f->key = o->key;
    f->is_default = bide__option_same(t->conf, &defaults, o);
    f->value = bide__arena_copy(t->arena, text, strlen(text));
    t->no_memory = t->no_memory || !f->value;
    if (unused) {
        f->fate = f->is_default ? BIDE__KEPT : BIDE__UNUSED;
        f->why = unused;
        f->instead = NULL;
    } else if (f->fate == BIDE__UNSAID) {
        bool waits = strcmp(o->key, "unreachable.wait") == 0;

        f->fate = f->is_default && !waits ? BIDE__KEPT : BIDE__LOST;
        f->why = why_lost(o->key);
    }
}

int bide__translation_finish(struct bide__translation *t)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        settle(t, &options[i], &t->options[i]);
    return t->no_memory ? BIDE_ENOMEM : 0;
}

static bool is_loss(const struct bide__finding *f)
{
    return f->fate == BIDE__APPROXIMATED || f->fate == BIDE__LOST;
}

bool bide__translation_lossy(const struct bide__translation *t)
{
    size_t n;

    bide_policy_options(&n);
    for (size_t i = 0; i < n; i++)
        if (is_loss(&t->options[i]) && !t->options[i].is_default)
            return true;
    return t->others != NULL;
}

/* ===== for people ===== */

static void print_finding(const struct bide__finding *f,
                          const struct bide__translation *t,
                          const char *command, FILE *out)
{
    fprintf(out, "bide %s: %s: %s ", command, f->key, f->value);
    if (f->fate == BIDE__UNUSED)
        fprintf(out, "was not used: %s\n", f->why);
    else if (f->fate == BIDE__LOST)
        fprintf(out, "is lost: %s: %s\n", t->target, f->why);
    else
        fprintf(out, "became %s: %s: %s\n", f->instead, t->target, f->why);
}

/* Prints all defaults that are not kept as one sentence. */
static void print_defaults(const struct bide__translation *t,
                           const char *command, FILE *out)
{
    size_t n, column = 0;

    bide_policy_options(&n);
    for (size_t i = 0; i < n; i++) {
        const struct bide__finding *f = &t->options[i];
        size_t width = f->key ? strlen(f->key) + strlen(f->value) + 3 : 0;

        if (!is_loss(f) || !f->is_default || f->quiet)
            continue;
        if (column == 0)
            fprintf(out,
                    "bide %s: note: defaults that %s does not have, or "
                    "has otherwise:",
                    command, t->target);
        if (column == 0 || column + width > 78)
            column = (size_t)fprintf(out, "%s\n  ", column ? "," : "") - 1;
        else
            column += (size_t)fprintf(out, ", ");
        column += (size_t)fprintf(out, "%s %s", f->key, f->value);
    }
    if (column)
        fprintf(out, "\n");
}

void bide__translation_print(const struct bide__translation *t,
                             const char *command, FILE *out)
{
    size_t n;

    bide_policy_options(&n);
    for (size_t i = 0; i < n; i++) {
        const struct bide__finding *f = &t->options[i];

        if (!f->is_default && f->fate != BIDE__KEPT)
            print_finding(f, t, command, out);
    }
    for (const struct bide__finding *f = t->others; f; f = f->next)
        print_finding(f, t, command, out);
    print_defaults(t, command, out);
    for (int i = 0; i < t->n_caveats; i++)
        fprintf(out, "bide %s: note: %s\n", command, t->caveats[i]);
}

/* ===== for programs ===== */

static void json_finding(const struct bide__finding *f, struct bide__json *out)
{
    static const char *const names[] = { "kept", "kept", "approximated", "lost",
                                         "unused" };

    if (f->fate == BIDE__KEPT)
        return;
    bide__json_object(out, NULL);
    bide__json_text(out, "key", f->key);
    bide__json_text(out, "value", f->value);
    bide__json_flag(out, "default", f->is_default);
    bide__json_text(out, "fate", names[f->fate]);
    bide__json_text(out, "why", f->why);
    if (f->instead)
        bide__json_text(out, "instead", f->instead);
    bide__json_end(out);
}

void bide__translation_json(const struct bide__translation *t,
                            struct bide__json *out)
{
    size_t n;

    bide_policy_options(&n);
    bide__json_object(out, NULL);
    bide__json_text(out, "target", t->target);
    bide__json_flag(out, "lossy", bide__translation_lossy(t));
    bide__json_list(out, "losses");
    for (size_t i = 0; i < n; i++)
        json_finding(&t->options[i], out);
    for (const struct bide__finding *f = t->others; f; f = f->next)
        json_finding(f, out);
    bide__json_end(out);
    bide__json_list(out, "notes");
    for (int i = 0; i < t->n_caveats; i++)
        bide__json_text(out, NULL, t->caveats[i]);
    bide__json_end(out);
    bide__json_end(out);
}
