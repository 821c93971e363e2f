/* The part of the schema that describes one policy. */
#ifndef BIDE_CONFIG_FIELD_SCHEMA_POLICY_H
#define BIDE_CONFIG_FIELD_SCHEMA_POLICY_H

struct bide__json;

/* The keys of a policy: options, and those that are more than a number. */
void bide__schema_options(struct bide__json *j);
void bide__schema_others(struct bide__json *j);

#endif
