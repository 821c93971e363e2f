/* reference_table.c: writes tables of fields as parts of a reference page. */
#include "config/field/option_value.h"
#include "config/field/reference.h"

#include <string.h>

#include "config/field/text.h"

static const char *type_of(const struct bide__field *f)
{
    static const char *const names[] = {
        "duration", "count", "ratio", "number", "rate",      "flag",
        "choice",   "list",   "choice", "count", "size",   "text",      "texts",
        "name",     NULL,     "map",   "list",   "map",
    };

    return f->type == BIDE__OTHER ? f->type_name : names[f->type];
}

/* Whether a default is a description and not a value as in a file. */
static bool in_words(const char *text)
{
    return strchr(text, ' ') || strcmp(text, "all") == 0;
}

/* A table without defaults has them in its rows; a row without one prints
 * nothing. */
static bool put_default(FILE *out, const struct bide__field *f,
                        const void *init)
{
    char buffer[BIDE__VALUE_TEXT];
    const char *text = f->fallback || !init
                           ? f->fallback
                           : bide__field_text(f, init, buffer, sizeof buffer);

    if (f->required)
        fputs("required", out);
    else if (text && *text)
        fprintf(out, in_words(text) ? "%s" : "`%s`", text);
    return f->required || (text && *text);
}

static void put_row(FILE *out, const char *group, const struct bide__field *f,
                    const void *init)
{
    fprintf(out, "| `%s%s%s` | %s | ", group ? group : "",
            group && *group ? "." : "", f->key, type_of(f));
    fputs(put_default(out, f, init) || !group ? " | " : "| ", out);
    fprintf(out, "%s | %s |\n",
            f->table && f->type >= BIDE__FIELDS ? "see below" : f->expects,
            f->help);
}

/* Nested maps have their own tables below (group NULL), or their keys are
 * listed here, prefixed by the key of the map. */
static void put_rows(FILE *out, const char *group,
                     const struct bide__table *table, const void *init)
{
    for (const struct bide__field *f = table->fields; f->key; f++)
        if (group && f->type == BIDE__FIELDS)
            put_rows(out, f->key, f->table,
                     init ? (const char *)init + f->offset : NULL);
        else
            put_row(out, group, f, init);
}

static const char head[] = "\n\n| key | type | default | takes | |\n"
                           "|---|---|---|---|---|\n";

void bide__reference_table(FILE *out, const char *title, const char *about,
                           const struct bide__table *table)
{
    fprintf(out, "\n## %s\n\n%s%s", title, about, head);
    put_rows(out, "", table, table->init);
}

/* The path of a member: "proxy.routes[]", "proxy.upstreams.NAME". */
static void add_path(char path[128], const struct bide__field *f)
{
    snprintf(path + strlen(path), 128 - strlen(path), ".%s%s", f->key,
             f->type == BIDE__LIST_OF  ? "[]"
             : f->type == BIDE__MAP_OF ? ".NAME"
                                       : "");
}

static void put_section(FILE *out, const char *path,
                        const struct bide__table *table, const void *init)
{
    fprintf(out, "\n### `%s`%s", path, head);
    put_rows(out, NULL, table, init);
    for (const struct bide__field *f = table->fields; f->key; f++) {
        char below[128];

        if (!f->table)
            continue;
        snprintf(below, sizeof below, "%s", path);
        add_path(below, f);
        put_section(out, below, f->table,
                    f->type == BIDE__FIELDS ? (const char *)init + f->offset
                                            : f->table->init);
    }
}

void bide__reference_section(FILE *out, const char *name,
                             const struct bide__table *table)
{
    put_section(out, name, table, table->init);
}
