/* Load balancing: the endpoints of an upstream, as base/balance.h sees them. */
#include "proxy/back/balance.h"

#include "base/balance.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"

/* One choice of a worker. Threads: owned. */
struct choice {
    struct upstream *upstream;
    unsigned worker;
    uint64_t tried;
};

static struct endpoint *nth(const void *self, unsigned i)
{
    const struct choice *c = self;
    return &c->upstream->endpoints[i];
}

/* Or has no address (yet): its name does not resolve, or is being resolved. */
static bool is_out(const void *self, unsigned i)
{
    const struct endpoint *e = nth(self, i);
    return atomic_load_explicit(&e->ejected_by, memory_order_relaxed) != 0 ||
           atomic_load_explicit(&e->moves, memory_order_relaxed) == 0;
}

static bool is_tried(const void *self, unsigned i)
{
    return ((const struct choice *)self)->tried >> i & 1;
}

static uint64_t in_flight(const void *self, unsigned i)
{
    const struct choice *c = self;
    return pools_in_flight(nth(self, i), c->worker);
}

static int64_t weight(const void *self, unsigned i, int64_t now)
{
    const struct endpoint *e = nth(self, i);
    int64_t back = atomic_load_explicit(&e->back_ns, memory_order_relaxed);
    return bide__returned_weight(back, e->upstream->conf.slow_start_ns, now);
}

static bide_dep *breaker(const void *self, unsigned i)
{
    return nth(self, i)->breaker;
}

/* Not while it is known to be unhealthy. */
static bool is_on_trial(const void *self, unsigned i)
{
    return atomic_load_explicit(&nth(self, i)->ejected_by,
                                memory_order_relaxed) == EJECTED_BY_BREAKER;
}

struct endpoint *endpoint_choose(struct upstream *u, unsigned w, uint64_t tried,
                                 bool sure, uint64_t *random, int64_t now_ns,
                                 bide_call *permit, bool *ret_held)
{
    static const struct bide__servers_verbs verbs = { is_out,    is_tried,
                                                      in_flight, weight,
                                                      breaker,   is_on_trial };
    struct choice c = { u, w, tried };
    struct bide__servers servers = {
        .n = u->n_endpoints,
        .any_out =
            atomic_load_explicit(&u->n_ejected, memory_order_relaxed) != 0,
        .self = &c,
        .of = &verbs,
    };

    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    struct bide__pick pick = { .by = BIDE__TWO_CHOICES,
                               .first = tried == 0,
                               .sure = sure,
                               .random = *random ^ *random >> 29,
                               .now_ns = now_ns };
    struct endpoint *e = &u->endpoints[bide__balance(&servers, &pick, permit)];
    *ret_held = pick.held;
    return e;
}

bool endpoint_elsewhere(const struct upstream *u)
{
    const struct choice c = { (struct upstream *)u, 0, 0 };
    for (unsigned i = 0; i < u->n_endpoints; i++)
        if (!is_out(&c, i))
            return true;
    return false;
}
