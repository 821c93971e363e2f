/* schema_table.c: tables of fields as parts of a schema. */
#include <string.h>

#include "config/field/option_value.h"
#include "config/field/schema.h"
#include "config/field/text.h"

/* ===== values ===== */

static void put_alternatives(struct bide__json *j, const struct bide__field *f)
{
    bool whole = f->type == BIDE_OPTION_COUNT || f->type == BIDE__LARGE ||
                 f->type == BIDE__SIZE;

    bide__json_list(j, "anyOf");
    if (f->type == BIDE_OPTION_DURATION)
        bide__schema_ref(j, NULL, "duration");
    else if (f->type == BIDE_OPTION_RATE)
        bide__schema_ref(j, NULL, "rate");
    else
        bide__schema_bounds(j, whole ? "integer" : "number", f->min, f->max,
                            f->above_min);
    if (f->type == BIDE_OPTION_RATIO)
        bide__schema_pattern(j, NULL, "^" SCHEMA_NUMBER "%?$");
    if (f->type == BIDE__SIZE)
        bide__schema_pattern(j, NULL, "^[0-9]+(KiB|MiB|GiB)?$");
    if (f->pattern)
        bide__schema_pattern(j, NULL, f->pattern);
    if (f->special)
        bide__schema_word(j, f->special);
    bide__json_end(j);
}

/* Some choices include `true` and `false`, which are not strings in JSON. */
static void put_choices(struct bide__json *j, const char *const *words)
{
    bide__json_list(j, "enum");
    for (; *words; words++) {
        bool yes = strcmp(*words, "true") == 0;

        if (yes || strcmp(*words, "false") == 0)
            bide__json_flag(j, NULL, yes);
        else
            bide__json_text(j, NULL, *words);
    }
    bide__json_end(j);
}

/* Some unquoted texts in YAML are numbers in JSON. */
static void put_text(struct bide__json *j, const struct bide__field *f,
                     bool brief)
{
    if (brief) {
        bide__json_text(j, "type", "string");
        return;
    }
    bide__json_list(j, "type");
    bide__json_text(j, NULL, "string");
    bide__json_text(j, NULL, "integer");
    bide__json_end(j);
    if (f->pattern)
        bide__json_text(j, "pattern", f->pattern);
}

static void put_item(struct bide__json *j, const char *key, const char *pattern)
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
    put_item(j, NULL, pattern);
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    put_item(j, "items", pattern);
    bide__json_end(j);
    bide__json_end(j);
}

static void put_members(struct bide__json *j, const struct bide__field *f)
{
    bool list = f->type == BIDE__LIST_OF;

    bide__json_text(j, "type", list ? "array" : "object");
    bide__json_integer(j, list ? "minItems" : "minProperties", 1);
    bide__schema_table(j, list ? "items" : "additionalProperties", NULL,
                       f->table, f->table->init);
}

/* One duration, a list of them, or `none`. */
static void put_delays(struct bide__json *j, const struct bide__field *f)
{
    bide__json_list(j, "anyOf");
    bide__schema_ref(j, NULL, "duration");
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    bide__schema_ref(j, "items", "duration");
    bide__json_integer(j, "minItems", 1);
    bide__json_integer(j, "maxItems", BIDE_MAX_DELAYS);
    bide__json_end(j);
    bide__schema_word(j, f->special);
    bide__json_end(j);
}

static void put_value(struct bide__json *j, const struct bide__field *f,
                      bool brief)
{
    if (f->schema)
        f->schema(j, f);
    else if (f->type == BIDE_OPTION_FLAG)
        bide__json_text(j, "type", "boolean");
    else if (f->type == BIDE_OPTION_DELAYS)
        put_delays(j, f);
    else if (f->type == BIDE_OPTION_CHOICE || f->type == BIDE__EITHER)
        put_choices(j, f->choices);
    else if (f->type == BIDE__LIST_OF || f->type == BIDE__MAP_OF)
        put_members(j, f);
    else if (f->type == BIDE__TEXTS)
        put_texts(j, f->pattern);
    else if (f->type > BIDE__SIZE)
        put_text(j, f, brief);
    else
        put_alternatives(j, f);
}

/* ===== defaults ===== */

static void put_default(struct bide__json *j, const struct bide__field *f,
                        const void *init)
{
    const char *at = (const char *)init + f->offset;
    char buffer[BIDE__VALUE_TEXT];
    const char *text = f->fallback
                           ? f->fallback
                           : bide__field_text(f, init, buffer, sizeof buffer);
    uint32_t count;
    double number;

    if (f->type == BIDE_OPTION_FLAG) {
        bide__json_flag(j, "default", strcmp(text, "true") == 0);
    } else if (f->type == BIDE_OPTION_COUNT && text == buffer) {
        memcpy(&count, at, sizeof count);
        bide__json_integer(j, "default", count);
    } else if (f->type == BIDE_OPTION_NUMBER && text == buffer) {
        memcpy(&number, at, sizeof number);
        bide__json_number(j, "default", number);
    } else if (text) {
        bide__json_text(j, "default", text);
    }
}

/* ===== fields ===== */

void bide__schema_field(struct bide__json *j, const char *key,
                        const struct bide__field *f, const void *init)
{
    char text[512];

    snprintf(text, sizeof text, "%s Takes %s.", f->help, f->expects);
    bide__json_object(j, key);
    bide__json_text(j, "description",
                    init && f->type <= BIDE_OPTION_DELAYS ? text : f->help);
    put_value(j, f, !init);
    if (init)
        put_default(j, f, init);
    bide__json_end(j);
}

static void put_required(struct bide__json *j, const struct bide__field *f)
{
    bide__json_list(j, "required");
    for (; f->key; f++)
        if (f->required)
            bide__json_text(j, NULL, f->key);
    bide__json_end(j);
}

void bide__schema_table(struct bide__json *j, const char *key, const char *help,
                        const struct bide__table *table, const void *init)
{
    bide__schema_open_map(j, key);
    for (const struct bide__field *f = table->fields; f->key; f++)
        if (f->type == BIDE__FIELDS)
            bide__schema_table(j, f->key, f->help, f->table,
                               init ? (const char *)init + f->offset : NULL);
        else
            bide__schema_field(j, f->key, f, init);
    bide__json_end(j);
    if (help && init)
        bide__json_text(j, "description", help);
    if (init)
        put_required(j, table->fields);
    bide__json_end(j);
}
