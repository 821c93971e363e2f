/* Parts of a JSON Schema. `key` is NULL in a list. */
#ifndef BIDE_CONFIG_FIELD_SCHEMA_H
#define BIDE_CONFIG_FIELD_SCHEMA_H

#include "bide/policy.h"
#include "base/json.h"

#define SCHEMA_NUMBER "[0-9]+(\\.[0-9]+)?"

void bide__schema_ref(struct bide__json *j, const char *key, const char *name);
void bide__schema_pattern(struct bide__json *j, const char *key,
                          const char *pattern);
void bide__schema_type(struct bide__json *j, const char *key, const char *type,
                       const char *description);
void bide__schema_zero(struct bide__json *j);
void bide__schema_word(struct bide__json *j, const char *word);
void bide__schema_words(struct bide__json *j, const char *key,
                        const char *const *words);
void bide__schema_bounds(struct bide__json *j, const char *type, double min,
                         double max, bool above);

/* A map that knows its keys, which come between the two. */
void bide__schema_open_map(struct bide__json *j, const char *key);
void bide__schema_close_map(struct bide__json *j);

/* The definitions that refs name: durations, rates, a policy, ... */
void bide__schema_definitions(struct bide__json *j);

/* One field, and a table of them, with the defaults that *init has. Without
 * `init`, only what the keys take: neither defaults nor what is required. */
struct bide__field;
struct bide__table;
void bide__schema_field(struct bide__json *j, const char *key,
                        const struct bide__field *f, const void *init);
void bide__schema_table(struct bide__json *j, const char *key, const char *help,
                        const struct bide__table *table, const void *init);

#endif
