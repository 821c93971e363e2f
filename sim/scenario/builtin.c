/* builtin.c: looks up built-in scenarios. */
#include "sim/scenario/builtin.h"

#include <string.h>

#include "sim/scenario/builtin_table.h"

const struct sim_builtin *sim_builtins(size_t *ret_n)
{
    if (ret_n)
        *ret_n = sim_builtin_count;
    return sim_builtin_table;
}

const struct sim_builtin *sim_builtin_find(const char *name)
{
    for (size_t i = 0; i < sim_builtin_count; i++)
        if (strcmp(sim_builtin_table[i].name, name) == 0)
            return &sim_builtin_table[i];
    return NULL;
}
