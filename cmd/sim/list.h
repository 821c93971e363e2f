/* bide sim: the scenarios that come with it. */
#ifndef BIDE_CMD_SIM_LIST_H
#define BIDE_CMD_SIM_LIST_H

#include <stdio.h>

/* --list and --print; and what to say of a scenario that is not there, behind
 * the flag that named it, or "": EXIT_USAGE. */
void sim_list_print(FILE *out);
int sim_scenario_print(const char *name);
int sim_no_such_scenario(const char *flag, const char *name);

#endif
