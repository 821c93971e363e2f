/* The sockets that a proxy listens on. */
#include "doors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "proxy.h"

/* ===== one ===== */

/* Takes fd over, also if it fails; NULL and errno. */
static struct door *door_new(int fd, const char *text, bool shared)
{
    size_t size = strlen(text) + 1;
    struct door *d = fd < 0 ? NULL : calloc(1, sizeof *d + size);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    atomic_init(&d->refs, 1);
    d->fd = fd;
    d->shared = shared;
    memcpy(d->text, text, size);
    net_nodelay(fd); /* those that it accepts inherit it */
    return d;
}

static struct door *door_ref(struct door *d)
{
    atomic_fetch_add(&d->refs, 1);
    return d;
}

static void door_unref(struct door *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    if (d->fd >= 0)
        close(d->fd);
    free(d);
}

/* `first`: that of the first worker; NULL: this is it. */
static struct door *door_open(const struct bide__proxy_address *c,
                              struct door *first)
{
    struct net_address a;
    if (first && first->shared)
        return door_ref(first);
    if ((c->path ? net_address_unix(&a, c->path)
                 : net_address_parse(&a, c->host, c->port)) < 0) {
        errno = EINVAL;
        return NULL;
    }
    if (first && c->port == 0) /* the port that was chosen for it */
        getsockname(first->fd, &a.to.any, &a.len);
    return door_new(net_listen(&a, NET_REUSEPORT), c->text, c->path != NULL);
}

/* ===== all ===== */

static void set_door(struct doors *d, unsigned worker, size_t i,
                     struct door *door)
{
    d->list[worker * d->n + i] = door;
}

/* The same address in `old`, that nobody has taken over yet; or old->n. */
static size_t find_old(const struct doors *d, const struct doors *old,
                       const char *text)
{
    size_t i = 0;
    while (i < old->n && (strcmp(old->list[i]->text, text) != 0 ||
                          doors_have(d, 0, old->list[i])))
        i++;
    return i;
}

static bool take_over(struct doors *d, const struct doors *old, size_t i,
                      const char *text)
{
    size_t k = old ? find_old(d, old, text) : 0;
    if (!old || k == old->n)
        return false;
    for (unsigned w = 0; w < d->n_workers; w++)
        set_door(d, w, i, door_ref(door_of(old, w, k)));
    return true;
}

static bool open_all(struct doors *d, size_t i,
                     const struct bide__proxy_address *c, char *err,
                     size_t err_size)
{
    for (unsigned w = 0; w < d->n_workers; w++) {
        struct door *door = door_open(c, w ? d->list[i] : NULL);
        set_door(d, w, i, door);
        if (door)
            continue;
        snprintf(err, err_size, "cannot listen on %s: %s", c->text,
                 strerror(errno));
        return false;
    }
    return true;
}

/* The ith socket that systemd passed. */
static bool inherit(struct doors *d, const struct proxy *p, size_t i)
{
    struct door *door = door_new(p->inherited_first + (int)i, "", true);
    set_door(d, 0, i, door);
    for (unsigned w = 1; door && w < d->n_workers; w++)
        set_door(d, w, i, door_ref(door));
    return door != NULL;
}

static struct doors *doors_alloc(const struct proxy *p, size_t n)
{
    struct doors *d =
        calloc(1, sizeof *d + n * p->n_workers * sizeof d->list[0]);
    if (!d)
        return NULL;
    atomic_init(&d->refs, 1);
    d->n = n;
    d->n_workers = p->n_workers;
    return d;
}

struct doors *doors_new(const struct proxy *p,
                        const struct bide__proxy_conf *conf,
                        const struct doors *old, char *err, size_t err_size)
{
    size_t named = conf->n_listen, passed = p->n_inherited;
    struct doors *d = doors_alloc(p, named > passed ? named : passed);
    snprintf(err, err_size, "no memory");
    if (!d)
        return NULL;
    for (size_t i = 0; i < d->n; i++) {
        const char *text = i < passed ? "" : conf->listen[i].text;
        if (take_over(d, old, i, text) ||
            (i < passed ? inherit(d, p, i)
                        : open_all(d, i, &conf->listen[i], err, err_size)))
            continue;
        doors_unref(d);
        return NULL;
    }
    if (d->n > 0)
        return d;
    doors_unref(d);
    snprintf(err, err_size,
             "there is nowhere to listen: neither proxy.listen "
             "nor a socket from systemd");
    return NULL;
}

void doors_ref(struct doors *d)
{
    atomic_fetch_add(&d->refs, 1);
}

void doors_unref(struct doors *d)
{
    if (!d || atomic_fetch_sub(&d->refs, 1) != 1)
        return;
    for (size_t i = 0; i < d->n * d->n_workers; i++)
        door_unref(d->list[i]);
    free(d);
}

bool doors_have(const struct doors *d, unsigned worker, const struct door *door)
{
    for (size_t i = 0; i < d->n; i++)
        if (door_of(d, worker, i) == door)
            return true;
    return false;
}
