/* load.c: what a policy does to its service. */
#include <math.h>

#include "config/field/value.h"
#include "config/lint/lint.h"
#include "config/lint/policy_lints.h"

#define SHOWN 40

/* ===== L002, L009, L010, L011 ===== */

static void no_jitter(const struct bide__linting *l)
{
    const bide_backoff *b = &l->entry->conf.backoff;
    struct bide__node *node = BIDE__SET_BY(l, "backoff.jitter");

    if (b->jitter == BIDE_JITTER_PROPORTIONAL && b->spread == 0)
        node = BIDE__SET_BY(l, "backoff.spread", "backoff.jitter");
    else if (b->jitter != BIDE_JITTER_NONE)
        return;
    if (node)
        bide__warn(l, node, "L002", "write `jitter: full`",
                   "the waits have no jitter");
}

static void no_budget(const struct bide__linting *l)
{
    struct bide__node *node = BIDE__SET_BY(l, "budget.kind");

    if (node && l->entry->conf.budget.kind == BIDE_BUDGET_OFF)
        bide__warn(
            l, node, "L009", "write `kind: window`",
            "retries have no budget: an outage multiplies the load by %lu",
            (unsigned long)l->entry->conf.attempts);
}

static void deposit_per_call(const struct bide__linting *l)
{
    const bide_budget_conf *b = &l->entry->conf.budget;
    struct bide__node *node = BIDE__SET_BY(l, "budget.deposit");

    if (node && b->kind == BIDE_BUDGET_WINDOW &&
        b->deposit == BIDE_DEPOSIT_CALL)
        bide__warn(l, node, "L010", "write `deposit: success`",
                   "every call deposits into the budget, the failing ones too");
}

static void no_breaker(const struct bide__linting *l)
{
    const bide_breaker_conf *b = &l->entry->conf.breaker;
    struct bide__node *kind = BIDE__SET_BY(l, "breaker.kind");
    struct bide__node *mode = BIDE__SET_BY(l, "breaker.mode");

    if (kind && b->kind == BIDE_BREAKER_OFF)
        bide__warn(l, kind, "L011", "write `kind: time`", "the breaker is off");
    else if (mode && b->mode == BIDE_BREAKER_FORCED_CLOSED)
        bide__warn(l, mode, "L011", "write `mode: normal`, or `dry_run` to try",
                   "the breaker is held closed, and never opens");
}

void bide__lint_choices(const struct bide__linting *l)
{
    if (bide__retries(l)) {
        no_jitter(l);
        no_budget(l);
    }
    if (bide__retries(l) || l->entry->conf.hedge.max > 0)
        deposit_per_call(l);
    no_breaker(l);
}

/* ===== L006 ===== */

/* The retries a second that the budget grants at a load; < 0: it does not
 * depend on the load. */
static double granted(const struct bide__linting *l, double load)
{
    const bide_policy_conf *c = &l->entry->conf;
    double clients = l->service.clients ? l->service.clients : 1;
    double extra = c->hedge.max ? load * c->hedge.extra_load
                                : load * ((double)c->attempts - 1);
    double budget;

    if (c->budget.kind == BIDE_BUDGET_WINDOW)
        budget = load * c->budget.ratio + c->budget.floor_per_s * clients;
    else if (c->budget.kind == BIDE_BUDGET_IN_FLIGHT)
        budget = load * c->budget.ratio;
    else
        return c->budget.kind == BIDE_BUDGET_OFF ? extra : -1;
    return budget < extra ? budget : extra;
}

static const char *budget_help(const struct bide__linting *l, double room)
{
    const bide_budget_conf *b = &l->entry->conf.budget;
    double clients = l->service.clients ? l->service.clients : 1;
    double floors =
        b->kind == BIDE_BUDGET_WINDOW ? b->floor_per_s * clients : 0;
    double percent = floor((room - floors) / l->service.load_per_s * 100);
    char rate[SHOWN];

    if (room <= 0)
        return "the load alone takes all of the capacity: no budget helps";
    if (b->kind == BIDE_BUDGET_OFF)
        return "write `budget: { kind: window }`";
    if (percent >= 1)
        return bide__diag_text(
            l->notes, "write `budget: { ratio: %.0f%% }` or less", percent);
    if (floors > 0)
        return bide__diag_text(
            l->notes,
            "write `budget: { floor: %s }` or less, for each of %.0f clients",
            bide__format_rate(floor(room / 2 / clients * 1000) / 1000, rate,
                              SHOWN),
            clients);
    return "lower `ratio`, or add capacity";
}

static void budget_over_capacity(const struct bide__linting *l)
{
    double load = l->service.load_per_s, capacity = l->service.capacity_per_s;
    double extra = load >= 0 ? granted(l, load) : -1;
    struct bide__node *node =
        BIDE__SET_BY(l, "budget.ratio", "budget.floor", "budget.kind");
    char base[SHOWN], more[SHOWN], limit[SHOWN];

    if (load <= 0 || capacity < 0 || extra <= 0 || load + extra <= capacity)
        return;
    bide__warn(l, node ? node : l->entry->key, "L006",
               budget_help(l, capacity - load),
               "%s may add %s to a load of %s, over the capacity of %s",
               l->entry->conf.hedge.max ? "hedges" : "retries",
               bide__format_rate(round(extra * 10) / 10, more, SHOWN),
               bide__format_rate(load, base, SHOWN),
               bide__format_rate(capacity, limit, SHOWN));
}

/* ===== L008 ===== */

static void multiplied_attempts(const struct bide__linting *l)
{
    uint32_t attempts = l->entry->conf.attempts, depth = l->service.depth;
    struct bide__node *node = BIDE__SET_BY(l, "attempts");
    double product = pow(attempts, depth);
    char shown[SHOWN];

    if (depth < 2)
        return;
    bide__warn(
        l, node ? node : l->entry->key, "L008",
        "retry in one layer, and write `attempts: 1` in the others",
        "%lu attempts in each of %lu layers are %s%s attempts below",
        (unsigned long)attempts, (unsigned long)depth,
        product < 1e15 ? "" : "over ",
        bide__format_number(product < 1e15 ? product : 1e15, shown, SHOWN));
}

void bide__lint_load(const struct bide__linting *l)
{
    if (bide__retries(l) || l->entry->conf.hedge.max > 0)
        budget_over_capacity(l);
    if (bide__retries(l))
        multiplied_attempts(l);
}
