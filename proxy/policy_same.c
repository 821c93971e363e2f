/* Whether two policies are the same, by the table of options: a dependency is
 * kept over a reload only if nothing that it is run by has changed. */
#include <string.h>

#include "state.h"

static bool option_same(const bide_option *o, const bide_policy_conf *a,
                        const bide_policy_conf *b)
{
    const char *x = (const char *)a + o->offset;
    const char *y = (const char *)b + o->offset;
    size_t size = sizeof(int);

    switch (o->type) {
    case BIDE_OPTION_DURATION:
        size = sizeof(int64_t);
        break;
    case BIDE_OPTION_COUNT:
        size = sizeof(uint32_t);
        break;
    case BIDE_OPTION_RATIO:
    case BIDE_OPTION_NUMBER:
    case BIDE_OPTION_RATE:
        size = sizeof(double);
        break;
    case BIDE_OPTION_FLAG:
        size = sizeof(bool);
        break;
    case BIDE_OPTION_CHOICE:
        size = sizeof(bide_hint_mode);
        break;
    }
    return memcmp(x, y, size) == 0;
}

static bool text_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool rule_same(const bide_rule *a, const bide_rule *b)
{
    return a->status_min == b->status_min && a->status_max == b->status_max &&
           a->faults == b->faults && a->grpc == b->grpc && a->cls == b->cls &&
           a->not_processed == b->not_processed &&
           text_same(a->method, b->method) && text_same(a->header, b->header) &&
           text_same(a->header_value, b->header_value) &&
           text_same(a->problem_type, b->problem_type);
}

bool policy_same(const bide_policy_conf *a, const bide_policy_conf *b)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);

    for (size_t i = 0; i < n; i++)
        if (!option_same(&options[i], a, b))
            return false;
    if (a->n_rules != b->n_rules)
        return false;
    for (size_t i = 0; i < a->n_rules; i++)
        if (!rule_same(&a->rules[i], &b->rules[i]))
            return false;
    return true;
}
