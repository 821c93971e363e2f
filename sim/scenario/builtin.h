/* The built-in scenarios: sim/scenario/builtin/, embedded in the program.
 *
 *     const struct sim_builtin *b = sim_builtin_find("metastable");
 *     sim_scenario_parse(&model, b->name, b->text, b->len, notes); */
#ifndef BIDE_SIM_SCENARIO_BUILTIN_H
#define BIDE_SIM_SCENARIO_BUILTIN_H

#include <stddef.h>

/* Threads: immutable. */
struct sim_builtin {
    const char *name;     /* "metastable" */
    const char *sentence; /* what it demonstrates */
    const char *text;     /* the YAML; ends in a NUL that `len` does not count */
    size_t len;
};

/* All of them, in the best order for reading. */
const struct sim_builtin *sim_builtins(size_t *ret_n);

/* NULL: there is none. */
const struct sim_builtin *sim_builtin_find(const char *name);

#endif
