/* Macros for the rows of tables. `S` is the struct that the table fills; it is
 * defined before the rows and undefined after them. */
#ifndef BIDE_CONFIG_FIELD_ROWS_H
#define BIDE_CONFIG_FIELD_ROWS_H

#include <stddef.h>

#include "config/field/field.h"
#include "lib/takes.h"

#define AT(member) .offset = offsetof(S, member)
#define LAST                                                                   \
    {                                                                          \
        .key = NULL                                                            \
    }

#define TAKES_AS(type, expects) type, 0, 0, false, NULL, 0, NULL, expects
#define TAKES_EITHER(names, expects)                                           \
    BIDE__EITHER, 0, 0, false, NULL, 0, names, expects
#define TAKES_TEXT(expects)     TAKES_AS(BIDE__TEXT, expects)
#define TAKES_FILE              TAKES_TEXT("the name of a file")
#define TAKES_MAP(keys)         TAKES_AS(BIDE__FIELDS, "a map"), .table = &(keys)

#define KiB    1024.0
#define MiB    (1024.0 * KiB)
#define GiB    (1024.0 * MiB)
#define NO_MAX 9223372036854775807.0

#define TAKES_SIZE(min, max, expects)                                          \
    BIDE__SIZE, min, max, false, NULL, 0, NULL, expects
#define TAKES_SIZE_OR(word, min, expects)                                      \
    BIDE__SIZE, min, NO_MAX, false, word, 0, NULL, expects ", or " word
#define TAKES_SIZE_UP_TO(max, unit)                                            \
    TAKES_SIZE(0, max *unit, "a size up to " #max #unit)
#define TAKES_SIZE_FROM(min, min_unit, max, max_unit)                          \
    TAKES_SIZE(min *min_unit, max *max_unit,                                   \
               "a size from " #min #min_unit " to " #max #max_unit)

#endif
