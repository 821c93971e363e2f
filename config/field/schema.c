/* schema.c: a JSON Schema of policy files, for editors.
 *
 * It uses draft 7, which editors support best, and is generated from the tables
 * of options and sections. It cannot express that a cap must not be below its
 * base: `bide check` checks that. */
#include "config/field/schema.h"

#include <string.h>

#include "config/field/schema_policy.h"
#include "config/fleet/conf.h"
#include "config/policy/pages.h"
#include "config/policy/policy_rules.h"
#include "config/proxy/read.h"
#include "config/store/conf.h"
#include "config/worker/conf.h"

/* ===== small parts ===== */

void bide__schema_ref(struct bide__json *j, const char *key, const char *name)
{
    char ref[64];

    snprintf(ref, sizeof ref, "#/definitions/%s", name);
    bide__json_object(j, key);
    bide__json_text(j, "$ref", ref);
    bide__json_end(j);
}

void bide__schema_pattern(struct bide__json *j, const char *key,
                          const char *pattern)
{
    bide__json_object(j, key);
    bide__json_text(j, "type", "string");
    bide__json_text(j, "pattern", pattern);
    bide__json_end(j);
}

void bide__schema_zero(struct bide__json *j)
{
    bide__json_object(j, NULL);
    bide__json_integer(j, "const", 0);
    bide__json_end(j);
}

void bide__schema_word(struct bide__json *j, const char *word)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "const", word);
    bide__json_end(j);
}

void bide__schema_bounds(struct bide__json *j, const char *type, double min,
                         double max, bool above)
{
    bide__json_object(j, NULL);
    bide__json_text(j, "type", type);
    bide__json_number(j, above ? "exclusiveMinimum" : "minimum", min);
    bide__json_number(j, "maximum", max);
    bide__json_end(j);
}

void bide__schema_words(struct bide__json *j, const char *key,
                        const char *const *words)
{
    bide__json_list(j, key);
    for (; *words; words++)
        bide__json_text(j, NULL, *words);
    bide__json_end(j);
}

/* Begins a map with a fixed set of keys, which follow. */
void bide__schema_open_map(struct bide__json *j, const char *key)
{
    bide__json_object(j, key);
    bide__json_list(j, "type");
    bide__json_text(j, NULL, "object");
    bide__json_text(j, NULL, "null");
    bide__json_end(j);
    bide__json_flag(j, "additionalProperties", false);
    bide__json_object(j, "properties");
}

void bide__schema_close_map(struct bide__json *j)
{
    bide__json_end(j);
    bide__json_end(j);
}

void bide__schema_type(struct bide__json *j, const char *key, const char *type,
                       const char *description)
{
    bide__json_object(j, key);
    if (description)
        bide__json_text(j, "description", description);
    bide__json_text(j, "type", type);
    bide__json_end(j);
}

/* ===== the whole value ===== */

static void put_names(struct bide__json *j, const char *key,
                      const char *const *names)
{
    bide__json_object(j, key);
    bide__schema_words(j, "enum", names);
    bide__json_end(j);
}

static void put_errors(struct bide__json *j)
{
    bide__json_object(j, "error");
    bide__json_list(j, "enum");
    for (int i = BIDE_FAULT_NONE + 1; i < BIDE_N_FAULTS; i++)
        if (!(BIDE__NO_SERVERS_FAULTS >> i & 1))
            bide__json_text(j, NULL, bide_fault_name((bide_fault)i));
    bide__json_end(j);
    bide__json_end(j);
}

void bide__schema_definitions(struct bide__json *j)
{
#define XC(name, key, meaning) key,
#define XG(name, value, key)   key,
    static const char *const classes[] = { BIDE_CLASSES(XC) NULL };
    static const char *const codes[] = { BIDE_GRPC_CODES(XG) NULL };
#undef XC
#undef XG

    bide__json_object(j, "duration");
    bide__json_list(j, "anyOf");
    bide__schema_pattern(
        j, NULL, "^(0|(" SCHEMA_NUMBER "(ns|us|\xc2\xb5s|ms|s|m|h|d))+)$");
    bide__schema_zero(j);
    bide__json_end(j);
    bide__json_end(j);
    bide__json_object(j, "rate");
    bide__json_list(j, "anyOf");
    bide__schema_pattern(j, NULL, "^(0|" SCHEMA_NUMBER "/(s|m|min|h|d|ms))$");
    bide__schema_zero(j);
    bide__json_end(j);
    bide__json_end(j);
    bide__json_object(j, "status");
    bide__json_list(j, "anyOf");
    bide__schema_bounds(j, "integer", 100, 999, false);
    bide__schema_pattern(j, NULL, "^[1-9][0-9][0-9](-[1-9][0-9][0-9])?$");
    bide__json_end(j);
    bide__json_end(j);
    put_names(j, "class", classes);
    put_errors(j);
    put_names(j, "grpc", codes + 1);
    bide__schema_open_map(j, "policy");
    bide__schema_options(j);
    bide__schema_others(j);
    bide__schema_close_map(j);
}

static void put_top(struct bide__json *j)
{
    bide__json_object(j, "version");
    bide__json_integer(j, "const", 1);
    bide__json_end(j);
    bide__json_object(j, "policies");
    bide__json_text(j, "description", "Named policies.");
    bide__json_text(j, "type", "object");
    bide__json_integer(j, "minProperties", 1);
    bide__schema_ref(j, "additionalProperties", "policy");
    bide__json_end(j);
    bide__json_object(j, "store");
    bide__json_text(j, "description", "Where records of operations are kept.");
    bide__json_list(j, "anyOf");
    bide__schema_pattern(j, NULL, BIDE__STORE_URL_PATTERN);
    bide__schema_table(j, NULL, NULL, &bide__store_table,
                       bide__store_table.init);
    bide__json_end(j);
    bide__json_end(j);
    bide__schema_table(j, "fleet",
                       "With whom budgets and breakers are shared.",
                       &bide__fleet_table, bide__fleet_table.init);
    bide__schema_table(j, "proxy", "What `bide proxy` does.",
                       &bide__proxy_table, bide__proxy_table.init);
    bide__schema_table(j, "worker", "What `bide worker` does.",
                       &bide__worker_table, bide__worker_table.init);
}

static void put_required(struct bide__json *j, const char *key)
{
    bide__json_object(j, NULL);
    bide__json_list(j, "required");
    bide__json_text(j, NULL, key);
    bide__json_end(j);
    bide__json_end(j);
}

void bide__write_schema(FILE *out)
{
    struct bide__json j;

    bide__json_init(&j, out, true);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    bide__json_text(&j, "title", "A policy file of bide");
    bide__json_text(&j, "type", "object");
    bide__json_flag(&j, "additionalProperties", false);
    bide__json_list(&j, "required");
    bide__json_text(&j, NULL, "version");
    bide__json_end(&j);
    bide__json_list(&j, "anyOf");
    put_required(&j, "policies");
    put_required(&j, "worker");
    bide__json_end(&j);
    bide__json_object(&j, "properties");
    put_top(&j);
    bide__json_end(&j);
    bide__json_object(&j, "definitions");
    bide__schema_definitions(&j);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}
