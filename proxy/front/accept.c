/* Accepting connections, and what to do when there is no room for more.
 *
 * Over the limit, or without a descriptor left, a connection gets 503 and is
 * closed: a client that knows can go elsewhere, one that waits in the kernel's
 * queue cannot. The response itself needs a descriptor, which is kept in
 * reserve. */
#include "proxy/front/accept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "bide/policy.h"
#include "proxy/front/client.h"
#include "proxy/front/listen.h"
#include "proxy/front/turn_away.h"
#include "proxy/proxy.h"
#include "proxy/worker.h"

enum { ACCEPTS_AT_ONCE = 64, PAUSE_MS = 50, BACKLOG_ROUNDS = 64 };

static void shed(struct worker *w, int fd)
{
    count(&w->counters.shed);
    turn_away(w, fd, "connections", "too many connections");
    close(fd);
}

static int spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void worker_look_later(struct worker *w)
{
    net_timer_set(&w->loop, &w->pause,
                  w->loop.now_ns + PAUSE_MS * BIDE_MILLISECOND);
}

static void pause_all(struct worker *w)
{
    for (struct listener *l = w->listeners; l; l = l->next)
        if (!l->paused) {
            net_loop_remove(&w->loop, &l->io);
            l->paused = true;
        }
    worker_look_later(w);
}

void worker_resume(struct worker *w)
{
    if (w->spare_fd < 0)
        w->spare_fd = spare();
    for (struct listener *l = w->listeners; l; l = l->next) {
        if (!l->paused)
            continue;
        l->paused = false;
        net_loop_add_level(&w->loop, &l->io, l->sock->fd, l->sock->shared);
    }
}

/* No descriptor left: the spare one is for a 503. */
static void exhausted(struct worker *w, struct listener *l)
{
    if (w->spare_fd < 0) {
        pause_all(w);
        return;
    }
    close(w->spare_fd);
    int fd = accept4(l->sock->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        shed(w, fd);
    w->spare_fd = spare();
    if (fd < 0 && errno != EAGAIN)
        pause_all(w);
}

/* Accepts some; true: there may be more. */
static bool accept_some(struct listener *l)
{
    struct worker *w = l->worker;

    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        memset(&from, 0, sizeof(struct sockaddr));
        int fd = accept4(l->sock->fd, (struct sockaddr *)&from, &len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
            continue;
        if (fd < 0) {
            if (errno != EAGAIN)
                exhausted(w, l);
            return false;
        }
        if (w->n_clients >= w->max_clients)
            shed(w, fd);
        else
            client_new(w, fd, (struct sockaddr *)&from);
    }
    return true;
}

static void listener_ready(struct net_io *io, unsigned events)
{
    (void)events;
    accept_some((struct listener *)io);
}

/* ===== listeners ===== */

static bool listener_add(struct worker *w, struct listen_socket *sock)
{
    struct listener *l = calloc(1, sizeof *l);
    if (!l)
        return false;
    l->io.ready = listener_ready;
    l->worker = w;
    l->sock = sock;
    if (net_loop_add_level(&w->loop, &l->io, sock->fd, sock->shared) < 0) {
        free(l);
        return false;
    }
    l->next = w->listeners;
    w->listeners = l;
    return true;
}

static void bury(void *user, struct net_grave *grave)
{
    (void)user;
    free(bide__container_of(grave, struct listener, grave));
}

/* What has already been connected is still accepted: the kernel would reset
 * it. */
static void listener_end(struct listener *l)
{
    struct worker *w = l->worker;
    for (int k = 0; k < BACKLOG_ROUNDS && !l->paused; k++)
        if (!accept_some(l))
            break;
    net_loop_remove(&w->loop, &l->io);
    if (!l->sock->shared) {
        close(l->sock->fd);
        l->sock->fd = -1;
    }
    net_loop_bury(&w->loop, &l->grave, bury);
}

static bool listens_at(const struct worker *w, const struct listen_socket *sock)
{
    const struct listener *l = w->listeners;
    while (l && l->sock != sock)
        l = l->next;
    return l != NULL;
}

/* Ends those that are not among these sockets; NULL: all. */
static void end_others(struct worker *w, const struct listen_sockets *d)
{
    struct listener **at = &w->listeners;
    while (*at) {
        struct listener *l = *at;
        if (d && listen_sockets_have(d, w->index, l->sock)) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        listener_end(l);
    }
}

bool worker_listen(struct worker *w)
{
    struct listen_sockets *old = w->sockets;
    bool fine = true;
    w->sockets = proxy_sockets(w->proxy);
    end_others(w, w->sockets);
    for (size_t i = 0; i < w->sockets->n; i++) {
        struct listen_socket *sock = listen_socket_of(w->sockets, w->index, i);
        if (!listens_at(w, sock))
            fine = listener_add(w, sock) && fine;
    }
    listen_sockets_unref(old);
    if (w->spare_fd < 0)
        w->spare_fd = spare();
    return fine;
}

void worker_unlisten(struct worker *w)
{
    end_others(w, NULL);
    listen_sockets_unref(w->sockets);
    w->sockets = NULL;
}
