/* schema_policy.c: the part of the schema that describes one policy. */
#include <string.h>

#include "config/policy/policy_file.h"
#include "config/field/schema.h"

/* ===== options ===== */

static void put_alternatives(struct bide__json *j, const bide_option *o)
{
    bide__json_list(j, "anyOf");
    switch (o->type) {
    case BIDE_OPTION_DURATION:
        bide__schema_ref(j, NULL, "duration");
        break;
    case BIDE_OPTION_RATE:
        bide__schema_ref(j, NULL, "rate");
        break;
    case BIDE_OPTION_RATIO:
        bide__schema_bounds(j, "number", o->min, o->max, o->above_min);
        bide__schema_pattern(j, NULL, "^" SCHEMA_NUMBER "%?$");
        break;
    case BIDE_OPTION_COUNT:
        bide__schema_bounds(j, "integer", o->min, o->max, o->above_min);
        break;
    default:
        bide__schema_bounds(j, "number", o->min, o->max, o->above_min);
    }
    if (strcmp(o->key, "hedge.after") == 0)
        bide__schema_pattern(j, NULL, "^p" SCHEMA_NUMBER "$");
    if (o->special)
        bide__schema_word(j, o->special);
    bide__json_end(j);
}

static void put_default(struct bide__json *j, const bide_option *o,
                        const void *init)
{
    const char *field = (const char *)init + o->offset;
    char buffer[64];
    const char *text = bide__option_text(init, o, buffer, sizeof buffer);
    uint32_t count;
    double number;

    if (o->type == BIDE_OPTION_FLAG) {
        bide__json_flag(j, "default", strcmp(text, "true") == 0);
    } else if (o->type == BIDE_OPTION_COUNT && text == buffer) {
        memcpy(&count, field, sizeof count);
        bide__json_integer(j, "default", count);
    } else if (o->type == BIDE_OPTION_NUMBER) {
        memcpy(&number, field, sizeof number);
        bide__json_number(j, "default", number);
    } else {
        bide__json_text(j, "default", text);
    }
}

void bide__schema_option(struct bide__json *j, const char *key,
                         const bide_option *o, const void *init)
{
    char text[512];

    snprintf(text, sizeof text, "%s Takes %s.", o->help, o->expects);
    bide__json_object(j, key);
    bide__json_text(j, "description", text);
    if (o->type == BIDE_OPTION_FLAG)
        bide__json_text(j, "type", "boolean");
    else if (o->type == BIDE_OPTION_CHOICE)
        bide__schema_words(j, "enum", o->choices);
    else
        put_alternatives(j, o);
    put_default(j, o, init);
    bide__json_end(j);
}

void bide__schema_options(struct bide__json *j)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    char group[32] = "";

    for (size_t i = 0; i < n; i++) {
        const char *dot = strchr(options[i].key, '.');
        size_t len = dot ? (size_t)(dot - options[i].key) : 0;

        if (len != strlen(group) || strncmp(group, options[i].key, len) != 0) {
            if (group[0])
                bide__schema_close_map(j);
            snprintf(group, sizeof group, "%.*s", (int)len, options[i].key);
            if (group[0])
                bide__schema_open_map(j, group);
        }
        bide__schema_option(j, dot ? dot + 1 : options[i].key, &options[i],
                            &init);
    }
    if (group[0])
        bide__schema_close_map(j);
}

/* ===== the keys that are more than a number ===== */

static void put_list_of(struct bide__json *j, const char *key, const char *name)
{
    bide__json_object(j, key);
    bide__json_text(j, "type", "array");
    bide__schema_ref(j, "items", name);
    bide__json_end(j);
}

static void put_one_or_list(struct bide__json *j, const char *key,
                            const char *name)
{
    bide__json_object(j, key);
    bide__json_list(j, "anyOf");
    bide__schema_ref(j, NULL, name);
    put_list_of(j, NULL, name);
    bide__json_end(j);
    bide__json_end(j);
}

static void put_rules(struct bide__json *j)
{
    bide__json_object(j, "rules");
    bide__json_text(j, "type", "array");
    bide__schema_open_map(j, "items");
    put_one_or_list(j, "status", "status");
    put_one_or_list(j, "errors", "error");
    put_one_or_list(j, "grpc", "grpc");
    bide__schema_type(j, "method", "string", NULL);
    bide__schema_type(j, "header", "string", NULL);
    bide__schema_type(j, "value", "string", NULL);
    bide__schema_type(j, "problem_type", "string", NULL);
    bide__schema_ref(j, "class", "class");
    bide__schema_type(j, "not_processed", "boolean", NULL);
    bide__json_end(j);
    bide__json_list(j, "required");
    bide__json_text(j, NULL, "class");
    bide__json_end(j);
    bide__json_end(j);
    bide__json_end(j);
}

void bide__schema_others(struct bide__json *j)
{
    bide__schema_type(j, "extends", "string",
                      "The name of the policy to start from.");
    bide__json_object(j, "preset");
    bide__json_text(j, "description", "The built-in policy to start from.");
    bide__json_list(j, "enum");
    for (size_t i = 0; bide_policy_preset_name(i); i++)
        bide__json_text(j, NULL, bide_policy_preset_name(i));
    bide__json_end(j);
    bide__json_end(j);
    bide__schema_open_map(j, "retry_on");
    put_list_of(j, "status", "status");
    put_list_of(j, "errors", "error");
    put_list_of(j, "grpc", "grpc");
    bide__schema_close_map(j);
    put_rules(j);
    bide__json_object(j, "problems");
    bide__json_text(j, "type", "object");
    bide__schema_ref(j, "additionalProperties", "class");
    bide__json_end(j);
    bide__schema_open_map(j, "service");
    bide__schema_ref(j, "capacity", "rate");
    bide__schema_ref(j, "load", "rate");
    bide__schema_ref(j, "p99", "duration");
    bide__schema_type(j, "clients", "integer", NULL);
    bide__schema_type(j, "depth", "integer", NULL);
    bide__schema_close_map(j);
}
