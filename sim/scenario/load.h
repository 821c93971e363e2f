/* Reading a scenario: what the files that do it share.
 *
 * Each map of a scenario has a table of its fields (fields.c), which the
 * reader, the reference page and the schema all go by. What a table cannot say
 * (this or that, not both) is said by the file of the section. Names of services
 * and policies are numbers in a model: the place in their map, so that nothing
 * needs to be read in a certain order. */
#ifndef BIDE_SIM_SCENARIO_LOAD_H
#define BIDE_SIM_SCENARIO_LOAD_H

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

enum sim_field_kind {
    SIM_FIELD_TEXT,    /* char * */
    SIM_FIELD_SPAN,    /* int64_t, ns */
    SIM_FIELD_RATE,    /* double, per second */
    SIM_FIELD_SHARE,   /* double, 0 .. 1 */
    SIM_FIELD_NUMBER,  /* double */
    SIM_FIELD_COUNT,   /* uint32_t */
    SIM_FIELD_LARGE,   /* uint64_t */
    SIM_FIELD_FLAG,    /* bool */
    SIM_FIELD_WORD,    /* an enum, one of `words` */
    SIM_FIELD_EITHER,  /* bool: whether it is the second of two `words` */
    SIM_FIELD_DIST,    /* struct sim_dist */
    SIM_FIELD_POLICY,  /* uint32_t, by name */
    SIM_FIELD_SERVICE, /* uint32_t, by name */
    SIM_FIELD_FLEET,   /* uint32_t, by name */
    SIM_FIELD_GROUP,   /* a map with fields of the same struct */
    SIM_FIELD_OTHER    /* read by the file of the section */
};

/* Threads: immutable. */
struct sim_field {
    const char *key; /* NULL behind the last */
    enum sim_field_kind kind;
    size_t offset;   /* in the struct of the map */
    double min, max; /* in the unit of the field, as it is kept */
    const char *word;      /* stands for `word_value`, or NULL */
    double word_value;
    const char *const *words;       /* of a WORD, in the order of its enum */
    const struct sim_field *fields; /* of a GROUP, or of what OTHER holds */
    const char *preset;  /* the default, as a file would have it; or "" */
    const char *expects; /* "a duration over 0" */
    const char *help;    /* one sentence */
};

/* The tables. */
extern const struct sim_field sim_head_fields[];    /* of struct sim_model */
extern const struct sim_field sim_fleet_fields[];   /* sim_model_fleet */
extern const struct sim_field sim_service_fields[]; /* sim_model_service */
extern const struct sim_field sim_edge_fields[];    /* sim_model_edge */
extern const struct sim_field sim_fault_fields[];   /* sim_fault */
extern const char *const sim_repeat_words[];        /* of enum sim_repeat */

/* Adds a mistake about a node; "`key`: expected ...; found ...". */
#define sim_mistake(l, node, code, help, ...)                                  \
    bide__mistake(&(l)->base, node, code, help, __VA_ARGS__)
void sim_wrong(struct sim_load *l, const struct bide__node *key,
               const struct bide__node *node, const char *expected,
               const char *help);

/* Memory that lives as long as the model, zeroed; at least one byte. NULL is
 * remembered. */
void *sim_load_alloc(struct sim_load *l, size_t n, size_t size);

/* Reads the members of a map into a struct by its table; unknown keys are
 * mistakes. */
void sim_read_fields(struct sim_load *l, const struct sim_field *fields,
                     void *into, const struct bide__node *map);

/* The same, where the value must be a map and have all of the `needed` keys;
 * false after a mistake. */
bool sim_read_needed(struct sim_load *l, const struct sim_field *fields,
                     void *into, const struct bide__node *key,
                     const struct bide__node *node, const char *const *needed,
                     const char *help);

/* Reads one value; false after a mistake. */
bool sim_read_field(struct sim_load *l, const struct sim_field *field,
                    void *into, const struct bide__node *key,
                    const struct bide__node *node);
bool sim_read_scalar(struct sim_load *l, const struct sim_field *field,
                     void *into, const struct bide__node *key,
                     const struct bide__node *node);
bool sim_read_dist(struct sim_load *l, struct sim_dist *ret,
                   const struct bide__node *key, const struct bide__node *node);

/* A map with one of the shapes of distributions, and perhaps a share; those that
 * are made of parts. */
bool sim_read_shape(struct sim_load *l, struct sim_dist *ret,
                    const struct bide__node *key, const struct bide__node *map,
                    bool with_share);
bool sim_read_mixture(struct sim_load *l, struct sim_dist *ret,
                      const struct bide__node *key,
                      const struct bide__node *node);
bool sim_read_histogram(struct sim_load *l, struct sim_dist *ret,
                        const struct bide__node *key,
                        const struct bide__node *node);

/* The number of what has that name, or SIM_NONE after a mistake. */
uint32_t sim_find_policy(struct sim_load *l, const struct bide__node *name);
uint32_t sim_find_service(struct sim_load *l, const struct bide__node *name);
uint32_t sim_find_fleet(struct sim_load *l, const struct bide__node *name);

/* The policy of a caller that names none: `default`, or the only one there is.
 * SIM_NONE after a mistake about `where`. */
uint32_t sim_usual_policy(struct sim_load *l, const struct bide__node *where);

/* The nearest of the keys of a map, as a help. */
const char *sim_suggest_key(struct sim_load *l, const struct bide__node *map,
                            const char *found);

/* "`a` and `b` both say ...": a mistake if a map has both keys; then true. */
bool sim_both(struct sim_load *l, const struct bide__node *map, const char *a,
              const char *b, const char *what);

/* The sections. */
void sim_load_clients(struct sim_load *l);
void sim_load_services(struct sim_load *l);
void sim_load_faults(struct sim_load *l, const struct bide__node *key,
                     const struct bide__node *node);
void sim_load_variants(struct sim_load *l, const struct bide__node *key,
                       const struct bide__node *node);
void sim_load_replay(struct sim_load *l, struct sim_model_fleet *fleet,
                     const struct bide__node *key,
                     const struct bide__node *node);
void sim_check_graph(struct sim_load *l);
void sim_lint_scenario(struct sim_load *l, const struct bide__node *faults);

/* Times of a log, in nanoseconds and in order, the first of them 0. Lines
 * without a time are findings about `path`. */
bool sim_read_log(struct sim_load *l, const char *path, const char *text,
                  size_t len, int64_t **ret, uint32_t *ret_n);

#endif
