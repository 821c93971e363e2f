/* The sockets that a proxy listens on. */
#include "proxy/front/listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/proxy/conf.h"
#include "net/address.h"
#include "proxy/kept.h"
#include "proxy/proxy.h"

enum { SOCKET_NAME = 512 }; /* bytes */

/* ===== one ===== */

/* Takes ownership of fd, even if it fails; NULL and errno. */
static struct listen_socket *listen_socket_new(int fd, const char *text,
                                               const char *name, bool shared)
{
    size_t size = strlen(text) + 1, more = strlen(name) + 1;
    struct listen_socket *d =
        fd < 0 ? NULL : calloc(1, sizeof *d + size + more);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    atomic_init(&d->refs, 1);
    d->fd = fd;
    d->shared = shared;
    memcpy(d->text, text, size);
    d->name = memcpy(d->text + size, name, more);
    net_nodelay(fd); /* those that it accepts inherit it */
    return d;
}

static struct listen_socket *listen_socket_ref(struct listen_socket *d)
{
    atomic_fetch_add(&d->refs, 1);
    return d;
}

static void listen_socket_unref(struct listen_socket *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    if (d->fd >= 0)
        close(d->fd);
    free(d);
}

/* Opens a socket, and has the supervisor keep a copy. `first`: that of the
 * first worker; -1: this is it. `flags`: of net_listen(). -1 and errno. */
static int open_socket(const struct kept *kept, const char *name,
                       const struct bide__proxy_address *c, int first,
                       int flags)
{
    struct net_address a;
    if ((c->path ? net_address_unix(&a, c->path)
                 : net_address_parse(&a, c->host, c->port)) < 0) {
        errno = EINVAL;
        return -1;
    }
    if (first >= 0 && c->port == 0) /* the port that was chosen for it */
        getsockname(first, &a.to.any, &a.len);
    int fd = net_listen(&a, flags);
    if (fd >= 0)
        kept_hold(kept, name, fd);
    return fd;
}

/* `first`: that of the first worker; NULL: this is it. */
static struct listen_socket *
listen_socket_open(struct kept *kept, const char *name,
                   const struct bide__proxy_address *c,
                   struct listen_socket *first, int flags)
{
    if (first && first->shared)
        return listen_socket_ref(first);
    const struct kept_entry *e = kept_find(kept, name);
    bool old = e && !e->fresh;
    int fd = e ? kept_take(kept, name)
               : open_socket(kept, name, c, first ? first->fd : -1, flags);
    struct listen_socket *d =
        listen_socket_new(fd, c->text, name, c->path != NULL);
    if (d)
        d->old = old;
    return d;
}

/* ===== all ===== */

static void set_socket(struct listen_sockets *d, unsigned worker, size_t i,
                     struct listen_socket *sock)
{
    d->list[worker * d->n + i] = sock;
}

/* The same address in `old` that has not been taken over yet; or old->n. */
static size_t find_old(const struct listen_sockets *d,
                       const struct listen_sockets *old, const char *text)
{
    size_t i = 0;
    while (i < old->n && (strcmp(old->list[i]->text, text) != 0 ||
                          listen_sockets_have(d, 0, old->list[i])))
        i++;
    return i;
}

static bool take_over(struct listen_sockets *d,
                      const struct listen_sockets *old, size_t i,
                      const char *text)
{
    size_t k = old ? find_old(d, old, text) : 0;
    if (!old || k == old->n)
        return false;
    for (unsigned w = 0; w < d->n_workers; w++)
        set_socket(d, w, i, listen_socket_ref(listen_socket_of(old, w, k)));
    return true;
}

static bool is_at_port(int fd, uint16_t port)
{
    struct net_address a = { .len = sizeof a.to };
    return getsockname(fd, &a.to.any, &a.len) == 0 &&
           (a.to.any.sa_family == AF_INET || a.to.any.sa_family == AF_INET6) &&
           ntohs(a.to.any.sa_family == AF_INET ? a.to.in.sin_port
                                               : a.to.in6.sin6_port) == port;
}

/* Whether one of these has that port: "*:80" may be opened beside our own
 * "127.0.0.1:80". */
static bool have_port(const struct listen_sockets *d, uint16_t port)
{
    for (size_t i = 0; d && i < d->n; i++)
        if (listen_socket_of(d, 0, i) &&
            is_at_port(listen_socket_of(d, 0, i)->fd, port))
            return true;
    return false;
}

static bool kept_has_port(const struct kept *kept, uint16_t port)
{
    for (size_t i = 0; i < kept->n; i++)
        if (is_at_port(kept->list[i].fd, port))
            return true;
    return false;
}

/* SO_REUSEPORT between workers would let any other process of this user take a
 * share of the connections, too. So the first socket is opened without it. */
static int flags_for(const struct bide__proxy_conf *conf, size_t i,
                     const struct listen_sockets *d,
                     const struct listen_sockets *old, const struct kept *kept)
{
    uint16_t port = conf->listen[i].port;
    bool ours =
        have_port(d, port) || have_port(old, port) || kept_has_port(kept, port);
    return conf->reuse_port || ours ? NET_REUSEPORT : NET_ALONE;
}

static void explain(const char *text, int flags, char *err, size_t err_size)
{
    bool taken = errno == EADDRINUSE && flags == NET_ALONE;
    snprintf(err, err_size, "cannot listen on %s: %s%s", text, strerror(errno),
             taken
                 ? " by another process; stop that one, or change "
                   "`proxy.listen` (`proxy.reuse_port: true` lets two sidecars "
                   "share a port)"
                 : "");
}

/* The name of a worker's socket for the ith address. An address may occur
 * twice: the second "127.0.0.1:0" is another port. */
static const char *name_of(char name[SOCKET_NAME],
                           const struct bide__proxy_conf *conf, size_t i,
                           unsigned worker)
{
    unsigned nth = 0;
    for (size_t k = 0; k < i; k++)
        nth += strcmp(conf->listen[k].text, conf->listen[i].text) == 0;
    snprintf(name, SOCKET_NAME, "listen %u %u %s", worker, nth,
             conf->listen[i].text);
    return name;
}

static bool open_all(struct listen_sockets *d, struct kept *kept,
                     const struct bide__proxy_conf *conf, size_t i,
                     const struct listen_sockets *old, char *err,
                     size_t err_size)
{
    const struct bide__proxy_address *c = &conf->listen[i];
    int flags = flags_for(conf, i, d, old, kept);
    char name[SOCKET_NAME];
    for (unsigned w = 0; w < d->n_workers; w++) {
        struct listen_socket *sock = listen_socket_open(
            kept, name_of(name, conf, i, w), c, w ? d->list[i] : NULL,
            w ? NET_REUSEPORT : flags);
        set_socket(d, w, i, sock);
        if (sock)
            continue;
        explain(conf->listen[i].text, w ? NET_REUSEPORT : flags, err, err_size);
        return false;
    }
    return true;
}

/* The ith socket that systemd passed. */
static bool inherit(struct listen_sockets *d, const struct proxy *p, size_t i)
{
    char name[SOCKET_NAME];
    snprintf(name, sizeof name, LISTEN_SYSTEMD, (unsigned)i);
    struct listen_socket *sock =
        listen_socket_new(kept_take(p->kept, name), "", name, true);
    set_socket(d, 0, i, sock);
    for (unsigned w = 1; sock && w < d->n_workers; w++)
        set_socket(d, w, i, listen_socket_ref(sock));
    return sock != NULL;
}

static struct listen_sockets *listen_sockets_alloc(const struct proxy *p,
                                                   size_t n)
{
    struct listen_sockets *d =
        calloc(1, sizeof *d + n * p->n_workers * sizeof d->list[0]);
    if (!d)
        return NULL;
    atomic_init(&d->refs, 1);
    d->n = n;
    d->n_workers = p->n_workers;
    return d;
}

struct listen_sockets *listen_sockets_new(const struct proxy *p,
                                          const struct bide__proxy_conf *conf,
                                          const struct listen_sockets *old,
                                          char *err, size_t err_size)
{
    size_t named = conf->n_listen, passed = p->n_inherited;
    struct listen_sockets *d =
        listen_sockets_alloc(p, named > passed ? named : passed);
    snprintf(err, err_size, "no memory");
    if (!d)
        return NULL;
    for (size_t i = 0; i < d->n; i++) {
        const char *text = i < passed ? "" : conf->listen[i].text;
        if (take_over(d, old, i, text) ||
            (i < passed ? inherit(d, p, i)
                        : open_all(d, p->kept, conf, i, old, err, err_size)))
            continue;
        listen_sockets_unref(d);
        return NULL;
    }
    if (d->n > 0)
        return d;
    listen_sockets_unref(d);
    snprintf(err, err_size,
             "there is nowhere to listen: neither proxy.listen "
             "nor a socket from systemd");
    return NULL;
}

/* A port that the kernel chooses is always available, and only known later. */
int listen_sockets_bind(struct kept *kept, const struct bide__proxy_conf *conf,
                        unsigned n_workers, char *err, size_t err_size)
{
    char name[SOCKET_NAME];
    for (size_t i = 0; i < conf->n_listen; i++) {
        const struct bide__proxy_address *c = &conf->listen[i];
        unsigned n = c->path ? 1 : c->port == 0 ? 0 : n_workers;
        for (unsigned w = 0; w < n; w++) {
            if (kept_find(kept, name_of(name, conf, i, w)))
                continue;
            int flags =
                w ? NET_REUSEPORT : flags_for(conf, i, NULL, NULL, kept);
            int fd = open_socket(kept, name, c, -1, flags);
            if (fd < 0 || kept_put(kept, name, fd, 0) < 0) {
                explain(c->text, flags, err, err_size);
                return -1;
            }
            kept_find(kept, name)->fresh = true;
        }
    }
    return 0;
}

void listen_sockets_drop_others(struct kept *kept,
                                const struct listen_sockets *old,
                                const struct listen_sockets *d)
{
    for (unsigned w = 0; w < old->n_workers; w++)
        for (size_t i = 0; i < old->n; i++)
            if (!listen_sockets_have(d, w, listen_socket_of(old, w, i)))
                kept_drop(kept, listen_socket_of(old, w, i)->name);
}

void listen_sockets_ref(struct listen_sockets *d)
{
    atomic_fetch_add(&d->refs, 1);
}

void listen_sockets_unref(struct listen_sockets *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    for (size_t i = 0; i < d->n * d->n_workers; i++)
        listen_socket_unref(d->list[i]);
    free(d);
}

bool listen_sockets_have(const struct listen_sockets *d, unsigned worker,
                         const struct listen_socket *sock)
{
    for (size_t i = 0; i < d->n; i++)
        if (listen_socket_of(d, worker, i) == sock)
            return true;
    return false;
}
