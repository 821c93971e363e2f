/* Writing policy files. */
#ifndef BIDE_CONFIG_POLICY_WRITE_POLICY_H
#define BIDE_CONFIG_POLICY_WRITE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/policy/retry_set.h"

struct bide__comment {
    const char *key, *text;
};

struct bide__named_policy {
    const char *name;
    const char *extends; /* all is as in that one; or NULL */
    bide_policy_conf conf;
    bool has_retry_on; /* write `retried` as retry_on */
    struct bide__retry_set retried;
    struct bide__comment comments[16]; /* in place of the option's help */
    int n_comments;
};

/* Writes a policy file. What stands at its default is left out, except
 * `attempts`; all else is read back by bide_config_parse() as it was. */
void bide__write_policies(FILE *out, const struct bide__named_policy *policies,
                          size_t n);

/* Writes a text as YAML: plain if it is a plain word, else in quotes. */
void bide__write_yaml_text(FILE *out, const char *text);

#endif
