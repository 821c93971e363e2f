/* schema_policy.c: the part of the schema that describes one policy. */
#include "config/field/schema_policy.h"

#include <string.h>

#include "config/field/field.h"
#include "config/field/option_value.h"
#include "config/field/schema.h"

/* ===== options ===== */

void bide__schema_options(struct bide__json *j)
{
    static const bide_policy_conf init = BIDE_POLICY_CONF_INIT;
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    char group[32] = "";

    for (size_t i = 0; i < n; i++) {
        const char *dot = strchr(options[i].key, '.');
        size_t len = dot ? (size_t)(dot - options[i].key) : 0;
        struct bide__field f;

        if (len != strlen(group) || strncmp(group, options[i].key, len) != 0) {
            if (group[0])
                bide__schema_close_map(j);
            snprintf(group, sizeof group, "%.*s", (int)len, options[i].key);
            if (group[0])
                bide__schema_open_map(j, group);
        }
        f = bide__option_field(&options[i]);
        if (strcmp(f.key, "hedge.after") == 0)
            f.pattern = "^p" SCHEMA_NUMBER "$";
        bide__schema_field(j, dot ? dot + 1 : f.key, &f, &init);
    }
    if (group[0])
        bide__schema_close_map(j);
}

/* ===== keys that are not scalars ===== */

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
