/* Parts of reference pages. */
#ifndef BIDE_CONFIG_FIELD_REFERENCE_H
#define BIDE_CONFIG_FIELD_REFERENCE_H

#include <stdio.h>

struct bide__table;

/* The tables of a section, one below the other. */
void bide__reference_section(FILE *out, const char *name,
                             const struct bide__table *table);

/* One table under a heading; the keys of nested maps are rows of it. */
void bide__reference_table(FILE *out, const char *title, const char *about,
                           const struct bide__table *table);

#endif
