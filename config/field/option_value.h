/* The options of a policy as rows of a table, set and written by key. */
#ifndef BIDE_CONFIG_FIELD_OPTION_VALUE_H
#define BIDE_CONFIG_FIELD_OPTION_VALUE_H

#include "bide/policy.h"

/* Enough for the text of any value: that of a list of delays is the longest. */
enum { BIDE__VALUE_TEXT = 640 };

struct bide__field;

/* An option as a row of a table. */
struct bide__field bide__option_field(const bide_option *o);

/* Finds an option by its key of `len` bytes; or NULL. */
const bide_option *bide__option_find(const char *key, size_t len);
size_t bide__option_index(const bide_option *o);

/* The quantile that "p95" stands for, or -1. */
double bide__parse_percentile(const char *text, size_t len);

/* Copies the value of an option from another policy. */
void bide__option_copy(bide_policy_conf *to, const bide_policy_conf *from,
                       const bide_option *o);

/* Whether two policies have the same value of an option; whether they have the
 * same values and rules; and a hash that is equal for equal policies, where `h`
 * is the hash so far. */
bool bide__option_same(const bide_policy_conf *a, const bide_policy_conf *b,
                       const bide_option *o);
bool bide__policy_same(const bide_policy_conf *a, const bide_policy_conf *b);
uint64_t bide__policy_hash(uint64_t h, const bide_policy_conf *policy);

/* Sets one option from text, like a command-line flag. BIDE_ENAME if there is
 * no such option, BIDE_EPARSE if the text is invalid for it. */
int bide__option_set(bide_policy_conf *conf, const char *key, const char *text,
                     size_t len);

/* The value of an option as written in a file: "250ms", "10%", "full". Returns
 * `buffer` or a constant. */
const char *bide__option_text(const void *conf, const bide_option *option,
                              char *buffer, size_t size);

#endif
