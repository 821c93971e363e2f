/* A worker's connections to an endpoint, and the line for them.
 *
 * A connection that is being opened belongs to no attempt: the first in line
 * gets whichever comes first, a connection that is returned or one that is
 * opened. If connecting fails, the first in line fails. While the endpoint's
 * name is resolved for the first time, all wait. */
#include "proxy/back/pool.h"

#include <errno.h>
#include <stddef.h>

#include "base/list.h"
#include "net/conn.h"
#include "proxy/back/endpoint.h"
#include "proxy/back/link.h"
#include "proxy/back/link_http2.h"
#include "proxy/descriptors.h"
#include "proxy/exchange/attempt.h"
#include "proxy/worker.h"

/* ===== the line ===== */

/* What stands there; NULL for the head, where the line ends. */
static struct attempt *in_line(const struct pool *p, struct bide__list *at)
{
    return at == &p->line ? NULL : bide__container_of(at, struct attempt, line);
}

struct attempt *pool_first(const struct pool *p)
{
    return in_line(p, p->line.next);
}

static void line_enter(struct pool *p, struct attempt *a)
{
    attempt_move(a, ATTEMPT_IN_LINE);
    bide__list_append(&p->line, &a->line);
    p->n_waiting++;
}

void pool_leave(struct pool *p, struct attempt *a)
{
    if (!bide__list_has(&a->line))
        return;
    bide__list_remove(&a->line);
    p->n_waiting--;
}

struct link *pool_oldest_idle(const struct pool *p)
{
    return bide__list_empty(&p->idle)
               ? NULL
               : bide__container_of(p->idle.prev, struct link, list);
}

void pool_serve(struct pool *p)
{
    if (!bide__list_empty(&p->line))
        net_task_later(&p->worker->loop, &p->task);
}

/* A connection that is being opened is for the first in line that has none: if
 * that attempt waits from now on, it waits for the endpoint. */
static void expect(struct pool *p)
{
    struct attempt *a = pool_first(p);
    for (uint64_t n = (uint64_t)p->n_connecting * p->streams; a && n > 0;
         a = in_line(p, a->line.next), n--) {
        if (a->phase == ATTEMPT_CONNECTING)
            continue;
        attempt_move(a, ATTEMPT_CONNECTING);
        attempt_started(a);
    }
}

/* ===== connections ===== */

/* Connections that are being opened are for those in line; those for one client
 * alone may be for an attempt that has left it. */
static bool may_connect(const struct pool *p)
{
    uint64_t expected = (uint64_t)p->n_connecting * p->streams;
    return (p->proxied ? p->n_waiting > 0 : expected < p->n_waiting) &&
           p->n_connecting < p->max_connecting &&
           (gauged(&p->n_links) < p->max_links ||
            (p->proxied && !bide__list_empty(&p->idle)));
}

/* Opens a connection for the first in line. NULL and errno. */
static struct link *connect_one(struct pool *p)
{
    struct attempt *a = pool_first(p);
    if (!p->proxied)
        return link_new(p);
    if (gauged(&p->n_links) >= p->max_links)
        link_drop(pool_oldest_idle(p));
    struct link *l = link_new(p);
    if (!l)
        return NULL;
    pool_leave(p, a);
    link_bind(l, a);
    return l;
}

bool pool_starved(const struct pool *p, int64_t since_ns)
{
    return p->starved_ns >= since_ns;
}

/* Its endpoint has no address, and none is expected soon. */
static bool is_nowhere(const struct pool *p)
{
    return atomic_load(&p->endpoint->moves) == 0 &&
           (p->retired || !endpoint_is_pending(p->endpoint));
}

/* The idle connection that this attempt may use; NULL: none. */
static struct link *find_idle(const struct pool *p, const struct attempt *a)
{
    for (struct bide__list *at = p->idle.next; at != &p->idle; at = at->next) {
        struct link *l = bide__container_of(at, struct link, list);
        if (!p->proxied || link_is_for(l, a))
            return l;
    }
    return NULL;
}

/* An idle connection that is still open, or NULL. */
static struct link *take_idle(struct pool *p, const struct attempt *a,
                              bool careful)
{
    struct link *l;
    while ((l = find_idle(p, a))) {
        link_use(l);
        if ((careful && l->reused ? !net_conn_stale(&l->conn)
                                  : net_conn_quiet(&l->conn)) &&
            link_leads_there(l))
            return l;
        count(&p->worker->counters.stale);
        link_drop(l);
    }
    return NULL;
}

/* Out of descriptors or kernel memory: that is temporary. */
static bool is_short(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

/* Opens connections for those in line. False: that is impossible, and no other
 * connection will become free. */
static bool connect_more(struct pool *p)
{
    struct worker *w = p->worker;
    while (may_connect(p)) {
        errno = 0;
        if (connect_one(p) ||
            (is_short(errno) && worker_ease(w) && connect_one(p)))
            continue;
        if (!is_short(errno))
            return gauged(&p->n_links) > 0;
        worker_starve(w);
        p->starved_ns = w->loop.now_ns;
        break;
    }
    expect(p);
    return true;
}

/* A connection, or a stream of one, that can be used at once; NULL: none. */
static struct link *take_any(struct pool *p, struct attempt *a, bool careful)
{
    struct link *l = bide__list_empty(&p->shared) ? NULL : link_stream(p, a);
    return l ? l : take_idle(p, a, careful);
}

enum pool_result pool_take(struct pool *p, struct attempt *a, bool careful)
{
    struct link *l =
        bide__list_empty(&p->line) ? take_any(p, a, careful) : NULL;
    if (l) {
        l->attempt = a;
        a->link = l;
        return POOL_READY;
    }
    if (is_nowhere(p))
        return POOL_FAILED;
    line_enter(p, a);
    if (endpoint_is_pending(p->endpoint) || !may_connect(p)) {
        count(&p->worker->counters.waited_for_link);
        expect(p);
        return POOL_WAIT;
    }
    if (connect_more(p))
        return POOL_WAIT;
    pool_leave(p, a);
    return POOL_FAILED;
}

/* Gives the first in line what there is; false: nothing. */
static bool serve_first(struct pool *p)
{
    struct attempt *a = pool_first(p);
    struct link *l = a ? take_any(p, a, attempt_is_careful(a)) : NULL;
    if (!l)
        return false;
    pool_leave(p, a);
    l->attempt = a;
    expect(p);
    attempt_linked(a, l);
    return true;
}

enum { AT_ONCE = 64 }; /* others wait for this thread, too */

/* If not even connecting can begin, the first in line fails, unless another
 * connection will become free. */
static void serve(struct net_task *task)
{
    struct pool *p = bide__container_of(task, struct pool, task);
    int n = 0;

    while (n < AT_ONCE && serve_first(p))
        n++;
    struct attempt *a = pool_first(p);
    if (!a)
        return;
    if (n == AT_ONCE) {
        pool_serve(p);
        return;
    }
    bool nowhere = is_nowhere(p);
    if (!nowhere && endpoint_is_pending(p->endpoint))
        return;
    if (!nowhere && connect_more(p))
        return;
    pool_leave(p, a);
    pool_serve(p);
    attempt_fail(a, nowhere ? BIDE_FAULT_DNS : BIDE_FAULT_LOCAL);
}

uint32_t pools_in_flight(const struct endpoint *e, unsigned worker)
{
    return gauged(&e->pools[worker].in_flight) +
           (e->others ? gauged(&e->others[worker].in_flight) : 0);
}

void pool_init(struct pool *p, struct worker *w)
{
    p->worker = w;
    p->task.run = serve;
}

static void drop_all(struct bide__list *links)
{
    while (!bide__list_empty(links))
        link_drop(bide__container_of(links->next, struct link, list));
}

void pool_retire(struct pool *p)
{
    p->retired = true;
    drop_all(&p->idle);
    link_drain_shared(p);
    if (gauged(&p->in_flight) != 0)
        return;
    drop_all(&p->connecting);
    net_task_cancel(&p->task);
}
