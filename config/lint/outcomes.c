/* outcomes.c: what is retried, and should not be.
 *
 * A rule that tests a header or a problem type knows more than a status says,
 * and is trusted. */
#include <string.h>

#include "config/lint/lint.h"
#include "config/lint/outcome_lints.h"
#include "config/policy/policy_rules.h"

/* ===== L004 ===== */

/* What is wrong with retrying a status, or NULL. */
static const char *hopeless(unsigned status)
{
    if (status < 400)
        return "is no failure";
    if (status >= 500)
        return status == 501 || status == 505
                   ? "says that the server cannot do this at all"
                   : NULL;
    return status == 408 || status == 425 || status == 429
               ? NULL
               : "says that the request itself is wrong";
}

/* What a whole range is to be replaced by. */
static const char *narrowed(unsigned min, unsigned max)
{
    if (min >= 500 && max >= 505)
        return "write `500, 502, 503, 504`";
    return "write the statuses that a retry can help: 408, 425, 429, 500, 502, "
           "503, 504";
}

static void check_status(const struct bide__linting *l,
                         const struct bide__node *node)
{
    uint16_t min, max;

    if (!bide__read_status(node, &min, &max))
        return;
    for (unsigned s = min; s <= max; s++) {
        if (!hopeless(s))
            continue;
        if (min == max)
            bide__warn(l, node, "L004", "take it out of the list",
                       "%u %s: a retry cannot help", s, hopeless(s));
        else
            bide__warn(l, node, "L004", narrowed(min, max),
                       "this range covers %u, which %s: a retry cannot help", s,
                       hopeless(s));
        return;
    }
}

static void check_word(const struct bide__linting *l,
                       const struct bide__node *node)
{
    static const char *const words[] = { "INVALID_ARGUMENT",
                                         "NOT_FOUND",
                                         "ALREADY_EXISTS",
                                         "PERMISSION_DENIED",
                                         "FAILED_PRECONDITION",
                                         "OUT_OF_RANGE",
                                         "UNIMPLEMENTED",
                                         "UNAUTHENTICATED",
                                         "tls",
                                         "url" };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (bide__node_is(node, words[i]))
            bide__warn(l, node, "L004", "take it out of the list",
                       "`%s` stays as it is: a retry cannot help", words[i]);
}

static void each(const struct bide__linting *l, struct bide__node *node,
                 void (*check)(const struct bide__linting *l,
                               const struct bide__node *node))
{
    if (!node)
        return;
    if (node->kind != BIDE__LIST)
        check(l, node);
    for (size_t i = 0; node->kind == BIDE__LIST && i < node->n; i++)
        check(l, node->items[i]);
}

static void hopeless_retry(const struct bide__linting *l,
                           const struct bide__node *rule)
{
    each(l, bide__map_get(rule, "status", NULL), check_status);
    each(l, bide__map_get(rule, "errors", NULL), check_word);
    each(l, bide__map_get(rule, "grpc", NULL), check_word);
}

/* ===== L005 ===== */

/* Responses that may come after the work was done, or half of it. */
static void check_claim(const struct bide__linting *l,
                        const struct bide__node *node)
{
    static const char *const words[] = { "reset",    "timeout",
                                         "other",    "UNKNOWN",
                                         "INTERNAL", "DEADLINE_EXCEEDED" };
    uint16_t min, max;
    const char *what = NULL;

    if (bide__read_status(node, &min, &max))
        for (unsigned s = min; s <= max && !what; s++)
            if (s >= 500 && s != 501 && s != 503 && s != 505)
                what = node->text;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (bide__node_is(node, words[i]))
            what = words[i];
    if (what)
        bide__warn(l, node, "L005",
                   "leave `not_processed` out, or write `idempotency: { key: "
                   "generate }`",
                   "`%s` does not prove that nothing was done, but this rule "
                   "claims it",
                   what);
}

static void unsafe_retry(const struct bide__linting *l,
                         const struct bide__node *rule)
{
    const struct bide__node *method = bide__map_get(rule, "method", NULL);
    bool safe = method && bide_method_idempotent(method->text);

    if (l->entry->conf.idempotency_key == BIDE_KEY_GENERATE || safe)
        return;
    if (bide__node_is(bide__map_get(rule, "not_processed", NULL), "true")) {
        each(l, bide__map_get(rule, "status", NULL), check_claim);
        each(l, bide__map_get(rule, "errors", NULL), check_claim);
        each(l, bide__map_get(rule, "grpc", NULL), check_claim);
    } else if (method) {
        bide__warn(
            l, method, "L005", "write `idempotency: { key: generate }`",
            "this rule retries %s, which is not safe to send twice, and no "
            "key is generated",
            method->text);
    }
}

/* ===== all rules ===== */

static bool is_retryable(const struct bide__node *rule)
{
    const struct bide__node *cls = bide__map_get(rule, "class", NULL);

    return bide__node_is(cls, "transient") || bide__node_is(cls, "throttled");
}

void bide__lint_outcomes(const struct bide__linting *l)
{
    const struct bide__policy_entry *e = l->entry;

    if (!bide__retries(l) && e->conf.hedge.max == 0)
        return;
    each(l, e->retry_status, check_status);
    each(l, e->retry_errors, check_word);
    each(l, e->retry_grpc, check_word);
    for (size_t i = 0; e->rules && i < e->rules->n; i++) {
        const struct bide__node *rule = e->rules->items[i];

        if (!is_retryable(rule))
            continue;
        if (!bide__map_get(rule, "header", NULL) &&
            !bide__map_get(rule, "problem_type", NULL))
            hopeless_retry(l, rule);
        unsafe_retry(l, rule);
    }
}
