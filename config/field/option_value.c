/* option_value.c: the options of a policy, as rows of a table. */
#include "config/field/option_value.h"

#include <string.h>

#include "config/field/rows.h"
#include "config/field/same.h"
#include "config/field/text.h"
#include "config/field/value.h"

struct bide__field bide__option_field(const bide_option *o)
{
    return (struct bide__field){ .key = o->key,
                                 .offset = o->offset,
                                 .type = (int)o->type,
                                 .min = o->min,
                                 .max = o->max,
                                 .above_min = o->above_min,
                                 .special = o->special,
                                 .special_value = o->special_value,
                                 .choices = o->choices,
                                 .expects = o->expects,
                                 .help = o->help };
}

const bide_option *bide__option_find(const char *key, size_t len)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        if (strncmp(options[i].key, key, len) == 0 && !options[i].key[len])
            return &options[i];
    return NULL;
}

size_t bide__option_index(const bide_option *o)
{
    return (size_t)(o - bide_policy_options(NULL));
}

/* ===== by text ===== */

double bide__parse_percentile(const char *text, size_t len)
{
    double value;

    if (len < 2 || text[0] != 'p' ||
        bide__parse_percent(text + 1, len - 1, &value) < 0)
        return -1;
    return value;
}

/* "p95" sets two options. */
static int set_hedge_after(bide_policy_conf *conf, const char *text, size_t len)
{
    double quantile = bide__parse_percentile(text, len);

    if (!(quantile >= 0.5 && quantile <= 0.999))
        return BIDE_EPARSE;
    conf->hedge.after_ns = BIDE_FOREVER;
    conf->hedge.quantile = quantile;
    return 0;
}

int bide__option_set(bide_policy_conf *conf, const char *key, const char *text,
                     size_t len)
{
    const bide_option *o = bide__option_find(key, strlen(key));
    struct bide__field f;

    if (!o)
        return BIDE_ENAME;
    if (strcmp(key, "hedge.after") == 0 && len > 0 && text[0] == 'p')
        return set_hedge_after(conf, text, len);
    f = bide__option_field(o);
    return bide__field_set(&f, conf, text, len) == BIDE__SET_OK ? 0
                                                                : BIDE_EPARSE;
}

const char *bide__option_text(const void *conf, const bide_option *option,
                              char *buffer, size_t size)
{
    struct bide__field f = bide__option_field(option);

    return bide__field_text(&f, conf, buffer, size);
}

/* ===== equality ===== */

void bide__option_copy(bide_policy_conf *to, const bide_policy_conf *from,
                       const bide_option *o)
{
    struct bide__field f = bide__option_field(o);

    bide__field_copy(&f, to, from);
}

bool bide__option_same(const bide_policy_conf *a, const bide_policy_conf *b,
                       const bide_option *o)
{
    struct bide__field f = bide__option_field(o);

    return bide__field_same(&f, a, b);
}

/* A rule; config/policy/policy_rules.c reads it. */
#define S bide_rule
static const struct bide__field rule_fields[] = {
    { "status", AT(status_min), TAKES_AS(BIDE__OTHER, "a status"),
      .size = 2 * sizeof(uint16_t) },
    { "errors", AT(faults), TAKES_AS(BIDE__OTHER, "errors"),
      .size = sizeof(uint32_t) },
    { "grpc", AT(grpc), TAKES_AS(BIDE__OTHER, "gRPC codes"),
      .size = sizeof(uint32_t) },
    { "method", AT(method), TAKES_TEXT("text") },
    { "header", AT(header), TAKES_TEXT("text") },
    { "value", AT(header_value), TAKES_TEXT("text") },
    { "problem_type", AT(problem_type), TAKES_TEXT("text") },
    { "class", AT(cls), TAKES_AS(BIDE__OTHER, "a class"),
      .size = sizeof(bide_class) },
    { "not_processed", AT(not_processed), TAKES_FLAG },
    LAST
};
#undef S
static const struct bide__table rule_table = { .fields = rule_fields };

bool bide__policy_same(const bide_policy_conf *a, const bide_policy_conf *b)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        if (!bide__option_same(a, b, &options[i]))
            return false;
    if (a->n_rules != b->n_rules)
        return false;
    for (size_t i = 0; i < a->n_rules; i++)
        if (!bide__fields_same(&rule_table, &a->rules[i], &b->rules[i]))
            return false;
    return true;
}

uint64_t bide__policy_hash(uint64_t h, const bide_policy_conf *policy)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++) {
        struct bide__field f = bide__option_field(&options[i]);

        h = bide__field_hash(h, &f, policy);
    }
    for (size_t i = 0; i < policy->n_rules; i++)
        h = bide__fields_hash(h, &rule_table, &policy->rules[i]);
    return h;
}
