/* proxy/worker.h: one thread with everything that it needs to serve: loop,
 * listeners, buffers, connections, counters. Nothing of it is shared, so
 * nothing is locked; what a request allocates comes from free lists and goes
 * back.
 *
 *     struct worker *w = worker_new(proxy, 0, err, sizeof err);
 *     worker_start(w);                    // a thread
 *     worker_tell(w, WORKER_RELOAD);      // from another thread
 *     worker_join(w);
 *
 * Threads: owned by its thread, except where marked. */
#ifndef BIDE_PROXY_WORKER_H
#define BIDE_PROXY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "net/buf.h"
#include "base/list.h"
#include "net/loop.h"
#include "net/stream/mux.h"
#include "proxy/counters.h"
#include "proxy/exchange/events.h"
#include "proxy/exchange/queue.h"

struct access_log;
struct attempt;
struct bide__proxy_conf;
struct client;
struct exchange;
struct generation;
struct health;
struct knock;
struct link;
struct listen_sockets;
struct listener;
struct once_port;
struct proxy;

/* A generation while a worker uses it. Exchanges are counted here, not in the
 * generation: that is shared, and counting there would make workers wait for
 * each other. */
struct generation_use {
    struct generation *generation;
    size_t n_exchanges;
};

struct worker {
    struct net_loop loop; /* first */
    struct proxy *proxy;
    unsigned index;
    struct generation_use *use; /* the current one */
    struct generation
        *generation; /* for new requests */
    const struct bide__proxy_conf *conf; /* of `generation` */

    struct listen_sockets *sockets; /* that it listens on */
    struct listener *listeners;
    int spare_fd;           /* released to send a 503 when no descriptor is
                               left */
    struct net_timer pause; /* listeners, when even that fails */
    bool behind;            /* a reload ran out of memory: retry it */
    size_t link_fds;        /* connections to endpoints are below this number */
    struct net_timer hunger; /* runs while attempts wait for a descriptor, */
    bool starving;           /* which this flag says */

    struct net_bufs bufs;
    struct mux_shared mux; /* of connections with many streams */
    counter http2_closed[HTTP2_WHYS_N]; /* those of clients, by http2_why */
    uint32_t n_held; /* buffers with responses for slow clients */
    struct client *free_clients;
    struct exchange *free_exchanges;
    struct attempt *free_attempts;
    struct attempt *spare_attempt; /* to fail with when out of memory */
    struct link *free_links;
    unsigned n_free_clients, n_free_exchanges, n_free_attempts, n_free_links;

    struct bide__list clients; /* all of them */
    size_t n_clients, max_clients;
    bool limits_clients; /* by their address: proxy->per_client is there */
    size_t n_exchanges;
    struct bide__list queues[N_QUEUES]; /* for a place in flight, by priority */
    size_t n_queued;

    uint64_t random;        /* for choices that need no good randomness */
    bool draining;          /* no new requests, */
    bool patient;           /* but one more from each connected client */
    bool over;              /* the thread ends */
    struct net_timer drain; /* when it must be over */
    int64_t drain_until_ns;

    struct access_log *log; /* NULL: none */
    struct event_writer tell;
    struct health *checks; /* of the first worker */
    struct once_port *once; /* to the store of its generation; or NULL */
    struct knock *knocks;  /* at endpoints that accept no connections */

    pthread_t thread;
    atomic_bool ended; /* Threads: shared */
    atomic_uint told;  /* bits of enum worker_message. Threads: shared */

    _Alignas(64) struct counters counters; /* Threads: shared to read */
    counter turns;                         /* of its loop */
    atomic_uint now_clients;               /* gauges. Threads: shared to read */
    atomic_uint now_exchanges;
    _Atomic(uint64_t) now_held; /* bytes of responses for slow clients */
};

enum worker_message {
    WORKER_RELOAD = 1, /* proxy->generation has changed */
    WORKER_DRAIN = 2,  /* end gracefully */
    WORKER_STOP = 4,   /* end now */
    WORKER_ROTATE = 8, /* the access log has been reopened */
    WORKER_NAMES =
        16,           /* names of endpoints were resolved, or failed to */
    WORKER_EASE = 32, /* another worker has no descriptor left */
    WORKER_HAND_OVER = 64, /* another process serves: end without haste */
};

/* NULL on failure, with the reason in err. */
struct worker *worker_new(struct proxy *proxy, unsigned index, char *err,
                          size_t err_size);
int worker_start(struct worker *w); /* an errno, or 0 */
void worker_tell(struct worker *w, enum worker_message message);
void worker_join(struct worker *w);
void worker_free(struct worker *w);

/* ===== for the parts of a worker ===== */

/* A worker's share of a limit for all workers. At least 1, unless the limit is
 * 0: a worker that may have no connection could not serve anyone. */
static inline size_t worker_share(size_t all, unsigned index, unsigned n)
{
    size_t mine = all / n + (index < all % n);
    return mine != 0 || all == 0 ? mine : 1;
}

/* A number that is random enough to spread load. */
static inline uint64_t worker_random(struct worker *w)
{
    uint64_t x = w->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return w->random = x;
}

/* Call when an exchange that this generation served has ended. */
void generation_leave(struct worker *w, struct generation_use *use);

/* The limits of a connection that speaks HTTP/2. */
struct http2_conf worker_http2(const struct worker *w);

/* Ends the thread if it is draining and the last client has left. */
void worker_eased(struct worker *w);

#endif
