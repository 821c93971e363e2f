/* export_mesh.c: what Envoy and Istio have in common.
 *
 * Istio configures Envoy, so both have the same names for what is retried, the
 * same jitter, and the same kind of retry budget: retries in flight, as a share
 * of the requests in flight. */
#include <string.h>

#include "config/policy/retry_set.h"
#include "config/translate/mesh.h"
#include "config/translate/translate.h"
#include "config/translate/translate_value.h"

enum {
    CONNECT_FAULTS = 1u << BIDE_FAULT_CONNECT | 1u << BIDE_FAULT_DNS,
    RESET_FAULTS = 1u << BIDE_FAULT_RESET | 1u << BIDE_FAULT_TIMEOUT,
    LOCAL_FAULTS = 1u << BIDE_FAULT_LOCAL
};

/* The gRPC codes that retry_on has a name for. */
static const struct {
    int code;
    const char *word;
} grpc_words[] = {
    { BIDE_GRPC_CANCELLED, "cancelled" },
    { BIDE_GRPC_DEADLINE_EXCEEDED, "deadline-exceeded" },
    { BIDE_GRPC_INTERNAL, "internal" },
    { BIDE_GRPC_RESOURCE_EXHAUSTED, "resource-exhausted" },
    { BIDE_GRPC_UNAVAILABLE, "unavailable" },
};

enum { N_WORDS = sizeof grpc_words / sizeof grpc_words[0] };

static const char *add(struct bide__translation *t, const char *list,
                       const char *word)
{
    const char *longer =
        *list ? bide__arena_printf(t->arena, "%s,%s", list, word) : word;

    t->no_memory = t->no_memory || !longer;
    return longer ? longer : "";
}

static bool all_5xx(const struct bide__retry_set *set)
{
    for (unsigned s = 500; s <= 599; s++)
        if (!bide__status_in(set, s))
            return false;
    return true;
}

/* ===== faults ===== */

/* A group of faults is one condition in Envoy: all are retried, or none. */
static bool group(struct bide__translation *t, uint32_t faults,
                  uint32_t members, const char *word, const char *why)
{
    uint32_t some = faults & members;
    const char *text;

    if (some == members || some == 0)
        return some != 0;
    text = bide__fault_text(t->arena, some);
    bide__lost_other(t, "retry_on.errors", text ? text : "", why, word);
    return true;
}

static const char *fault_conditions(struct bide__mesh *m,
                                    struct bide__translation *t)
{
    uint32_t faults = m->retried.faults;
    uint32_t others =
        faults & ~(uint32_t)(CONNECT_FAULTS | RESET_FAULTS | LOCAL_FAULTS);
    bool connect = group(t, faults, CONNECT_FAULTS, "connect-failure",
                         "this stands for connect and dns alike");
    bool reset = group(t, faults, RESET_FAULTS, "reset",
                       "this stands for reset and timeout alike");
    const char *list = "";

    if (others)
        bide__lost_other(t, "retry_on.errors",
                         bide__fault_text(t->arena, others),
                         "there is no condition for it", NULL);
    m->any_5xx = connect && reset && all_5xx(&m->retried);
    if (m->any_5xx)
        return add(t, list, "5xx");
    if (connect)
        list = add(t, list, "connect-failure");
    if (connect || reset)
        list = add(t, list, "refused-stream");
    return reset ? add(t, list, "reset") : list;
}

/* ===== gRPC codes ===== */

static const char *grpc_conditions(const struct bide__mesh *m,
                                   struct bide__translation *t,
                                   const char *list)
{
    uint32_t left = m->retried.grpc;

    for (int i = 0; i < N_WORDS; i++) {
        if (left >> grpc_words[i].code & 1)
            list = add(t, list, grpc_words[i].word);
        left &= ~(1u << grpc_words[i].code);
    }
    if (left)
        bide__lost_other(t, "retry_on.grpc", bide__grpc_text(t->arena, left),
                         "there is no condition for it", NULL);
    return list;
}

/* ===== the budget ===== */

static const char no_such_budget[] =
    "its budget counts the retries in flight, as a share of the requests in "
    "flight";

double bide__budget_share(const bide_budget_conf *b)
{
    double ratio = b->kind == BIDE_BUDGET_WINDOW      ? b->ratio
                   : b->kind == BIDE_BUDGET_THROTTLE  ? b->token_ratio
                   : b->kind == BIDE_BUDGET_IN_FLIGHT ? b->ratio
                   : b->cost == 0                     ? 1
                                  : (double)b->refund / b->cost;

    return ratio < 1 ? ratio : 1;
}

static void plan_budget(struct bide__mesh *m, struct bide__translation *t)
{
    static const char *const numbers[] = { "budget.window",
                                           "budget.floor",
                                           "budget.deposit",
                                           "budget.capacity",
                                           "budget.cost",
                                           "budget.cost_timeout",
                                           "budget.cost_throttled",
                                           "budget.refund",
                                           "budget.max_tokens",
                                           "budget.token_ratio",
                                           NULL };
    const bide_budget_conf *b = &t->conf->budget;

    m->has_budget = b->kind != BIDE_BUDGET_OFF && bide__tries_again(t->conf);
    m->budget_percent = bide__percent(bide__budget_share(b));
    m->budget_min = b->kind == BIDE_BUDGET_IN_FLIGHT ? b->min_in_flight : 3;
    bide__kept(t, "budget.kind");
    bide__kept(t, "budget.ratio");
    bide__kept(t, "budget.min_in_flight");
    if (b->kind == BIDE_BUDGET_OFF || b->kind == BIDE_BUDGET_IN_FLIGHT)
        return;
    bide__approximated(t, "budget.kind", no_such_budget,
                       "%g %% of the requests in flight, at least 3",
                       m->budget_percent);
    for (size_t i = 0; numbers[i]; i++)
        bide__lost(t, numbers[i], no_such_budget);
    bide__quietly(t, numbers);
}

void bide__mesh_no_budget(struct bide__mesh *m, struct bide__translation *t)
{
    static const char *const numbers[] = { "budget.ratio",
                                           "budget.min_in_flight", NULL };
    static const char why[] = "there are no retries to limit";

    m->has_budget = false;
    if (t->conf->budget.kind == BIDE_BUDGET_OFF)
        return;
    bide__lost(t, "budget.kind", why);
    for (size_t i = 0; numbers[i]; i++)
        bide__lost(t, numbers[i], why);
    bide__quietly(t, numbers);
}

/* ===== together ===== */

void bide__mesh_shape(struct bide__translation *t)
{
    const bide_backoff *b = &t->conf->backoff;

    bide__kept(t, "backoff.factor");
    if (b->factor < 2 || b->factor > 2)
        bide__approximated(t, "backoff.factor", "waits always double", "2");
    bide__kept(t, "backoff.jitter");
    if (b->jitter != BIDE_JITTER_FULL)
        bide__approximated(t, "backoff.jitter", "jitter is always full",
                           "full");
    bide__lost(t, "backoff.spread", "jitter is always full");
    if (b->floor_ns > 0)
        bide__lost(t, "backoff.floor", "a wait may be as short as 0");
    if (b->immediate_first)
        bide__lost(t, "backoff.immediate_first", "every retry backs off");
}

int64_t bide__call_timeout(struct bide__translation *t)
{
    const bide_policy_conf *c = t->conf;

    bide__kept(t, "deadline");
    if (bide__tries_again(c) || c->attempt_timeout_ns >= c->deadline_ns)
        return c->deadline_ns;
    bide__kept(t, "attempt_timeout");
    return c->attempt_timeout_ns;
}

void bide__mesh_plan(struct bide__mesh *m, struct bide__translation *t)
{
    memset(m, 0, sizeof *m);
    m->conditions = "";
    plan_budget(m, t);
    bide__retry_set_of(&m->retried, t->conf, t);
    if (bide__tries_again(t->conf))
        m->conditions = grpc_conditions(m, t, fault_conditions(m, t));
    bide__lost(t, "nested", "it does not see that a layer above retries too");
    if (t->conf->nested == BIDE_NESTED_RETRY)
        bide__kept(t, "nested");
}
