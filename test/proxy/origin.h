/* A server for tests of the sidecar inside their own process: a thread that answers
 * by the path it is asked for.
 *
 *     origin_start();             // origin.ports: of its two sockets
 *     origin_forget();            // what has been asked so far
 *     ... origin.checks ...       // health checks since then
 *     origin_release();           // answers what was held back
 *     origin_stop();
 *
 *   /retry   503 the first time, then 200
 *   /hedge   held back the first time, then 200
 *   /fail    500
 *   /stale   a 200 that may be kept the first time, then 500
 *   others   200
 *
 * What it allocates does not count (failing_alloc.h): it allocates nothing. */
#ifndef BIDE_TEST_PROXY_ORIGIN_H
#define BIDE_TEST_PROXY_ORIGIN_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ORIGIN_PORTS = 2, ORIGIN_CONNS = 200, ORIGIN_HEAD = 4096 };

struct origin_conn {
    char head[ORIGIN_HEAD];
    size_t len;
    size_t body_left; /* of a request that is being read */
};

static struct {
    unsigned ports[ORIGIN_PORTS];
    int wake[2];
    pthread_t thread;
    atomic_int retried, hedged, staled; /* how often these were asked for */
    atomic_int checks;
    int held; /* connection that waits for origin_release(); -1: none */
    struct pollfd fds[ORIGIN_PORTS + 1 + ORIGIN_CONNS];
    struct origin_conn conns[ORIGIN_CONNS];
} origin;

static bool origin_is(const struct origin_conn *c, const char *path)
{
    const char *at = strchr(c->head, ' ');
    return at && strncmp(at + 1, path, strlen(path)) == 0;
}

static const char origin_fine[] =
    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";

/* What it says to a request; NULL: nothing yet. */
static const char *origin_answer(const struct origin_conn *c)
{
    static const char busy[] =
        "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy";
    static const char kept[] = "HTTP/1.1 200 OK\r\nCache-Control: max-age=0, "
                               "stale-if-error=600\r\nTransfer-Encoding: "
                               "chunked\r\n\r\n4\r\nkept\r\n0\r\n\r\n";
    static const char fail[] =
        "HTTP/1.1 500 Failed\r\nContent-Type: application/problem+json\r\n"
        "Content-Length: 2\r\n\r\n{}";
    if (origin_is(c, "/retry"))
        return origin.retried++ == 0 ? busy : origin_fine;
    if (origin_is(c, "/hedge"))
        return origin.hedged++ == 0 ? NULL : origin_fine;
    if (origin_is(c, "/stale"))
        return origin.staled++ == 0 ? kept : fail;
    if (origin_is(c, "/health"))
        origin.checks++;
    return origin_is(c, "/fail") ? fail : origin_fine;
}

/* The head is there: says what there is to say, and goes on behind it. */
static bool origin_serve(struct origin_conn *c, int fd)
{
    char *end = strstr(c->head, "\r\n\r\n");
    const char *length = strstr(c->head, "Content-Length: ");
    if (!end)
        return c->len < ORIGIN_HEAD - 1;
    size_t head = (size_t)(end - c->head) + 4;
    c->body_left = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
    const char *answer = origin_answer(c);
    if (!answer)
        origin.held = fd;
    else if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
        return false;
    c->len -= head;
    memmove(c->head, c->head + head, c->len);
    size_t of_body = c->body_left < c->len ? c->body_left : c->len;
    c->body_left -= of_body;
    c->len -= of_body;
    memmove(c->head, c->head + of_body, c->len);
    c->head[c->len] = '\0';
    return true;
}

static bool origin_read(struct origin_conn *c, int fd)
{
    char skipped[4096];
    size_t most = c->body_left < sizeof skipped ? c->body_left : sizeof skipped;
    if (most > 0) {
        ssize_t n = recv(fd, skipped, most, 0);
        c->body_left -= n > 0 ? (size_t)n : 0;
        return n > 0;
    }
    ssize_t n = recv(fd, c->head + c->len, ORIGIN_HEAD - 1 - c->len, 0);
    if (n <= 0)
        return false;
    c->len += (size_t)n;
    c->head[c->len] = '\0';
    return origin_serve(c, fd);
}

static void origin_accept(int listening)
{
    int fd = accept(listening, NULL, NULL);
    for (int i = 0; fd >= 0 && i < ORIGIN_CONNS; i++) {
        struct pollfd *p = &origin.fds[ORIGIN_PORTS + 1 + i];
        if (p->fd >= 0)
            continue;
        *p = (struct pollfd){ .fd = fd, .events = POLLIN };
        origin.conns[i] = (struct origin_conn){ .len = 0 };
        return;
    }
    close(fd);
}

/* Somebody asks for something: false for its end. */
static bool origin_heed(void)
{
    char what = 's';
    if (!origin.fds[ORIGIN_PORTS].revents)
        return true;
    if (read(origin.wake[0], &what, 1) != 1 || what == 's')
        return false;
    if (origin.held >= 0)
        (void)!send(origin.held, origin_fine, sizeof origin_fine - 1,
                    MSG_NOSIGNAL);
    origin.held = -1;
    return true;
}

static void *origin_run(void *unused)
{
    (void)unused;
    while (poll(origin.fds, ORIGIN_PORTS + 1 + ORIGIN_CONNS, -1) >= 0 &&
           origin_heed()) {
        for (int i = 0; i < ORIGIN_CONNS; i++) {
            struct pollfd *p = &origin.fds[ORIGIN_PORTS + 1 + i];
            if (p->fd < 0 || !p->revents || origin_read(&origin.conns[i], p->fd))
                continue;
            if (origin.held == p->fd)
                origin.held = -1;
            close(p->fd);
            p->fd = -1;
        }
        for (int i = 0; i < ORIGIN_PORTS; i++)
            if (origin.fds[i].revents)
                origin_accept(origin.fds[i].fd);
    }
    return NULL;
}

static void origin_start(void)
{
    for (int i = 0; i < ORIGIN_PORTS + 1 + ORIGIN_CONNS; i++)
        origin.fds[i].fd = -1;
    for (int i = 0; i < ORIGIN_PORTS; i++) {
        struct sockaddr_in at = { .sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof at;
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
            listen(fd, 64) < 0 ||
            getsockname(fd, (struct sockaddr *)&at, &len) < 0)
            abort();
        origin.fds[i] = (struct pollfd){ .fd = fd, .events = POLLIN };
        origin.ports[i] = ntohs(at.sin_port);
    }
    origin.held = -1;
    if (pipe(origin.wake) < 0)
        abort();
    origin.fds[ORIGIN_PORTS] =
        (struct pollfd){ .fd = origin.wake[0], .events = POLLIN };
    if (pthread_create(&origin.thread, NULL, origin_run, NULL) != 0)
        abort();
}

static void origin_forget(void)
{
    origin.retried = origin.hedged = origin.staled = origin.checks = 0;
}

static void origin_tell(char what)
{
    if (write(origin.wake[1], &what, 1) < 0)
        abort();
}

static void origin_release(void)
{
    origin_tell('r');
}

static void origin_stop(void)
{
    origin_tell('s');
    pthread_join(origin.thread, NULL);
    close(origin.wake[0]);
    close(origin.wake[1]);
    for (int i = 0; i < ORIGIN_PORTS + 1 + ORIGIN_CONNS; i++)
        if (i != ORIGIN_PORTS && origin.fds[i].fd >= 0)
            close(origin.fds[i].fd);
}

#endif
