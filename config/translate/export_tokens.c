/* export_tokens.c: a budget as gRPC's retryThrottling.
 *
 * Failures take tokens and successes add them; retries stop when half are left.
 * Budgets of other kinds keep their long-run share of retries. */
#include <math.h>

#include "config/translate/export_grpc.h"
#include "base/json.h"

enum { MAX_TOKENS = 1000 };

struct tokens {
    double max, ratio;
};

/* Half of the tokens can be used before retries stop, and each success returns
 * `ratio`: the former is the size of a burst, the latter the long-run share. */
static struct tokens tokens_for(const bide_budget_conf *b)
{
    switch (b->kind) {
    case BIDE_BUDGET_THROTTLE:
        return (struct tokens){ b->max_tokens, b->token_ratio };
    case BIDE_BUDGET_QUOTA:
        if (b->cost == 0)
            return (struct tokens){ MAX_TOKENS, MAX_TOKENS };
        return (struct tokens){ 2.0 * b->capacity / b->cost,
                                (double)b->refund / b->cost };
    case BIDE_BUDGET_IN_FLIGHT:
        return (struct tokens){ 2.0 * b->min_in_flight, b->ratio };
    default:
        return (struct tokens){ 2 * b->floor_per_s * (double)b->window_ns / 1e9,
                                b->ratio };
    }
}

static double within(double x, double min, double max)
{
    return x < min ? min : x > max ? max : x;
}

static void tell_tokens(struct bide__translation *t, struct tokens wanted,
                        struct tokens given)
{
    static const char *const numbers[] = { "budget.ratio",
                                           "budget.window",
                                           "budget.floor",
                                           "budget.deposit",
                                           "budget.capacity",
                                           "budget.cost",
                                           "budget.cost_timeout",
                                           "budget.cost_throttled",
                                           "budget.refund",
                                           "budget.min_in_flight",
                                           NULL };
    static const char why[] = "its budget is tokens: a failure costs 1, a "
                              "success gives tokenRatio";

    bide__kept(t, "budget.max_tokens");
    if (fabs(given.max - wanted.max) > 0)
        bide__approximated(t, "budget.max_tokens",
                           "maxTokens is a whole number", "%g", given.max);
    bide__kept(t, "budget.token_ratio");
    if (fabs(given.ratio - wanted.ratio) > 1e-9)
        bide__approximated(t, "budget.token_ratio",
                           "tokenRatio has three decimal places", "%g",
                           given.ratio);
    bide__kept(t, "budget.kind");
    if (t->conf->budget.kind == BIDE_BUDGET_THROTTLE)
        return;
    bide__approximated(t, "budget.kind", why, "maxTokens %g, tokenRatio %g",
                       given.max, given.ratio);
    for (size_t i = 0; numbers[i]; i++)
        bide__approximated(t, numbers[i], why, "maxTokens %g, tokenRatio %g",
                           given.max, given.ratio);
    bide__quietly(t, numbers);
}

void bide__grpc_tokens(struct bide__translation *t, struct bide__json *j,
                       bool any_policy)
{
    struct tokens wanted = tokens_for(&t->conf->budget), given;

    bide__kept(t, "budget.kind");
    if (t->conf->budget.kind == BIDE_BUDGET_OFF)
        return;
    if (!any_policy) {
        bide__lost(t, "budget.kind", "there are no retries to limit");
        return;
    }
    given.max = within(round(wanted.max), 1, MAX_TOKENS);
    given.ratio = within(round(wanted.ratio * 1000) / 1000, 0.001, MAX_TOKENS);
    tell_tokens(t, wanted, given);
    bide__json_object(j, "retryThrottling");
    bide__json_number(j, "maxTokens", given.max);
    bide__json_number(j, "tokenRatio", given.ratio);
    bide__json_end(j);
}
