/* Whether two policies are the same, by the table of options: a dependency is
 * kept over a reload only if nothing that it is run by has changed. And a number
 * for all that, for those that have outlived the process that made them. */
#include "proxy/policy_same.h"

#include <string.h>


static size_t size_of(const bide_option *o)
{
    switch (o->type) {
    case BIDE_OPTION_DURATION:
        return sizeof(int64_t);
    case BIDE_OPTION_COUNT:
        return sizeof(uint32_t);
    case BIDE_OPTION_RATIO:
    case BIDE_OPTION_NUMBER:
    case BIDE_OPTION_RATE:
        return sizeof(double);
    case BIDE_OPTION_FLAG:
        return sizeof(bool);
    case BIDE_OPTION_CHOICE:
        return sizeof(bide_hint_mode);
    }
    return sizeof(int);
}

static bool option_same(const bide_option *o, const bide_policy_conf *a,
                        const bide_policy_conf *b)
{
    return memcmp((const char *)a + o->offset, (const char *)b + o->offset,
                  size_of(o)) == 0;
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

/* ===== as a number ===== */

static void mark(uint64_t *h, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        *h = (*h ^ bytes[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
}

static void mark_text(uint64_t *h, const char *text)
{
    mark(h, text ? "+" : "-", 1);
    if (text)
        mark(h, text, strlen(text) + 1);
}

static void mark_rule(uint64_t *h, const bide_rule *r)
{
    const uint64_t numbers[] = {
        (uint64_t)r->status_min, (uint64_t)r->status_max, (uint64_t)r->faults,
        (uint64_t)r->grpc,       (uint64_t)r->cls,        r->not_processed
    };
    mark(h, numbers, sizeof numbers);
    mark_text(h, r->method);
    mark_text(h, r->header);
    mark_text(h, r->header_value);
    mark_text(h, r->problem_type);
}

uint64_t policy_fingerprint(const bide_policy_conf *policy)
{
    size_t n;
    const bide_option *options = bide_policy_options(&n);
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    const uint64_t sizes[] = { n, policy->n_rules,
                               bide_dep_shared_size(policy) };

    mark(&h, sizes, sizeof sizes);
    for (size_t i = 0; i < n; i++) {
        mark_text(&h, options[i].key);
        mark(&h, (const char *)policy + options[i].offset,
             size_of(&options[i]));
    }
    for (size_t i = 0; i < policy->n_rules; i++)
        mark_rule(&h, &policy->rules[i]);
    return h;
}
