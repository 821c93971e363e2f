/* A field, set from text and written as text. */
#ifndef BIDE_CONFIG_FIELD_TEXT_H
#define BIDE_CONFIG_FIELD_TEXT_H

#include "config/field/field.h"

/* What came of setting a field. */
enum bide__set {
    BIDE__SET_OK,
    BIDE__SET_MALFORMED, /* not a value of its type */
    BIDE__SET_UNITLESS,  /* a number where a unit is needed */
    BIDE__SET_RANGE      /* of its type, and outside its bounds */
};

/* Sets a field of *to, or leaves it. */
enum bide__set bide__field_set(const struct bide__field *f, void *to,
                               const char *text, size_t len);

/* Adds a duration to a list of delays, which must be empty before the first. */
enum bide__set bide__delays_add(bide_delays *delays, const char *text,
                                size_t len);

/* Whether a text can set it at all. */
bool bide__field_settable(const struct bide__field *f);

/* The field that a path such as "queue.limit" leads to, or NULL; *ret_base is
 * where its struct begins in that of the table. */
const struct bide__field *bide__field_find(const struct bide__table *table,
                                           const char *path, size_t *ret_base);

/* The value of a field as a file would have it; NULL if it has no such text. In
 * `buffer`, or a constant. */
const char *bide__field_text(const struct bide__field *f, const void *from,
                             char *buffer, size_t size);

#endif
