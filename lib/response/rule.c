/* rule.c: matches the conditions of a policy's rules against a response.
 *
 * All conditions of a rule must be true. If a transfer broke off after its
 * status line, a rule that names a status or a fault sees only the one that
 * decides; a rule that names both sees both. So a rule "200 is success" does
 * not make half a response a success. */
#include "lib/response/rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/ascii.h"
#include "lib/response/outcome.h"

static bool asks_status(const bide_rule *rule)
{
    return rule->status_min != 0 || rule->status_max != 0;
}

static bool status_matches(const bide_rule *rule, const struct bide__answer *a)
{
    if (!asks_status(rule))
        return true;
    if (a->r->is_grpc || (!a->status_decides && !rule->faults))
        return false;
    return a->r->status >= rule->status_min && a->r->status <= rule->status_max;
}

/* What the caller or we did says nothing about the server: only a rule that
 * names it may reclassify it. */
static bool fault_matches(const bide_rule *rule, const struct bide__answer *a)
{
    if (!rule->faults)
        return bide__fault_class(a->fault) != BIDE_IGNORED;
    if (a->fault != BIDE_FAULT_NONE && a->status_decides && !asks_status(rule))
        return false;
    return rule->faults >> a->fault & 1;
}

static bool grpc_matches(const bide_rule *rule, const struct bide__answer *a)
{
    int code = a->r->grpc_status;

    if (!rule->grpc)
        return true;
    if (!a->r->is_grpc || (!a->status_decides && !rule->faults))
        return false;
    return code >= 0 && code < BIDE_N_GRPC && (rule->grpc >> code & 1);
}

static bool method_matches(const bide_rule *rule, const bide_response *r)
{
    return !rule->method || (r->method && strcmp(rule->method, r->method) == 0);
}

/* Compares a value with a pattern that may end in `*`. */
static bool value_matches(struct bide__text value, const char *pattern)
{
    struct bide__text p = bide__text_of(pattern);

    if (p.len == 0 || p.at[p.len - 1] != '*')
        return bide__same(value, p);
    p.len--;
    return bide__starts_with(value, p);
}

bool bide__is_field(const bide_header *h, const char *name)
{
    return h->name && bide__same((struct bide__text){ h->name, h->name_len },
                                 bide__text_of(name));
}

static bool header_matches(const bide_rule *rule, const bide_response *r)
{
    if (!rule->header)
        return true;
    for (size_t i = 0; r->headers && i < r->n_headers; i++) {
        const bide_header *h = &r->headers[i];

        if (!bide__is_field(h, rule->header))
            continue;
        if (!rule->header_value ||
            value_matches(bide__trim(h->value, h->value_len),
                          rule->header_value))
            return true;
    }
    return false;
}

static bool problem_matches(const bide_rule *rule, struct bide__answer *a)
{
    const bide_problem *problem;

    if (!rule->problem_type)
        return true;
    problem = bide__answer_problem(a);
    return problem && problem->type[0] &&
           strcmp(problem->type, rule->problem_type) == 0;
}

/* The costly one comes last. */
bool bide__rule_matches(const bide_rule *rule, struct bide__answer *a)
{
    return status_matches(rule, a) && fault_matches(rule, a) &&
           grpc_matches(rule, a) && method_matches(rule, a->r) &&
           header_matches(rule, a->r) && problem_matches(rule, a);
}

/* Returns whether a Content-Type is application/problem+json, with or without
 * parameters. */
static bool is_problem_type(struct bide__text value)
{
    const struct bide__text type = bide__text_of("application/problem+json");

    if (!bide__starts_with(value, type))
        return false;
    value = bide__trim(value.at + type.len, value.len - type.len);
    return value.len == 0 || value.at[0] == ';';
}

/* A body may hold problem details if a Content-Type says so, or if there is no
 * Content-Type that could have said anything. */
static bool may_hold_problem(const bide_response *r)
{
    bool typed = false;

    for (size_t i = 0; r->headers && i < r->n_headers; i++) {
        const bide_header *h = &r->headers[i];

        if (!bide__is_field(h, "content-type"))
            continue;
        if (is_problem_type(bide__trim(h->value, h->value_len)))
            return true;
        typed = true;
    }
    return !typed;
}

const bide_problem *bide__answer_problem(struct bide__answer *a)
{
    const bide_response *r = a->r;

    if (!a->problem_read) {
        a->has_problem =
            r->body && r->body_len > 0 && may_hold_problem(r) &&
            bide_problem_read(r->body, r->body_len, &a->problem) == 0;
        a->problem_read = true;
    }
    return a->has_problem ? &a->problem : NULL;
}
