/* schema.c: a JSON Schema of scenarios for editors, generated from the tables
 * of keys. It cannot express that a service must exist or that shares add up to
 * 100 %: `bide check` checks those. */
#include "base/json.h"
#include "config/field/schema.h"
#include "sim/scenario/reference.h"
#include "sim/scenario/rows.h"

static void put_map(struct bide__json *j, const char *key,
                    const struct bide__table *table)
{
    bide__schema_table(j, key, NULL, table, NULL);
}

/* ===== values ===== */

void sim_schema_dist(struct bide__json *j, const struct bide__field *f)
{
    (void)f;
    bide__json_list(j, "anyOf");
    bide__schema_ref(j, NULL, "distribution");
    bide__json_end(j);
}

/* A call is a map or the name of a service; a list of one may be written as the
 * call itself. */
void sim_schema_calls(struct bide__json *j, const struct bide__field *f)
{
    bide__json_list(j, "anyOf");
    bide__schema_type(j, NULL, "string", NULL);
    put_map(j, NULL, f->table);
    bide__json_object(j, NULL);
    bide__json_text(j, "type", "array");
    bide__json_object(j, "items");
    bide__json_list(j, "anyOf");
    bide__schema_type(j, NULL, "string", NULL);
    put_map(j, NULL, f->table);
    bide__json_end(j);
    bide__json_end(j);
    bide__json_end(j);
    bide__json_end(j);
}

/* ===== distributions ===== */

static void put_duration(struct bide__json *j, const char *key)
{
    bide__schema_ref(j, key, "duration");
}

static void put_number(struct bide__json *j, const char *key)
{
    bide__schema_type(j, key, "number", NULL);
}

/* A list of maps, each a distribution with a share, or a bar. */
static void put_parts(struct bide__json *j, const char *key)
{
    bide__json_object(j, key);
    bide__json_text(j, "type", "array");
    bide__json_integer(j, "minItems", 1);
    bide__json_object(j, "items");
    bide__json_text(j, "type", "object");
    bide__schema_words(j, "required", (const char *const[]){ "share", NULL });
    bide__json_end(j);
    bide__json_end(j);
}

static void put_shapes(struct bide__json *j)
{
    put_duration(j, "constant");
    put_duration(j, "exponential");
    bide__schema_open_map(j, "normal");
    put_duration(j, "mean");
    put_duration(j, "deviation");
    bide__schema_close_map(j);
    bide__schema_open_map(j, "lognormal");
    put_duration(j, "median");
    put_number(j, "sigma");
    put_duration(j, "p99");
    bide__schema_close_map(j);
    bide__schema_open_map(j, "pareto");
    put_duration(j, "least");
    put_number(j, "alpha");
    bide__schema_close_map(j);
    put_parts(j, "mixture");
    put_parts(j, "histogram");
    bide__json_object(j, "percentiles");
    bide__json_text(j, "type", "object");
    bide__json_integer(j, "minProperties", 1);
    put_duration(j, "additionalProperties");
    bide__json_end(j);
}

static void put_distribution(struct bide__json *j)
{
    bide__json_object(j, "distribution");
    bide__json_list(j, "anyOf");
    put_duration(j, NULL);
    bide__schema_open_map(j, NULL);
    put_shapes(j);
    bide__schema_close_map(j);
    bide__json_end(j);
    bide__json_end(j);
}

/* ===== the whole value ===== */

static void put_named(struct bide__json *j, const char *key, const char *help,
                      const struct bide__table *table)
{
    bide__json_object(j, key);
    bide__json_text(j, "description", help);
    bide__json_text(j, "type", "object");
    bide__json_integer(j, "minProperties", 1);
    put_map(j, "additionalProperties", table);
    bide__json_end(j);
}

static void put_top(struct bide__json *j)
{
    bide__json_object(j, "version");
    bide__json_integer(j, "const", 1);
    bide__json_end(j);
    put_map(j, "scenario", &sim_head_table);
    bide__json_object(j, "policies");
    bide__json_text(j, "type", "object");
    bide__json_integer(j, "minProperties", 1);
    bide__schema_ref(j, "additionalProperties", "policy");
    bide__json_end(j);
    put_named(j, "clients", "Fleets of clients, by name.", &sim_fleet_table);
    put_named(j, "services", "Services, by name.", &sim_service_table);
    bide__json_object(j, "faults");
    bide__json_text(j, "type", "array");
    put_map(j, "items", &sim_fault_table);
    bide__json_end(j);
    bide__schema_type(j, "variants", "object",
                      "The same with other policies, by name.");
}

void sim_scenario_schema(FILE *out)
{
    static const char *const required[] = { "version", "policies", "clients",
                                            "services", NULL };
    struct bide__json j;

    bide__json_init(&j, out, true);
    bide__json_object(&j, NULL);
    bide__json_text(&j, "$schema", "http://json-schema.org/draft-07/schema#");
    bide__json_text(&j, "title", "A scenario of bide's simulator");
    bide__json_text(&j, "type", "object");
    bide__json_flag(&j, "additionalProperties", false);
    bide__schema_words(&j, "required", required);
    bide__json_object(&j, "properties");
    put_top(&j);
    bide__json_end(&j);
    bide__json_object(&j, "definitions");
    bide__schema_definitions(&j);
    put_distribution(&j);
    bide__json_end(&j);
    bide__json_end(&j);
    bide__json_done(&j);
}
