/* proxy/proxy.h: the sidecar as a whole.
 *
 *     struct proxy *p = proxy_new(config, conf, &hooks, err, sizeof err);
 *     if (!p || proxy_start(p, err, sizeof err) < 0)
 *         die(err);
 *     proxy_reload(p, config, conf, err, sizeof err);     // SIGHUP
 *     proxy_drain(p);                                     // SIGTERM
 *     proxy_join(p);
 *     proxy_free(p);
 *
 * Telemetry (metrics, the admin endpoint) reads the workers' counters, and the
 * routes, dependencies and endpoints of a generation that it holds with
 * proxy_generation(). */
#ifndef BIDE_PROXY_PROXY_H
#define BIDE_PROXY_PROXY_H

#include <pthread.h>
#include <stdbool.h>

#include "bide/bide.h"
#include "proxy/counters.h"
#include "proxy/front/listen.h"
#include "proxy/hooks.h"
#include "proxy/kept.h"
#include "proxy/pulse.h"
#include "proxy/generation.h"
#include "proxy/worker.h"

struct per_client;
struct bide__sink;
struct once_store;
struct resolver;
struct stale;

/* Threads: shared, as marked. */
struct proxy {
    struct proxy_hooks hooks; /* immutable */
    char name[16];            /* of this process, in Via. immutable */
    struct worker **workers;  /* immutable */
    unsigned n_workers;
    pthread_mutex_t lock; /* protects these two; never taken per request */
    struct generation *generation;
    struct listen_sockets *sockets; /* likewise */
    struct kept *kept;             /* sockets from before, and who keeps them */
    struct kept no_kept;           /* used unless another is set */
    size_t n_inherited;            /* of them, from systemd */
    struct stale *stale;           /* copies of responses. Threads: shared */
    struct once_store *store;      /* of the generation, and the one before: */
    struct once_store *store_before; /* closed by this thread, which may wait */
    struct resolver *resolver;     /* NULL: not started */
    struct per_client *per_client; /* created when it is first needed */
    unsigned n_started;            /* of them run */
    _Atomic(struct bide__sink *) log; /* access log; made once, by the program's
                                  own thread; NULL: there was none yet */
    struct pulse pulse;               /* of the workers. Threads: shared */
    struct event_conf tell; /* the observers; set it before the start */
    atomic_bool draining;   /* Threads: shared */
    atomic_bool advised;    /* on_advice was called; likewise */
};

/* Creates a proxy, and listens; then owns `config`. NULL and why. */
struct proxy *proxy_new(bide_config *config,
                        const struct bide__proxy_conf *conf,
                        const struct proxy_hooks *hooks, char *err,
                        size_t err_size);

/* Serves on these sockets, which another process has opened: those of systemd
 * for the first of `listen`, and so on; others by their names. `kept` must
 * outlive it. Call it before the start. */
void proxy_inherit(struct proxy *p, struct kept *kept);

/* How many workers a configuration asks for. */
unsigned proxy_workers(const struct bide__proxy_conf *conf);

/* Starts the workers. -1 and why. */
int proxy_start(struct proxy *p, char *err, size_t err_size);

/* Switches to another configuration; owns `config` on success. -1 and why, and
 * nothing has changed: the number of workers, the size of their buffers, and
 * telemetry cannot change while it runs. */
int proxy_reload(struct proxy *p, bide_config *config,
                 const struct bide__proxy_conf *conf, char *err,
                 size_t err_size);

/* Ends gracefully, within timeouts.drain; or at once. If another process serves
 * on the same sockets, connected clients may make one more request. */
void proxy_drain(struct proxy *p);
void proxy_hand_over(struct proxy *p);
void proxy_stop(struct proxy *p);

/* Reopens the access log, for log rotation. False and why: the old file stays
 * in use. */
bool proxy_rotate(struct proxy *p, char *err, size_t err_size);
bool proxy_ended(struct proxy *p); /* all workers are done */
void proxy_join(struct proxy *p);
void proxy_free(struct proxy *p);

/* The current generation, held until generation_unref(). From any thread. */
struct generation *proxy_generation(struct proxy *p);

/* Whether a configuration limits clients by their address. */
bool proxy_limits_clients(const struct bide__proxy_conf *conf);

/* Where it listens, held until listen_sockets_unref(). From any thread. */
struct listen_sockets *proxy_sockets(struct proxy *p);

#endif
