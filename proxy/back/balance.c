/* Load balancing: which endpoint gets an attempt.
 *
 * Two are drawn at random, and the less busy one is taken: nearly as even as
 * comparing all, and without the herd that a single "least loaded" attracts. A
 * retry goes to an endpoint that the call has not tried. An endpoint that has
 * just returned gets a growing share.
 *
 * An ejected endpoint is still considered now and then: its breaker lets a
 * probe through when it is time. At most upstream->max_ejected are ejected at
 * once; an endpoint whose breaker opens beyond that stays in use, as if it were
 * closed. */
#include "proxy/back/balance.h"

#include "proxy/back/endpoint.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"


/* Or has no address (yet): its name does not resolve, or is being resolved. */
static bool is_out(const struct endpoint *e)
{
    return atomic_load_explicit(&e->ejected_by, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&e->moves, memory_order_relaxed) == 0;
}

static bool is_tried(const struct endpoint *e, uint64_t tried)
{
    return tried >> e->index & 1;
}

/* How much of its share it gets, in percent: at least a tenth. */
static int64_t weight(const struct endpoint *e, int64_t now)
{
    int64_t back = atomic_load_explicit(&e->back_ns, memory_order_relaxed);
    int64_t slow = e->upstream->conf.slow_start_ns;
    if (back == 0 || now - back >= slow)
        return 100;
    int64_t share = 100 * (now - back) / slow;
    return share < 10 ? 10 : share;
}

static struct endpoint *lighter(struct endpoint *a, struct endpoint *b,
                                unsigned w, int64_t now)
{
    int64_t load_a = (int64_t)gauged(&a->pools[w].in_flight) + 1;
    int64_t load_b = (int64_t)gauged(&b->pools[w].in_flight) + 1;
    return load_a * weight(b, now) <= load_b * weight(a, now) ? a : b;
}

/* Asks the breaker for permission; false: refused. */
static bool permitted(struct endpoint *e, bool sure, bide_call *permit,
                      int64_t now)
{
    if (!e->breaker)
        return false;
    bide_call_begin(permit, e->breaker, &(bide_op){ .body_pending = sure },
                    now);
    if (bide_call_next(permit, now).action == BIDE_TRY)
        return true;
    bide_call_end(permit, now);
    return false;
}

/* The first from `from` on that is neither ejected nor tried, if there is
 * one. */
static struct endpoint *scan(struct upstream *u, unsigned from, uint64_t tried)
{
    struct endpoint *second = NULL, *third = NULL;
    for (unsigned k = 0; k < u->n_endpoints; k++) {
        struct endpoint *e = &u->endpoints[(from + k) % u->n_endpoints];
        if (!is_out(e) && !is_tried(e, tried))
            return e;
        if (!is_out(e) && !second)
            second = e;
        if (!is_tried(e, tried) && !third)
            third = e;
    }
    return second ? second : third ? third : &u->endpoints[from];
}

static struct endpoint *draw(struct upstream *u, unsigned w, uint64_t tried,
                             uint64_t random, int64_t now)
{
    unsigned n = u->n_endpoints;
    unsigned i = (unsigned)((random & UINT32_MAX) * n >> 32);
    unsigned j = (unsigned)((random >> 32) * (n - 1) >> 32);
    struct endpoint *a = &u->endpoints[i];
    struct endpoint *b = &u->endpoints[j < i ? j : j + 1];
    bool a_good = !is_out(a) && !is_tried(a, tried);
    bool b_good = !is_out(b) && !is_tried(b, tried);

    if (a_good && b_good)
        return lighter(a, b, w, now);
    return a_good ? a : b_good ? b : scan(u, i, tried);
}

/* An ejected endpoint, not known to be unhealthy, whose breaker wants a
 * probe. */
static struct endpoint *probe(struct upstream *u, uint64_t random, int64_t now,
                              bide_call *permit)
{
    unsigned n = u->n_endpoints;
    struct endpoint *e = &u->endpoints[(random >> 7) % n];
    if (atomic_load_explicit(&e->ejected_by, memory_order_relaxed) !=
        EJECTED_BY_BREAKER)
        return NULL;
    return permitted(e, false, permit, now) ? e : NULL;
}

struct endpoint *endpoint_choose(struct upstream *u, unsigned w, uint64_t tried,
                                 bool sure, uint64_t *random, int64_t now_ns,
                                 bide_call *permit, bool *ret_held)
{
    struct endpoint *e;

    *ret_held = false;
    if (u->n_endpoints == 1)
        return &u->endpoints[0];
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    uint64_t r = *random ^ *random >> 29;
    if (tried == 0 && !sure &&
        atomic_load_explicit(&u->n_ejected, memory_order_relaxed) != 0 &&
        (e = probe(u, r, now_ns, permit))) {
        *ret_held = true;
        return e;
    }
    e = draw(u, w, tried, r, now_ns);
    *ret_held = permitted(e, sure, permit, now_ns);
    return e;
}
