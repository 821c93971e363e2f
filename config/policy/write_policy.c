/* write_policy.c: a policy file out of policies.
 *
 * Only what differs from the defaults is written, so that a reader sees what
 * was decided and not what was left alone. Values are in the words of the table
 * of options, which reads them back as they were. */
#include "config/policy/write_policy.h"

#include <string.h>

#include "base/utf8.h"
#include "config/field/option_value.h"
#include "config/policy/retry_set.h"

enum { WIDTH = 80 };

/* ===== text ===== */

static bool is_plain_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first &&
            ((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/'));
}

/* Words that some reader of YAML takes for something else. */
static bool is_reserved(const char *text)
{
    static const char *const words[] = { "null", "true", "false", "yes", "no",
                                         "on",   "off",  "y",     "n",   NULL };

    for (int i = 0; words[i]; i++)
        if (strlen(words[i]) == strlen(text)) {
            size_t j = 0;

            while (text[j] && (text[j] | 0x20) == words[i][j])
                j++;
            if (!text[j])
                return true;
        }
    return false;
}

/* All that is not printable ASCII is escaped: breaks and marks of other scripts
 * mean something to YAML. */
static void write_quoted(FILE *out, const char *text)
{
    size_t len = strlen(text);

    putc('"', out);
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t point = (unsigned char)text[i];

        n = bide__utf8_next(text + i, len - i, &point);
        if (n == 0) {
            n = 1;
            point = 0xfffd;
        }
        if (point == '"' || point == '\\')
            fprintf(out, "\\%c", (char)point);
        else if (point >= 0x20 && point < 0x7f)
            putc((char)point, out);
        else if (point < 0x10000)
            fprintf(out, "\\u%04lX", (unsigned long)point);
        else
            fprintf(out, "\\U%08lX", (unsigned long)point);
    }
    putc('"', out);
}

void bide__write_yaml_text(FILE *out, const char *text)
{
    bool plain = is_plain_char(text[0], true) && !is_reserved(text);

    for (size_t i = 1; plain && text[i]; i++)
        plain = is_plain_char(text[i], false);
    if (plain)
        fputs(text, out);
    else
        write_quoted(out, text);
}

/* ===== options ===== */

static const char *comment_of(const struct bide__named_policy *p,
                              const bide_option *o)
{
    for (int i = 0; i < p->n_comments; i++)
        if (p->comments[i].text && strcmp(p->comments[i].key, o->key) == 0)
            return p->comments[i].text;
    return o->help;
}

/* A comment above a value, broken between words. */
static void write_comment(FILE *out, int indent, const char *text)
{
    size_t room = WIDTH - 2 - (size_t)indent;

    while (*text) {
        size_t n = strlen(text);

        if (n > room)
            for (n = room; n > 0 && text[n] != ' ';)
                n--;
        if (n == 0)
            n = strcspn(text, " ");
        fprintf(out, "%*s# %.*s\n", indent, "", (int)n, text);
        text += n;
        while (*text == ' ')
            text++;
    }
}

/* A comment goes behind the value, or above it where it does not fit. */
static void write_line(FILE *out, int indent, const char *key,
                       const char *value, const char *comment)
{
    size_t width =
        (size_t)indent + strlen(key) + strlen(value) + 6 + strlen(comment);

    if (width > WIDTH)
        write_comment(out, indent, comment);
    fprintf(out, "%*s%s: %s", indent, "", key, value);
    if (width <= WIDTH)
        fprintf(out, "  # %s", comment);
    fprintf(out, "\n");
}

/* The options of a group stand together in the table; its name comes first.
 * `attempts` is always written: it is what a reader looks for first. */
static bool write_options(FILE *out, const struct bide__named_policy *p)
{
    static const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    size_t n, open = 0;
    const bide_option *options = bide_policy_options(&n);
    const char *group = "";
    bool any = false;
    char buffer[BIDE__VALUE_TEXT];

    for (size_t i = 0; i < n; i++) {
        const char *key = options[i].key, *dot = strchr(key, '.');
        size_t len = dot ? (size_t)(dot - key) : 0;

        if (bide__option_same(&p->conf, &defaults, &options[i]) &&
            strcmp(key, "attempts") != 0)
            continue;
        any = true;
        if (dot && (len != open || strncmp(key, group, len) != 0))
            fprintf(out, "    %.*s:\n", (int)len, key);
        group = key;
        open = len;
        write_line(
            out, dot ? 6 : 4, dot ? dot + 1 : key,
            bide__option_text(&p->conf, &options[i], buffer, sizeof buffer),
            comment_of(p, &options[i]));
    }
    return any;
}

/* ===== rules ===== */

static void write_faults(FILE *out, uint32_t set)
{
    const char *comma = "";

    fprintf(out, "[");
    for (int f = 0; f < BIDE_N_FAULTS; f++)
        if (set >> f & 1) {
            fprintf(out, "%s%s", comma, bide_fault_name((bide_fault)f));
            comma = ", ";
        }
    fprintf(out, "]");
}

static void write_codes(FILE *out, uint32_t set)
{
    const char *comma = "";

    fprintf(out, "[");
    for (int c = 0; c < BIDE_N_GRPC; c++)
        if (set >> c & 1) {
            fprintf(out, "%s%s", comma, bide_grpc_name(c));
            comma = ", ";
        }
    fprintf(out, "]");
}

static void write_member(FILE *out, const char *key, const char *text)
{
    if (!text)
        return;
    fprintf(out, ", %s: ", key);
    write_quoted(out, text);
}

static void write_rule(FILE *out, const bide_rule *r)
{
    fprintf(out, "      - { class: %s", bide_class_name(r->cls));
    if (r->status_max && r->status_min == r->status_max)
        fprintf(out, ", status: %u", r->status_min);
    else if (r->status_max)
        fprintf(out, ", status: %u-%u", r->status_min, r->status_max);
    if (r->faults) {
        fprintf(out, ", errors: ");
        write_faults(out, r->faults);
    }
    if (r->grpc) {
        fprintf(out, ", grpc: ");
        write_codes(out, r->grpc);
    }
    write_member(out, "method", r->method);
    write_member(out, "header", r->header);
    write_member(out, "value", r->header_value);
    write_member(out, "problem_type", r->problem_type);
    fprintf(out, "%s }\n", r->not_processed ? ", not_processed: true" : "");
}

static void write_statuses(FILE *out, const struct bide__retry_set *set)
{
    const char *comma = "";

    fprintf(out, "[");
    for (unsigned s = 100, end; s <= 999; s = end + 1) {
        end = s;
        if (!bide__status_in(set, s))
            continue;
        while (bide__status_in(set, end + 1))
            end++;
        fprintf(out, s == end ? "%s%u" : "%s%u-%u", comma, s, end);
        comma = ", ";
    }
    fprintf(out, "]");
}

/* ===== retry_on ===== */

/* Only the lists that are not as they would be anyway. */
static bool write_retry_on(FILE *out, const struct bide__named_policy *p)
{
    static const bide_policy_conf defaults = BIDE_POLICY_CONF_INIT;
    const struct bide__retry_set *set = &p->retried;
    struct bide__retry_set usual;
    bool status, faults, grpc;

    bide__retry_set_of(&usual, &defaults, NULL);
    status = memcmp(usual.status, set->status, sizeof usual.status) != 0;
    faults = usual.faults != set->faults;
    grpc = usual.grpc != set->grpc;
    if (!p->has_retry_on || !(status || faults || grpc))
        return false;
    fprintf(out, "    retry_on:  # exactly these\n");
    if (status) {
        fprintf(out, "      status: ");
        write_statuses(out, set);
        fprintf(out, "\n");
    }
    if (faults) {
        fprintf(out, "      errors: ");
        write_faults(out, set->faults);
        fprintf(out, "\n");
    }
    if (grpc) {
        fprintf(out, "      grpc: ");
        write_codes(out, set->grpc);
        fprintf(out, "\n");
    }
    return true;
}

static void write_policy(FILE *out, const struct bide__named_policy *p)
{
    bool any;

    fprintf(out, "  ");
    bide__write_yaml_text(out, p->name);
    fprintf(out, ":\n");
    if (p->extends) {
        fprintf(out, "    extends: ");
        bide__write_yaml_text(out, p->extends);
        fprintf(out, "\n");
        return;
    }
    any = write_options(out, p);
    any = write_retry_on(out, p) || any;
    if (p->conf.n_rules)
        fprintf(out, "    rules:\n");
    for (size_t i = 0; i < p->conf.n_rules; i++)
        write_rule(out, &p->conf.rules[i]);
    if (!any && !p->conf.n_rules)
        fprintf(out, "    {}\n");
}

void bide__write_policies(FILE *out, const struct bide__named_policy *policies,
                          size_t n)
{
    fprintf(out, "version: 1\npolicies:%s\n", n ? "" : " {}");
    for (size_t i = 0; i < n; i++)
        write_policy(out, &policies[i]);
}
