/* Taking connections in, and what to do when there is no room for more.
 *
 * Over the limit, or without a descriptor left, a connection is answered "503"
 * and closed: a client that is told so can go elsewhere, one that waits in the
 * kernel's queue cannot. The answer needs a descriptor itself, which is kept in
 * reserve. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address.h"
#include "bide/policy.h"
#include "client.h"
#include "proxy.h"
#include "worker.h"

enum { ACCEPTS_AT_ONCE = 64, PAUSE_MS = 50, BACKLOG_ROUNDS = 64 };

static const char too_many[] =
    "HTTP/1.1 503 Service Unavailable\r\n"
    "Content-Type: application/problem+json\r\n"
    "Content-Length: 84\r\n"
    "Retry-After: 1\r\n"
    "X-Bide-Retry: no\r\n"
    "X-Bide-Reason: connections\r\n"
    "Connection: close\r\n\r\n"
    "{\"type\":\"urn:bide:problem:connections\","
    "\"title\":\"too many connections\",\"status\":503}\n";

/* Says 503 to whoever it is. What the client sent is read, not for its content,
 * but because closing with unread bytes would reset the connection. */
static void shed(struct worker *w, int fd)
{
    char bin[2048];
    count(&w->counters.shed);
    if (!w->state->tls)
        (void)!send(fd, too_many, sizeof too_many - 1,
                    MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(fd, SHUT_WR);
    (void)!recv(fd, bin, sizeof bin, MSG_DONTWAIT);
    close(fd);
}

static int spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void pause_all(struct worker *w)
{
    for (size_t i = 0; i < w->n_listeners; i++)
        if (w->listeners[i].io.fd >= 0 && !w->listeners[i].paused) {
            struct listener *l = &w->listeners[i];
            int fd = l->io.fd;
            net_loop_remove(&w->loop, &l->io);
            l->io.fd = fd;
            l->paused = true;
        }
    net_timer_set(&w->loop, &w->pause,
                  w->loop.now_ns + PAUSE_MS * BIDE_MILLISECOND);
}

void worker_resume(struct worker *w)
{
    if (w->spare_fd < 0)
        w->spare_fd = spare();
    for (size_t i = 0; i < w->n_listeners; i++) {
        struct listener *l = &w->listeners[i];
        if (!l->paused)
            continue;
        l->paused = false;
        net_loop_add_level(&w->loop, &l->io, l->io.fd, l->shared);
    }
}

/* No descriptor left: the spare one is for telling so. */
static void exhausted(struct worker *w, struct listener *l)
{
    if (w->spare_fd < 0) {
        pause_all(w);
        return;
    }
    close(w->spare_fd);
    int fd = accept4(l->io.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        shed(w, fd);
    w->spare_fd = spare();
    if (fd < 0 && errno != EAGAIN)
        pause_all(w);
}

/* Takes some in; true: there may be more. */
static bool accept_some(struct listener *l)
{
    struct worker *w = l->worker;

    for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
        struct sockaddr_storage from;
        socklen_t len = sizeof from;
        memset(&from, 0, sizeof(struct sockaddr));
        int fd = accept4(l->io.fd, (struct sockaddr *)&from, &len,
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

static int first_one(const struct worker *w, size_t i)
{
    return w->proxy->workers[0]->listeners[i].io.fd;
}

static int open_one(struct worker *w, struct listener *l, size_t i)
{
    struct net_address a;

    if (i < w->proxy->n_inherited) {
        l->shared = true;
        return w->proxy->inherited_first + (int)i;
    }
    const struct bide__proxy_address *c = &w->conf->listen[i];
    bool alone = c->path != NULL;
    if (alone && w->index > 0) { /* a Unix socket cannot be opened twice */
        l->shared = true;
        return first_one(w, i);
    }
    l->shared = alone;
    if ((c->path ? net_address_unix(&a, c->path)
                 : net_address_parse(&a, c->host, c->port)) < 0) {
        errno = EINVAL;
        return -1;
    }
    if (w->index > 0 && c->port == 0) /* the port that was chosen for it */
        getsockname(first_one(w, i), &a.to.any, &a.len);
    return net_listen(&a, NET_REUSEPORT);
}

int worker_listen(struct worker *w, char *err, size_t err_size)
{
    size_t n = w->conf->n_listen;
    if (n < w->proxy->n_inherited)
        n = w->proxy->n_inherited;
    if (n == 0) {
        snprintf(err, err_size,
                 "there is nowhere to listen: neither "
                 "proxy.listen nor a socket from systemd");
        return -1;
    }
    w->spare_fd = spare();
    w->listeners = calloc(n, sizeof *w->listeners);
    for (size_t i = 0; w->listeners && i < n; i++) {
        struct listener *l = &w->listeners[i];
        l->io.ready = listener_ready;
        l->io.fd = -1;
        l->worker = w;
        int fd = open_one(w, l, i);
        if (fd >= 0)
            net_nodelay(fd); /* those that it accepts inherit it */
        if (fd < 0 || net_loop_add_level(&w->loop, &l->io, fd, l->shared) < 0) {
            snprintf(err, err_size, "cannot listen on %s: %s",
                     i < w->conf->n_listen ? w->conf->listen[i].text
                                           : "a socket from systemd",
                     strerror(errno));
            return -1;
        }
        w->n_listeners = i + 1;
    }
    return w->listeners ? 0 : -1;
}

/* What has been connected already is still taken in: the kernel would reset it.
 */
void worker_unlisten(struct worker *w)
{
    for (size_t i = 0; i < w->n_listeners; i++) {
        struct listener *l = &w->listeners[i];
        if (l->io.fd < 0)
            continue;
        for (int k = 0; k < BACKLOG_ROUNDS && !l->paused; k++)
            if (!accept_some(l))
                break;
        int fd = l->io.fd;
        net_loop_remove(&w->loop, &l->io);
        if (!l->shared)
            close(fd);
    }
}
