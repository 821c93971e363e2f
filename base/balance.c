/* Load balancing: one server is chosen, by one of four rules, among those that
 * are neither ejected nor tried. */
#include "base/balance.h"

/* ===== candidates ===== */

static bool is_good(const struct bide__servers *s, unsigned i)
{
    return !s->of->is_out(s->self, i) && !s->of->is_tried(s->self, i);
}

/* The first from `from` on that is neither ejected nor tried, if there is one;
 * else one that is not ejected, else one that is not tried. */
static unsigned scan(const struct bide__servers *s, unsigned from)
{
    unsigned second = s->n, third = s->n;

    for (unsigned k = 0; k < s->n; k++) {
        unsigned i = (from + k) % s->n;
        bool out = s->of->is_out(s->self, i);
        bool tried = s->of->is_tried(s->self, i);

        if (!out && !tried)
            return i;
        if (!out && second == s->n)
            second = i;
        if (!tried && third == s->n)
            third = i;
    }
    return second < s->n ? second : third < s->n ? third : from;
}

/* Whether a is less busy than b, or as busy, for the share that it gets. */
static bool is_lighter(const struct bide__servers *s, unsigned a, unsigned b,
                       int64_t now)
{
    int64_t load_a = (int64_t)s->of->in_flight(s->self, a) + 1;
    int64_t load_b = (int64_t)s->of->in_flight(s->self, b) + 1;

    return load_a * s->of->weight(s->self, b, now) <=
           load_b * s->of->weight(s->self, a, now);
}

static unsigned below(uint32_t random, unsigned n)
{
    return (unsigned)((uint64_t)random * n >> 32);
}

/* The next of some random words. */
static uint64_t step(uint64_t word)
{
    return word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* ===== the rules ===== */

static unsigned two_choices(const struct bide__servers *s,
                            const struct bide__pick *p)
{
    unsigned i = below((uint32_t)p->random, s->n);
    unsigned j = below((uint32_t)(p->random >> 32), s->n - 1);

    if (j >= i)
        j++;
    bool i_good = is_good(s, i), j_good = is_good(s, j);
    if (i_good && j_good)
        return is_lighter(s, i, j, p->now_ns) ? i : j;
    return i_good ? i : j_good ? j : scan(s, i);
}

/* Among equals, any: the n-th of them replaces the one before with a chance of
 * 1 / n. */
static unsigned least_requests(const struct bide__servers *s,
                               const struct bide__pick *p)
{
    unsigned best = s->n, equals = 0;
    uint64_t word = p->random;

    for (unsigned i = 0; i < s->n; i++) {
        if (!is_good(s, i))
            continue;
        if (best == s->n || !is_lighter(s, best, i, p->now_ns)) {
            best = i;
            equals = 1;
        } else if (is_lighter(s, i, best, p->now_ns)) {
            word = step(word);
            if (below((uint32_t)(word >> 32), ++equals) == 0)
                best = i;
        }
    }
    return best < s->n ? best : scan(s, below((uint32_t)(word >> 32), s->n));
}

/* Draws a few times before it takes a neighbour, who would get a double share. */
static unsigned at_random(const struct bide__servers *s,
                          const struct bide__pick *p)
{
    uint64_t word = p->random;

    for (int k = 0; k < 8; k++) {
        unsigned i = below((uint32_t)(word >> 32), s->n);

        if (is_good(s, i))
            return i;
        word = step(word);
    }
    return scan(s, below((uint32_t)(word >> 32), s->n));
}

static unsigned choose(const struct bide__servers *s, struct bide__pick *p)
{
    unsigned i;

    switch (p->by) {
    case BIDE__LEAST_REQUESTS:
        return least_requests(s, p);
    case BIDE__ROUND_ROBIN:
        i = scan(s, p->turn % s->n);
        p->turn = i + 1;
        return i;
    case BIDE__RANDOM:
        return at_random(s, p);
    case BIDE__TWO_CHOICES:
        break;
    }
    return two_choices(s, p);
}

/* ===== permits ===== */

/* Asks the breaker for permission; false: refused. */
static bool is_permitted(bide_dep *breaker, bool sure, bide_call *permit,
                         int64_t now)
{
    if (!breaker)
        return false;
    bide_call_begin(permit, breaker, &(bide_op){ .body_pending = sure }, now);
    if (bide_call_next(permit, now).action == BIDE_TRY)
        return true;
    bide_call_end(permit, now);
    return false;
}

/* Whether an ejected server, drawn at random, wants a probe now. */
static bool probes(const struct bide__servers *s, struct bide__pick *p,
                   bide_call *permit, unsigned *ret)
{
    *ret = (unsigned)((p->random >> 7) % s->n);
    if (!p->first || p->sure || !s->any_out ||
        !s->of->is_on_trial(s->self, *ret))
        return false;
    return is_permitted(s->of->breaker(s->self, *ret), false, permit,
                        p->now_ns);
}

unsigned bide__balance(const struct bide__servers *s, struct bide__pick *p,
                       bide_call *permit)
{
    unsigned i = 0;

    p->held = false;
    if (s->n == 1)
        return 0;
    p->held = probes(s, p, permit, &i);
    if (p->held)
        return i;
    i = choose(s, p);
    p->held =
        is_permitted(s->of->breaker(s->self, i), p->sure, permit, p->now_ns);
    return i;
}

/* ===== ejection ===== */

int64_t bide__returned_weight(int64_t back_ns, int64_t slow_ns, int64_t now_ns)
{
    int64_t since = now_ns - back_ns;

    if (back_ns == 0 || since >= slow_ns)
        return 100;
    int64_t share = 100 * since / slow_ns;
    return share < 10 ? 10 : share;
}

unsigned bide__most_ejected(const struct bide__ejection *e, size_t n)
{
    unsigned most = (unsigned)((double)n * e->max_ejected);

    return most < n ? most : (unsigned)n - 1;
}

bide_outcome bide__server_outcome(const bide_outcome *out, int status)
{
    bide_outcome seen = *out;

    if (out->fault == BIDE_FAULT_NONE && out->cls == BIDE_PERMANENT &&
        status < 500)
        seen.cls = BIDE_SUCCESS;
    return seen;
}

bide_policy_conf bide__ejection_policy(const struct bide__ejection *e)
{
    bide_policy_conf p = BIDE_POLICY_CONF_INIT;

    p.attempts = 1;
    p.budget.kind = BIDE_BUDGET_OFF;
    p.latency.measure = false;
    p.lanes = 1;
    p.breaker.consecutive = e->consecutive;
    p.breaker.failure_rate = e->failure_rate;
    p.breaker.open_ns = e->open_ns;
    if (p.breaker.open_max_ns < e->open_ns)
        p.breaker.open_max_ns = e->open_ns;
    p.breaker.probes = 1;
    return p;
}
