/* schema_section.c: the part of the schema that describes the section of a
 * program, from its tables. */
#include "config/field/schema.h"
#include "config/field/section.h"

static void put_map(struct bide__json *j, const char *key, const char *help,
                    const struct bide__section_table *table, const void *init);

static void put_required(struct bide__json *j,
                         const struct bide__section_field *f)
{
    bide__json_list(j, "required");
    for (; f->o.key; f++)
        if (f->required)
            bide__json_text(j, NULL, f->o.key);
    bide__json_end(j);
}

static void put_text(struct bide__json *j, const char *key, const char *pattern)
{
    if (pattern)
        bide__schema_pattern(j, key, pattern);
    else
        bide__schema_type(j, key, "string", NULL);
}

/* A text, or a list of them. */
static void put_texts(struct bide__json *j, const char *pattern)
{
    bide__json_list(j, "anyOf");
    put_text(j, NULL, pattern);
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    put_text(j, "items", pattern);
    bide__json_end(j);
    bide__json_end(j);
}

static void put_size(struct bide__json *j, const bide_option *o)
{
    bide__json_list(j, "anyOf");
    bide__schema_bounds(j, "integer", o->min, o->max, false);
    bide__schema_pattern(j, NULL, "^[0-9]+(KiB|MiB|GiB)?$");
    if (o->special)
        bide__schema_word(j, o->special);
    bide__json_end(j);
}

static void put_members(struct bide__json *j,
                        const struct bide__section_field *f)
{
    bool list = f->kind == BIDE__LIST_OF;

    bide__json_text(j, "type", list ? "array" : "object");
    bide__json_integer(j, list ? "minItems" : "minProperties", 1);
    put_map(j, list ? "items" : "additionalProperties", NULL, f->table,
            f->table->init);
}

static void put_field(struct bide__json *j, const struct bide__section_field *f,
                      const void *init)
{
    char buffer[64];
    const char *text;

    bide__json_object(j, f->o.key);
    bide__json_text(j, "description", f->o.help);
    if (f->kind == BIDE__LIST_OF || f->kind == BIDE__MAP_OF)
        put_members(j, f);
    else if (f->kind == BIDE__TEXTS)
        put_texts(j, f->pattern);
    else if (f->kind == BIDE__SIZE)
        put_size(j, &f->o);
    else {
        bide__json_list(j, "type");
        bide__json_text(j, NULL, "string");
        bide__json_text(j, NULL, "integer"); /* without quotes, in YAML */
        bide__json_end(j);
        if (f->pattern)
            bide__json_text(j, "pattern", f->pattern);
    }
    text = bide__field_text(f, init, buffer, sizeof buffer);
    if (text)
        bide__json_text(j, "default", text);
    bide__json_end(j);
}

static void put_map(struct bide__json *j, const char *key, const char *help,
                    const struct bide__section_table *table, const void *init)
{
    bide__schema_open_map(j, key);
    for (const struct bide__section_field *f = table->fields; f->o.key; f++) {
        if (f->kind == BIDE__FIELDS)
            put_map(j, f->o.key, f->o.help, f->table,
                    (const char *)init + f->o.offset);
        else if (f->kind == BIDE__VALUE)
            bide__schema_option(j, f->o.key, &f->o, init);
        else
            put_field(j, f, init);
    }
    bide__json_end(j);
    if (help)
        bide__json_text(j, "description", help);
    put_required(j, table->fields);
    bide__json_end(j);
}

void bide__schema_section(struct bide__json *j, const char *key,
                          const char *help,
                          const struct bide__section_table *table)
{
    put_map(j, key, help, table, table->init);
}
