/* Pages made from the table of options. */
#ifndef BIDE_CONFIG_POLICY_PAGES_H
#define BIDE_CONFIG_POLICY_PAGES_H

#include <stdio.h>

/* Writes a full policy with every option at its default, and its help as a
 * comment; the reference page; a JSON Schema of policy files. All from the table
 * of options. */
void bide__write_defaults(FILE *out);
void bide__write_reference(FILE *out);
void bide__write_schema(FILE *out);

#endif
