/* Reading a scenario: what the files that do it share.
 *
 * Each map of a scenario has a table of its fields (fields.c), which the reader,
 * settings, the reference page and the schema all go by. What a table cannot say
 * (this or that, not both) is said by the file of the section. Names of services
 * and policies are numbers in a model: the place in their map, so that nothing
 * needs to be read in a certain order. */
#ifndef BIDE_SIM_SCENARIO_LOAD_H
#define BIDE_SIM_SCENARIO_LOAD_H

#include "config/field/field.h"
#include "config/policy/load.h"
#include "sim/model/dist.h"
#include "sim/model/model.h"

/* Threads: owned. */
struct sim_load {
    struct bide__load base; /* its tree, its findings, its policies */
    struct sim_model *model;
    struct bide__node *clients, *services; /* maps, or NULL */
    size_t mistakes_before; /* in other files */
};

/* The tables (fields.c). */
extern const struct bide__table sim_head_table;    /* of struct sim_model */
extern const struct bide__table sim_fleet_table;   /* sim_model_fleet */
extern const struct bide__table sim_step_table;    /* sim_rate_step */
extern const struct bide__table sim_queue_table;   /* sim_model_queue */
extern const struct bide__table sim_service_table; /* sim_model_service */
extern const struct bide__table sim_edge_table;    /* sim_model_edge */
extern const struct bide__table sim_fault_table;   /* sim_fault */
extern const char *const sim_repeat_words[];       /* of enum sim_repeat */
extern const char *const sim_balance_words[]; /* of enum bide__balance_by */

/* How the values are read that only scenarios have: bide__field.read. */
#define SIM_READER(name)                                                       \
    void name(struct bide__load *load, const struct bide__field *f,            \
              const struct bide__node *key, const struct bide__node *node,     \
              void *into)
SIM_READER(sim_read_text);    /* char *, without the blanks behind it */
SIM_READER(sim_read_policy);  /* uint32_t, by name; so are ... */
SIM_READER(sim_read_service); /* ... this ... */
SIM_READER(sim_read_fleet);   /* ... and this */

/* Adds a mistake about a node; "`key`: expected ...; found ...". */
#define sim_mistake(l, node, code, help, ...)                                  \
    bide__mistake(&(l)->base, node, code, help, __VA_ARGS__)
void sim_wrong(struct sim_load *l, const struct bide__node *key,
               const struct bide__node *node, const char *expected,
               const char *help);

/* Memory that lives as long as the model, zeroed; at least one byte. NULL is
 * remembered. */
void *sim_load_alloc(struct sim_load *l, size_t n, size_t size);

/* Reads a value that must be a map, by its table; false after a mistake. */
bool sim_read_map(struct sim_load *l, const struct bide__table *table,
                  void *into, const struct bide__node *key,
                  const struct bide__node *node, const char *help);

/* The number of what has that name, or SIM_NONE after a mistake. */
uint32_t sim_find_policy(struct sim_load *l, const struct bide__node *name);
uint32_t sim_find_service(struct sim_load *l, const struct bide__node *name);

/* The policy of a caller that names none: `default`, or the only one there is.
 * SIM_NONE after a mistake about `where`. */
uint32_t sim_usual_policy(struct sim_load *l, const struct bide__node *where);

/* The nearest of the keys of a map, as a help. */
const char *sim_suggest_key(struct sim_load *l, const struct bide__node *map,
                            const char *found);

/* "`a` and `b` both say ...": a mistake if a map has both keys; then true. */
bool sim_both(struct sim_load *l, const struct bide__node *map, const char *a,
              const char *b, const char *what);

#endif
