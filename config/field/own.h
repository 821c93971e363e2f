/* A struct that outlives the file that it was read from. */
#ifndef BIDE_CONFIG_FIELD_OWN_H
#define BIDE_CONFIG_FIELD_OWN_H

#include "config/field/field.h"

/* Makes the texts of a struct copies of its own; false: no memory, and what
 * could not be copied is NULL. And frees them. Lists stay as they are. */
bool bide__fields_own(const struct bide__table *table, void *of);
void bide__fields_disown(const struct bide__table *table, void *of);

#endif
