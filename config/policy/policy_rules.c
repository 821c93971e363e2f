/* policy_rules.c: which outcomes are retried: rules, problems, retry_on.
 *
 * All three become rules of the engine, in this order: `rules` as they stand,
 * `problems`, what `retry_on` lists, and then that all the rest is permanent,
 * since the lists of `retry_on` say exactly what is retried. Each list is
 * inherited by itself, and a policy that has one replaces its parent's. */
#include "config/policy/policy_rules.h"

#include <stdlib.h>
#include <string.h>

#include "config/field/value.h"
#include "config/policy/load.h"
#include "config/policy/policy_check.h"
#include "config/policy/policy_file.h"

/* ===== rules ===== */

/* One condition of a rule. */
static void read_condition(struct bide__making *m, bide_rule *rule,
                           const struct bide__node *key,
                           struct bide__node *const *value)
{
    static const char *const known[] = {
        "status", "errors",       "grpc",  "method",        "header",
        "value",  "problem_type", "class", "not_processed", NULL
    };
    struct bide__node *const *list;
    size_t n = bide__members(value, &list);

    if (bide__node_is(key, "errors"))
        for (size_t i = 0; i < n; i++)
            bide__read_fault(m, list[i], &rule->faults);
    else if (bide__node_is(key, "grpc"))
        for (size_t i = 0; i < n; i++)
            bide__read_grpc(m, list[i], &rule->grpc);
    else if (bide__node_is(key, "method"))
        bide__read_text(m, *value, &rule->method);
    else if (bide__node_is(key, "header"))
        bide__read_text(m, *value, &rule->header);
    else if (bide__node_is(key, "value"))
        bide__read_text(m, *value, &rule->header_value);
    else if (bide__node_is(key, "problem_type"))
        bide__read_text(m, *value, &rule->problem_type);
    else if (bide__node_is(key, "class"))
        bide__read_class(m, *value, &rule->cls);
    else if (bide__node_is(key, "not_processed")) {
        rule->not_processed = bide__node_is(*value, "true");
        if (!rule->not_processed && !bide__node_is(*value, "false"))
            bide__wrong_rule(m, *value, "bad-value", NULL, "`true` or `false`");
    } else if (!bide__node_is(key, "status"))
        bide__unknown_key(m->load, key, known, NULL);
}

/* One rule of the engine for each status or range. */
static void push_statuses(struct bide__making *m, bide_rule rule,
                          struct bide__node *const *status)
{
    struct bide__node *const *list;
    size_t n = bide__members(status, &list);

    for (size_t i = 0; i < n; i++) {
        if (bide__read_status(list[i], &rule.status_min, &rule.status_max))
            bide__push_rule(m, rule);
        else
            bide__wrong_status(m, list[i]);
    }
}

static bool has_condition(const struct bide__node *rule)
{
    static const char *const keys[] = { "status", "errors", "grpc",
                                        "method", "header", "problem_type" };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (bide__map_find(rule, keys[i]) >= 0)
            return true;
    return false;
}

static bool is_whole(struct bide__making *m, const struct bide__node *rule)
{
    struct bide__node *key;

    if (!bide__map_get(rule, "class", NULL)) {
        bide__mistake(m->load, rule, "missing-key",
                      "add `class: transient`, or another class",
                      "this rule does not say what class it makes of things");
        return false;
    }
    if (!has_condition(rule)) {
        bide__mistake(m->load, rule, "missing-key",
                      "add `status`, `errors`, `grpc`, `method`, `header` or "
                      "`problem_type`",
                      "this rule has no condition");
        return false;
    }
    if (bide__map_get(rule, "value", &key) &&
        !bide__map_get(rule, "header", NULL)) {
        bide__mistake(m->load, key, "missing-key", "add `header: NAME`",
                      "`value` is the value of a header, and none is named");
        return false;
    }
    return true;
}

static void read_rule(struct bide__making *m, const struct bide__node *node)
{
    bide_rule rule = { .cls = BIDE_TRANSIENT };
    long status = bide__map_find(node, "status");

    if (node->kind != BIDE__MAP) {
        bide__wrong_rule(
            m, node, "wrong-type",
            "a rule is written `{ status: 409, class: transient }`", "a rule");
        return;
    }
    for (size_t i = 0; i < node->n; i++)
        read_condition(m, &rule, node->keys[i], &node->items[i]);
    m->about = node;
    if (!is_whole(m, node))
        return;
    if (status >= 0)
        push_statuses(m, rule, &node->items[status]);
    else
        bide__push_rule(m, rule);
}

static void read_rules(struct bide__making *m, const struct bide__node *rules)
{
    if (bide__node_empty(rules))
        return;
    if (rules->kind != BIDE__LIST) {
        bide__wrong_rule(
            m, rules, "wrong-type",
            "a rule begins with a dash: `- { status: 409, class: transient }`",
            "a list of rules");
        return;
    }
    for (size_t i = 0; i < rules->n; i++)
        read_rule(m, rules->items[i]);
}

static void read_problems(struct bide__making *m,
                          const struct bide__node *problems)
{
    if (bide__node_empty(problems))
        return;
    if (problems->kind != BIDE__MAP) {
        bide__wrong_rule(m, problems, "wrong-type",
                         "write `https://...: transient`",
                         "a map of type URIs to classes");
        return;
    }
    for (size_t i = 0; i < problems->n; i++) {
        bide_rule rule = { .cls = BIDE_TRANSIENT };

        m->about = problems->keys[i];
        if (bide__read_text(m, problems->keys[i], &rule.problem_type) &&
            bide__read_class(m, problems->items[i], &rule.cls))
            bide__push_rule(m, rule);
    }
}

/* ===== the whole filter ===== */

static void make(struct bide__making *m, const struct bide__policy_entry *entry)
{
    if (entry->rules)
        read_rules(m, entry->rules);
    if (entry->problems)
        read_problems(m, entry->problems);
    if (entry->retry_status)
        bide__retry_statuses(m, entry->retry_status);
    if (entry->retry_errors)
        bide__retry_errors(m, entry->retry_errors);
    if (entry->retry_grpc)
        bide__retry_grpc(m, entry->retry_grpc);
}

/* Whether conf has its rules already: its parent's, or none. */
static bool as_inherited(const struct bide__policy_entry *entry)
{
    const struct bide__policy_entry *p = entry->parent;

    if (!entry->rules && !entry->problems && !entry->retry_status &&
        !entry->retry_errors && !entry->retry_grpc)
        return true;
    return p && entry->rules == p->rules && entry->problems == p->problems &&
           entry->retry_status == p->retry_status &&
           entry->retry_errors == p->retry_errors &&
           entry->retry_grpc == p->retry_grpc;
}

void bide__load_rules(struct bide__load *load, struct bide__policy_entry *entry)
{
    struct bide__making *m;
    bide_rule *rules;

    if (as_inherited(entry))
        return;
    m = calloc(1, sizeof *m);
    if (!m) {
        load->no_memory = true;
        return;
    }
    m->load = load;
    m->about = entry->key;
    make(m, entry);
    rules = bide__load_alloc(load, (m->n + 1) * sizeof *rules);
    if (rules) {
        memcpy(rules, m->rules, m->n * sizeof *rules);
        entry->conf.rules = rules;
        entry->conf.n_rules = m->n;
    }
    free(m);
}
