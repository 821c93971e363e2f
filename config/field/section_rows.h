/* Rows of a section's tables. `S` is the struct that the table fills; it is defined
 * before the rows and undefined behind them. */
#ifndef BIDE_CONFIG_FIELD_SECTION_ROWS_H
#define BIDE_CONFIG_FIELD_SECTION_ROWS_H

#include <stddef.h>

#include "config/field/section.h"

#define MS     1e6
#define HOUR   3600e9
#define MAX_NS 9223372036854775807.0
#define KIB    1024.0
#define MIB    (1024.0 * KIB)

/* A row of each kind; `S` is the struct of the table. */
#define VALUE(key, type, member, min, max, above, expects, help)               \
    {                                                                          \
        .o = { key, BIDE_OPTION_##type, offsetof(S, member), min, max, above,  \
               NULL, 0, NULL, expects, help },                                 \
        .kind = BIDE__VALUE,                                                   \
    }
#define TIME(key, member, expects, help)                                       \
    VALUE(key, DURATION, member, 0, MAX_NS, true, expects, help)
#define FLAG(key, member, help)                                                \
    VALUE(key, FLAG, member, 0, 0, false, "true or false", help)
#define SIZE(key, member, min, max, word, expects, help)                       \
    {                                                                          \
        .o = { key, BIDE_OPTION_COUNT, offsetof(S, member), min, max, false,   \
               word, 0, NULL, expects, help },                                 \
        .kind = BIDE__SIZE,                                                    \
    }
#define NAMED(name, where, takes, text)                                        \
    .o = { .key = name, .offset = where, .expects = takes, .help = text }
#define AT(member) offsetof(S, member)
#define LAST                                                                   \
    {                                                                          \
        .o = { .key = NULL }                                                   \
    }

#define FILE_ROW(key, member, text)                                            \
    {                                                                          \
        NAMED(key, AT(member), "the name of a file", text), .kind = BIDE__TEXT \
    }

#endif
