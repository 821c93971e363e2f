/* Parts of the reference page. */
#ifndef BIDE_CONFIG_FIELD_REFERENCE_H
#define BIDE_CONFIG_FIELD_REFERENCE_H

#include <stdio.h>

struct bide__section_table;

/* The tables of a section, one below the other. */
void bide__reference_section(FILE *out, const char *name,
                             const struct bide__section_table *table);

#endif
