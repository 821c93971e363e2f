/* When descriptors run short.
 *
 * Clients get three quarters of what the process may have beyond its own needs,
 * endpoints the rest, except for a few that are reserved for 503 responses and
 * for the admin endpoint. An attempt that finds none waits in line. Meanwhile
 * this worker and the others close idle connections, and the lines are polled,
 * since another thread may release a descriptor. An attempt whose time is over
 * by then is not a failure of its service: the request gets 503
 * `descriptors`. */
#include "proxy/descriptors.h"

#include <stddef.h>
#include <sys/resource.h>

#include "base/list.h"
#include "bide/policy.h"
#include "config/proxy/conf.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/pool.h"
#include "proxy/back/upstream.h"
#include "proxy/generation.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum {
    OWN = 16,      /* of the process: logs, the admin endpoint, names */
    OWN_EACH = 4,  /* of a worker: loop, listener, spare */
    LEFT = 4,      /* never taken by a connection to an endpoint, ... */
    LEFT_EACH = 1, /* ... and for each worker, for 503 responses */
    LOOK_AGAIN_MS = 20,
};

void worker_set_limits(struct worker *w)
{
    unsigned n = w->proxy->n_workers;
    size_t most = w->conf->limits.connections;
    size_t own = OWN + OWN_EACH * n, left = LEFT + LEFT_EACH * n;
    struct rlimit limit;
    w->link_fds = SIZE_MAX;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        size_t all = limit.rlim_cur;
        size_t clients = all > own ? (all - own) / 4 * 3 : 0;
        w->link_fds = all > left ? all - left : 0;
        if (most > clients)
            most = clients;
    }
    w->max_clients = worker_share(most > n ? most : n, w->index, n);
}

/* ===== pools ===== */

static struct pool *pool_at(struct worker *w, size_t upstream, unsigned e)
{
    return &w->generation->upstreams[upstream]->endpoints[e].pools[w->index];
}

static struct pool *other_at(struct worker *w, size_t upstream, unsigned e)
{
    struct pool *p = w->generation->upstreams[upstream]->endpoints[e].others;
    return p ? &p[w->index] : NULL;
}

void worker_serve_pools(struct worker *w)
{
    for (size_t i = 0; i < w->generation->n_upstreams; i++)
        for (unsigned e = 0; e < w->generation->upstreams[i]->n_endpoints; e++)
        {
            struct pool *other = other_at(w, i, e);
            pool_serve(pool_at(w, i, e));
            if (other)
                pool_serve(other);
        }
}

bool worker_ease(struct worker *w)
{
    for (size_t i = 0; i < w->generation->n_upstreams; i++)
        for (unsigned e = 0; e < w->generation->upstreams[i]->n_endpoints;
             e++) {
            struct pool *other = other_at(w, i, e);
            struct link *l = pool_oldest_idle(pool_at(w, i, e));
            if (!l && other)
                l = pool_oldest_idle(other);
            if (!l)
                continue;
            link_drop(l);
            return true;
        }
    return false;
}

/* ===== starving ===== */

void worker_starve(struct worker *w)
{
    if (w->starving)
        return;
    w->starving = true;
    net_timer_set(&w->loop, &w->hunger,
                  w->loop.now_ns + LOOK_AGAIN_MS * BIDE_MILLISECOND);
    for (unsigned i = 0; i < w->proxy->n_workers; i++)
        if (i != w->index)
            worker_tell(w->proxy->workers[i], WORKER_EASE);
}

void worker_look_again(struct net_timer *t)
{
    struct worker *w = bide__container_of(t, struct worker, hunger);
    w->starving = false;
    worker_serve_pools(w);
}
