/* The table behind the sections of the programs: what section.c checks and the
 * schema describes. */
#ifndef BIDE_CONFIG_SECTION_H
#define BIDE_CONFIG_SECTION_H

#include <stdbool.h>

enum bide__section_kind {
    BIDE__ADDRESS, /* host:port */
    BIDE__COUNT,   /* from 1 */
    BIDE__TEXT,
    BIDE__URLS,     /* a list of http:// or https:// */
    BIDE__POLICY,   /* the name of a policy */
    BIDE__UPSTREAM, /* the name of an upstream */
    BIDE__FIELDS,   /* a map with the keys of another table */
    BIDE__LIST_OF,  /* a list of such maps */
    BIDE__MAP_OF    /* names, and such maps */
};

struct bide__section_field {
    const char *key; /* NULL behind the last */
    enum bide__section_kind kind;
    bool required;
    const char *help; /* one sentence */
    const struct bide__section_field *fields;
};

const struct bide__section_field *bide__proxy_fields(void);

#endif
