/* The reference of the keys in scenario files, generated from the reader's
 * tables. */
#ifndef BIDE_SIM_SCENARIO_REFERENCE_H
#define BIDE_SIM_SCENARIO_REFERENCE_H

#include <stdio.h>

/* The first writes a reference of all keys in Markdown, the second a JSON
 * Schema for editors. */
void sim_scenario_reference(FILE *out);
void sim_scenario_schema(FILE *out);

#endif
