/* reference_section.c: the section of a program as a part of the reference
 * page, from its tables. */
#include "config/field/reference.h"

#include <string.h>

#include "config/field/section.h"

static const char *type_of(const struct bide__section_field *f)
{
    static const char *const names[] = { "duration", "count", "ratio", "number",
                                         "rate",     "flag",  "choice" };

    switch (f->kind) {
    case BIDE__VALUE:
        return names[f->o.type];
    case BIDE__SIZE:
        return "size";
    case BIDE__TEXT:
        return "text";
    case BIDE__TEXTS:
        return "texts";
    case BIDE__LIST_OF:
        return "list";
    default:
        return "map";
    }
}

static void put_row(FILE *out, const struct bide__section_field *f,
                    const void *init)
{
    char buffer[64];
    const char *text = bide__field_text(f, init, buffer, sizeof buffer);

    fprintf(out, "| `%s` | %s | ", f->o.key, type_of(f));
    if (text)
        fprintf(out, "`%s`", text);
    else if (f->required)
        fputs("required", out);
    fprintf(out, " | %s | %s |\n", f->table ? "see below" : f->o.expects,
            f->o.help);
}

/* The path of a member: "proxy.routes[]", "proxy.upstreams.NAME". */
static void add_path(char path[128], const struct bide__section_field *f)
{
    snprintf(path + strlen(path), 128 - strlen(path), ".%s%s", f->o.key,
             f->kind == BIDE__LIST_OF  ? "[]"
             : f->kind == BIDE__MAP_OF ? ".NAME"
                                       : "");
}

static void put_table(FILE *out, const char *path,
                      const struct bide__section_table *table, const void *init)
{
    const struct bide__section_field *f;

    fprintf(out,
            "\n### `%s`\n\n| key | type | default | takes | |\n"
            "|---|---|---|---|---|\n",
            path);
    for (f = table->fields; f->o.key; f++)
        put_row(out, f, init);
    for (f = table->fields; f->o.key; f++) {
        char below[128];

        if (!f->table)
            continue;
        snprintf(below, sizeof below, "%s", path);
        add_path(below, f);
        put_table(out, below, f->table,
                  f->kind == BIDE__FIELDS ? (const char *)init + f->o.offset
                                          : f->table->init);
    }
}

void bide__reference_section(FILE *out, const char *name,
                             const struct bide__section_table *table)
{
    put_table(out, name, table, table->init);
}
