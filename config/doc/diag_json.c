/* diag_json.c: findings for machines: plain JSON, and SARIF 2.1.0.
 *
 * In both, a note is a member of the finding that it belongs to. */
#include "config/doc/diag_json.h"

#include <string.h>

#include "base/hex.h"
#include "base/json.h"
#include "config/lint/rules.h"

/* The index after the notes of finding i. */
static size_t behind_notes(const bide_diagnostics *notes, size_t i)
{
    const bide_diagnostic *d;

    do
        d = bide_diagnostics_at(notes, ++i);
    while (d && d->severity == BIDE_NOTE);
    return i;
}

/* ===== plain ===== */

static void put_place(struct bide__json *j, const bide_diagnostic *d)
{
    bide__json_text(j, "file", d->file);
    if (!d->line)
        return;
    bide__json_integer(j, "line", d->line);
    bide__json_integer(j, "column", d->column);
    bide__json_integer(j, "end_line", d->end_line);
    bide__json_integer(j, "end_column", d->end_column);
}

static void put_notes(struct bide__json *j, const bide_diagnostics *notes,
                      size_t first, size_t end)
{
    bide__json_list(j, "notes");
    for (; first < end; first++) {
        const bide_diagnostic *d = bide_diagnostics_at(notes, first);

        bide__json_object(j, NULL);
        put_place(j, d);
        bide__json_text(j, "message", d->message);
        bide__json_end(j);
    }
    bide__json_end(j);
}

static void put_finding(struct bide__json *j, const bide_diagnostics *notes,
                        size_t i, size_t end)
{
    static const char *const severities[] = { "note", "warning", "error" };
    const bide_diagnostic *d = bide_diagnostics_at(notes, i);
    const struct bide__lint_rule *lint = bide__lint_of(d->code);

    bide__json_object(j, NULL);
    bide__json_text(j, "severity", severities[d->severity]);
    bide__json_text(j, "code", d->code);
    if (lint)
        bide__json_text(j, "name", lint->name);
    put_place(j, d);
    bide__json_text(j, "message", d->message);
    if (lint)
        bide__json_text(j, "reason", lint->why);
    if (d->help)
        bide__json_text(j, "help", d->help);
    if (i + 1 < end)
        put_notes(j, notes, i + 1, end);
    bide__json_end(j);
}

void bide__diag_json(const bide_diagnostics *notes, struct bide__json *out)
{
    bool inside = !bide__json_in_list(out);

    bide__json_list(out, inside ? "findings" : NULL);
    for (size_t i = 0, end; i < bide_diagnostics_size(notes); i = end) {
        end = behind_notes(notes, i);
        put_finding(out, notes, i, end);
    }
    bide__json_end(out);
}

/* ===== SARIF ===== */

static void put_text(struct bide__json *j, const char *key, const char *text)
{
    bide__json_object(j, key);
    bide__json_text(j, "text", text);
    bide__json_end(j);
}

static void put_rule(struct bide__json *j, const char *id, const char *name,
                     const char *text, const char *level)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "id", id);
    if (name)
        bide__json_text(j, "name", name);
    put_text(j, "shortDescription", text);
    bide__json_object(j, "defaultConfiguration");
    bide__json_text(j, "level", level);
    bide__json_end(j);
    bide__json_end(j);
}

static void put_tool(struct bide__json *j)
{
    size_t n_codes, n_lints;
    const struct bide__diag_code *codes = bide__diag_codes(&n_codes);
    const struct bide__lint_rule *lints = bide__lint_rules(&n_lints);

    bide__json_object(j, "tool");
    bide__json_object(j, "driver");
    bide__json_text(j, "name", "bide");
    bide__json_text(j, "version", bide_version());
    bide__json_list(j, "rules");
    for (size_t i = 0; i < n_codes; i++)
        put_rule(j, codes[i].code, NULL, codes[i].text, "error");
    for (size_t i = 0; i < n_lints; i++)
        put_rule(j, lints[i].code, lints[i].name, lints[i].why, "warning");
    bide__json_end(j);
    bide__json_end(j);
    bide__json_end(j);
}

/* A path as a URI: relative ones stay relative to where bide was run. */
static void put_uri(struct bide__json *j, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR"
                                "STUVWXYZ0123456789-._~/";
    char uri[3 * 4096 + 8] = "";
    size_t at = 0;

    if (path[0] == '/')
        at = strlen(strcpy(uri, "file://"));
    for (; *path && at + 4 < sizeof uri; path++) {
        unsigned char c = (unsigned char)*path;

        if (strchr(plain, c)) {
            uri[at++] = (char)c;
        } else {
            uri[at++] = '%';
            uri[at++] = bide__hex_upper[c >> 4];
            uri[at++] = bide__hex_upper[c & 15];
        }
    }
    bide__json_text_n(j, "uri", uri, at);
}

static void put_location(struct bide__json *j, const bide_diagnostic *d,
                         const char *message)
{
    bide__json_object(j, NULL);
    bide__json_object(j, "physicalLocation");
    bide__json_object(j, "artifactLocation");
    put_uri(j, strcmp(d->file, "-") == 0 ? "stdin" : d->file);
    bide__json_end(j);
    if (d->line) {
        bide__json_object(j, "region");
        bide__json_integer(j, "startLine", d->line);
        bide__json_integer(j, "startColumn", d->column);
        bide__json_integer(j, "endLine", d->end_line);
        bide__json_integer(j, "endColumn", d->end_column);
        bide__json_end(j);
    }
    bide__json_end(j);
    if (message)
        put_text(j, "message", message);
    bide__json_end(j);
}

/* Where a code stands in the list of rules. */
static long rule_index(const char *code)
{
    size_t n_codes, n_lints;
    const struct bide__diag_code *codes = bide__diag_codes(&n_codes);
    const struct bide__lint_rule *lints = bide__lint_rules(&n_lints);

    for (size_t i = 0; i < n_codes; i++)
        if (strcmp(codes[i].code, code) == 0)
            return (long)i;
    for (size_t i = 0; i < n_lints; i++)
        if (strcmp(lints[i].code, code) == 0)
            return (long)(n_codes + i);
    return -1;
}

/* "Message. What to write instead." */
static void put_message(struct bide__json *j, const bide_diagnostic *d)
{
    char text[2048];
    const char *help = d->help ? d->help : "";

    snprintf(text, sizeof text, "%s%s%s", d->message, d->help ? "; " : "",
             help);
    put_text(j, "message", text);
}

static void put_result(struct bide__json *j, const bide_diagnostics *notes,
                       size_t i, size_t end)
{
    static const char *const levels[] = { "note", "warning", "error" };
    const bide_diagnostic *d = bide_diagnostics_at(notes, i);
    long index = rule_index(d->code);

    bide__json_object(j, NULL);
    bide__json_text(j, "ruleId", d->code);
    if (index >= 0)
        bide__json_integer(j, "ruleIndex", index);
    bide__json_text(j, "level", levels[d->severity]);
    put_message(j, d);
    bide__json_list(j, "locations");
    put_location(j, d, NULL);
    bide__json_end(j);
    if (i + 1 < end) {
        bide__json_list(j, "relatedLocations");
        for (size_t note = i + 1; note < end; note++) {
            d = bide_diagnostics_at(notes, note);
            put_location(j, d, d->message);
        }
        bide__json_end(j);
    }
    bide__json_end(j);
}

void bide__diag_sarif(const bide_diagnostics *notes, struct bide__json *out)
{
    bide__json_object(out, NULL);
    bide__json_text(out, "$schema",
                    "https://json.schemastore.org/sarif-2.1.0.json");
    bide__json_text(out, "version", "2.1.0");
    bide__json_list(out, "runs");
    bide__json_object(out, NULL);
    put_tool(out);
    bide__json_text(out, "columnKind", "unicodeCodePoints");
    bide__json_list(out, "results");
    for (size_t i = 0, end; i < bide_diagnostics_size(notes); i = end) {
        end = behind_notes(notes, i);
        put_result(out, notes, i, end);
    }
    bide__json_end(out);
    bide__json_end(out);
    bide__json_end(out);
    bide__json_end(out);
}
