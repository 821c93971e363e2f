/* proxy/front/doors.h: the sockets that a proxy listens on.
 *
 *     struct doors *d = doors_new(proxy, conf, NULL, err, sizeof err);
 *     ... door_of(d, worker, i)->fd ...
 *     struct doors *next = doors_new(proxy, new_conf, d, ...);      // SIGHUP
 *     doors_unref(d);                      // each worker, when it has changed
 *
 * One thread opens them all, for all workers, before anything else changes: an
 * address that cannot be had is a reason to refuse the file. A TCP address has
 * a socket for each worker (SO_REUSEPORT), and no other process may have one
 * there, unless the configuration says so; what cannot be opened twice, a Unix
 * socket or one from systemd, is shared. A socket that a process before this one
 * has opened is taken over (kept.h).
 *
 * Threads: immutable, but for what is counted; a door's fd is its worker's. */
#ifndef BIDE_PROXY_FRONT_DOORS_H
#define BIDE_PROXY_FRONT_DOORS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct bide__proxy_conf;
struct kept;
struct proxy;

#define DOORS_SYSTEMD "systemd %u" /* the name of the nth socket from there */

struct door {
    atomic_uint refs;
    int fd;      /* -1: the worker whose it was has closed it */
    bool shared; /* of all workers */
    bool old;    /* a process before this one has opened it */
    const char *name; /* in the table of what is kept; behind text */
    char text[]; /* the address, as written; "" for one from systemd */
};

struct doors {
    atomic_uint refs;
    size_t n; /* of each worker */
    unsigned n_workers;
    struct door *list[];
};

static inline struct door *door_of(const struct doors *d, unsigned worker,
                                   size_t i)
{
    return d->list[worker * d->n + i];
}

/* Opens what `conf` and systemd say; what is open in `old` (may be NULL) is
 * taken over. NULL, and why. */
struct doors *doors_new(const struct proxy *p,
                        const struct bide__proxy_conf *conf,
                        const struct doors *old, char *err, size_t err_size);

/* Opens what `conf` names and is not among `kept` yet, for doors_new() to find
 * it there: before privileges are dropped. -1, and why. */
int doors_bind(struct kept *kept, const struct bide__proxy_conf *conf,
               unsigned n_workers, char *err, size_t err_size);

/* Tells the supervisor which of `old` are not in `d` any more. */
void doors_drop_others(struct kept *kept, const struct doors *old,
                       const struct doors *d);
void doors_ref(struct doors *d);
void doors_unref(struct doors *d); /* NULL is fine */

/* Whether a worker has this very door. */
bool doors_have(const struct doors *d, unsigned worker,
                const struct door *door);

#endif
