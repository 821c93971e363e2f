/* proxy/front/listen.h: the sockets that a proxy listens on.
 *
 *     struct listen_sockets *d =
 *         listen_sockets_new(proxy, conf, NULL, err, sizeof err);
 *     int fd = listen_socket_of(d, worker, i)->fd;
 *     ...                                                       // SIGHUP
 *     struct listen_sockets *next =
 *         listen_sockets_new(proxy, new_conf, d, err, sizeof err);
 *     listen_sockets_unref(d);              // each worker, when it has changed
 *
 * One thread opens them all, for all workers, before anything else changes: an
 * address that is not available is a reason to refuse the file. A TCP address
 * has a socket for each worker (SO_REUSEPORT), and no other process may have
 * one there, unless the configuration allows it; what cannot be opened twice, a
 * Unix socket or one from systemd, is shared. A socket that a previous process
 * has opened is taken over (kept.h).
 *
 * Threads: immutable, except for counts; a socket's fd belongs to its
 * worker. */
#ifndef BIDE_PROXY_FRONT_LISTEN_H
#define BIDE_PROXY_FRONT_LISTEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct bide__proxy_conf;
struct kept;
struct proxy;

#define LISTEN_SYSTEMD "systemd %u" /* the name of the nth socket from there */

struct listen_socket {
    atomic_uint refs;
    int fd;           /* -1: its worker has closed it */
    bool shared;      /* by all workers */
    bool old;         /* a previous process has opened it */
    const char *name; /* in the table of what is kept; after text */
    char text[];      /* the address, as written; "" for one from systemd */
};

struct listen_sockets {
    atomic_uint refs;
    size_t n; /* of each worker */
    unsigned n_workers;
    struct listen_socket *list[];
};

static inline struct listen_socket *
listen_socket_of(const struct listen_sockets *d, unsigned worker, size_t i)
{
    return d->list[worker * d->n + i];
}

/* Opens what `conf` and systemd specify; what is open in `old` (may be NULL) is
 * taken over. NULL, and why. */
struct listen_sockets *listen_sockets_new(const struct proxy *p,
                                          const struct bide__proxy_conf *conf,
                                          const struct listen_sockets *old,
                                          char *err, size_t err_size);

/* Opens what `conf` names and is not among `kept` yet, for listen_sockets_new() to find
 * it there: before privileges are dropped. -1, and why. */
int listen_sockets_bind(struct kept *kept, const struct bide__proxy_conf *conf,
                        unsigned n_workers, char *err, size_t err_size);

/* Tells the supervisor which of `old` are no longer in `d`. */
void listen_sockets_drop_others(struct kept *kept,
                                const struct listen_sockets *old,
                                const struct listen_sockets *d);
void listen_sockets_ref(struct listen_sockets *d);
void listen_sockets_unref(struct listen_sockets *d); /* NULL is fine */

/* Whether a worker has this very socket. */
bool listen_sockets_have(const struct listen_sockets *d, unsigned worker,
                         const struct listen_socket *sock);

#endif
