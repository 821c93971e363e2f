/* The keys of scenario files, written down from the tables that the reader reads
 * by. */
#ifndef BIDE_SIM_SCENARIO_REFERENCE_H
#define BIDE_SIM_SCENARIO_REFERENCE_H

#include <stdio.h>

/* Writes the reference of all keys, in Markdown, and a JSON Schema for editors;
 * both from the tables that the reader reads by. */
void sim_scenario_reference(FILE *out);
void sim_scenario_schema(FILE *out);

#endif
