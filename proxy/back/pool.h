/* proxy/back/pool.h: one worker's connections to one endpoint.
 *
 *     switch (pool_take(pool, a, careful)) {
 *     case POOL_READY:                     // a->link was idle until now
 *         attempt_send(a);
 *         break;
 *     case POOL_WAIT:                      // attempt_linked() is called later,
 *         break;                           // or attempt_unlinked()
 *     case POOL_FAILED:
 *         attempt_fail(a, BIDE_FAULT_LOCAL);
 *         break;
 *     }
 *     ...
 *     link_release(a->link);      // whole answer read: back to the pool
 *     link_close(a->link);        // or not
 *
 * A connection that speaks HTTP/2 is shared: each attempt gets a stream of it,
 * which is a link like any other (link_http2.c), never more of them than the
 * endpoint allows. An endpoint that is spoken to in both protocols has two pools
 * for each worker.
 *
 * Limits: connections, idle ones, and concurrent connection attempts, each a
 * worker's share of what the upstream allows. Attempts beyond them wait in
 * line, and get the next connection that is returned or opened. So a reconnect
 * storm is no larger than `connecting`. The line is served by a task: code that
 * returns a connection never finds itself inside another request.
 *
 * Threads: owned, by the worker. */
#ifndef BIDE_PROXY_BACK_POOL_H
#define BIDE_PROXY_BACK_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "net/loop.h"
#include "proxy/counters.h"

struct attempt;
struct endpoint;
struct worker;
struct link;

/* What the connections of a pool speak. */
enum pool_speaks { POOL_HTTP1, POOL_EITHER /* ALPN decides */, POOL_HTTP2 };

struct pool {
    struct worker *worker;
    struct endpoint *endpoint;
    struct bide__list idle; /* links, the one used last first */
    struct bide__list shared; /* links with streams */
    struct bide__list connecting;
    struct bide__list line; /* of attempts, for a connection */
    gauge n_links, n_idle; /* the four gauges: shared to read (telemetry.c) */
    gauge n_shared;        /* of the links, those that speak HTTP/2 */
    gauge in_flight;       /* attempts, including those in line */
    uint32_t n_connecting, n_waiting;
    uint32_t max_links, max_idle, max_connecting;
    uint32_t streams;     /* that a connection is expected to have */
    uint32_t turn;        /* of the endpoint's addresses */
    int64_t ping_ns;      /* from one PING to the next, of HTTP/2 */
    int64_t starved_ns;   /* when it last found no descriptor */
    struct net_task task; /* serves the line */
    bool retired;         /* its upstream is gone: nothing is kept */
    bool proxied; /* each connection is for one client (link_proxied.c) */
    uint8_t speaks; /* enum pool_speaks */
} __attribute__((aligned(64)));

enum pool_result { POOL_READY, POOL_WAIT, POOL_FAILED };

/* Who is first in line for a connection; NULL: nobody. */
struct attempt *pool_first(const struct pool *pool);

/* Gets a connection for an attempt. `careful`: asks the kernel whether an idle
 * one is still open. */
enum pool_result pool_take(struct pool *pool, struct attempt *a, bool careful);

/* Removes an attempt from the line. */
void pool_leave(struct pool *pool, struct attempt *a);

/* To be called once, before anything else. */
void pool_init(struct pool *pool, struct worker *w);

/* Closes unused connections, and keeps none that is returned. Call it again
 * when the last attempt has left. */
void pool_retire(struct pool *pool);

/* A worker's attempts at an endpoint, in both pools. */
uint32_t pools_in_flight(const struct endpoint *e, unsigned worker);

/* Whether there has been no descriptor for those in line since that time. */
bool pool_starved(const struct pool *pool, int64_t since_ns);

/* The least recently used idle connection; NULL: there is none. */
struct link *pool_oldest_idle(const struct pool *pool);

/* Serves the line soon. */
void pool_serve(struct pool *pool);

#endif
