/* bide sim: the built-in scenarios. */
#ifndef BIDE_CMD_SIM_LIST_H
#define BIDE_CMD_SIM_LIST_H

#include <stdio.h>

/* --list and --print; and the message for an unknown scenario, after the flag
 * that named it, or "", which returns EXIT_USAGE. */
void sim_list_print(FILE *out);
int sim_scenario_print(const char *name);
int sim_no_such_scenario(const char *flag, const char *name);

#endif
