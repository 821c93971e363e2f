/* One option of a policy, set from text and written as text. */
#ifndef BIDE_CONFIG_FIELD_OPTION_VALUE_H
#define BIDE_CONFIG_FIELD_OPTION_VALUE_H

#include "config/policy/policy_file.h"

/* What came of setting an option. */
enum bide__set {
    BIDE__SET_OK,
    BIDE__SET_MALFORMED, /* not a value of its type */
    BIDE__SET_UNITLESS,  /* a number where a unit is needed */
    BIDE__SET_RANGE      /* of its type, and outside its bounds */
};

/* Sets option o of *conf, or leaves it: a policy, or whatever struct the option's
 * offset is of. */
enum bide__set bide__set(void *conf, const bide_option *o, const char *text,
                         size_t len);

/* Finds an option by its key, or NULL; `len` bytes of key count. */
const bide_option *bide__option_find(const char *key, size_t len);
size_t bide__option_index(const bide_option *o);

/* The quantile that "p95" stands for, or -1. */
double bide__parse_percentile(const char *text, size_t len);

/* Gives an option the value that it has in another policy. */
void bide__option_copy(bide_policy_conf *to, const bide_policy_conf *from,
                       const bide_option *o);

/* Whether two policies have the same value of an option. */
bool bide__option_same(const bide_policy_conf *a, const bide_policy_conf *b,
                       const bide_option *o);

#endif
