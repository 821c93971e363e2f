/* A server that fails as it is told: for every end-to-end test of bide.
 *
 *     fault-server     prints one line, then serves until its standard input
 *                      ends or it is killed:
 *         http=PORT reset=PORT silent=PORT closed=PORT
 *
 * All on 127.0.0.1. `http` speaks HTTP/1.1 and follows scripts. `reset` resets
 * every connection before it has read a byte; `silent` accepts and never says
 * a word; `closed` refuses to be connected to.
 *
 * A script is the path of a request:
 *
 *     /s/STEP,STEP,...     the nth request with the same id gets the nth step;
 *                          the last step holds for all further ones
 *     id                   is the query's id=..., else the header X-Test-Id,
 *                          else the path itself
 *     STEP = WHAT[;OPTION]...
 *     WHAT = 200 | 503 ... a status, with a short body
 *          | close         closes without an answer
 *          | reset         resets (RST) without an answer
 *          | stall         never answers
 *          | rand          by chance: 200, or (p=30 percent, seed=1) one of
 *                          500, 502, 503, close, reset, half a body
 *     OPTION, values URL-encoded (%2C is a comma, %3B a semicolon):
 *       h=NAME:VALUE       a header field, as often as wanted
 *       to=URL             the Location of a redirect
 *       body=TEXT n=BYTES  the body: a text, or so many bytes (a to z)
 *       chunked            without Content-Length
 *       wait=MS            before the first byte
 *       pause=MS           amid the body
 *       trickle=MS         after each byte
 *       stall=head|body    says half of it, and no more
 *       cut=head|body      says half of it, and closes
 *       rst=head|body      says half of it, and resets
 *       lie=N              Content-Length is off by N; closes after it
 *       last               closes after the answer
 *       early              does all this before the request's body is read
 *
 *     /s/503;h=Retry-After:1,503;wait=50,200;body=done
 *
 *     /count?id=ID         what came with that id, as JSON: "requests" (heads),
 *                          "complete" (with their bodies), "seen": of each the
 *                          connection, method, key, attempt, timeout_ms,
 *                          traceparent, baggage, range, if_range and length of body
 *     /count               "ids", "requests", "complete", "most" of one id
 *     /ids                 of each id "ID":[requests,complete]
 *     /forget              forgets all of that
 *
 * One thread, epoll; no part of it is fit for anything but tests. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "connection.h"

enum { N_PORTS = 4, BATCH = 256, BACKLOG = 4096 };

static const char *const ports[N_PORTS] = { "http", "reset", "silent",
                                            "closed" };
static int listeners[N_PORTS];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Port 0 is any that is free. */
static int listen_on(const char *name, int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (strcmp(name, "http") == 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) < 0)
        die("bind");
    if (strcmp(name, "closed") != 0 && listen(fd, BACKLOG) < 0)
        die("listen"); /* a port that is bound only stays ours, and refuses */
    if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        die("getsockname");
    printf("%s=%d%s", name, ntohs(at.sin_port),
           strcmp(name, "closed") == 0 ? "\n" : " ");
    return fd;
}

static void watch(int epoll, int fd)
{
    struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
        die("epoll_ctl");
}

static void accept_all(int listener, int epoll)
{
    const int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd;
    while ((fd = accept4(listener, NULL, NULL, flags)) >= 0) {
        if (listener == listeners[1])
            reset_socket(fd);
        else if (listener == listeners[0])
            connection_new(epoll, fd);
        /* silent: it stays open, and is never looked at again */
    }
}

/* The test's end of the pipe is gone: so is the test. */
static void end_with_parent(int fd)
{
    char c[64];
    ssize_t n = read(fd, c, sizeof c);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        connections_free();
        records_forget();
        exit(0);
    }
}

static void serve(int epoll)
{
    struct epoll_event ready[BATCH];
    for (;;) {
        int n = epoll_wait(epoll, ready, BATCH, connections_wait_ms());
        for (int i = 0; i < n; i++) {
            int fd = ready[i].data.fd;
            if (fd == 0)
                end_with_parent(fd);
            else if (fd == listeners[0] || fd == listeners[1] ||
                     fd == listeners[2])
                accept_all(fd, epoll);
            else
                connection_ready(fd, ready[i].events);
        }
        connections_due();
    }
}

/* Takes the port of `http`, for one that was there before. */
int main(int argc, char **argv)
{
    struct rlimit files;
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < N_PORTS; i++) {
        listeners[i] =
            listen_on(ports[i], i == 0 && argc > 1 ? atoi(argv[1]) : 0);
        if (strcmp(ports[i], "closed") != 0)
            watch(epoll, listeners[i]);
    }
    fflush(stdout);
    /* A file as standard input cannot be observed, and never ends the server. */
    struct epoll_event e = { .events = EPOLLIN, .data.fd = 0 };
    epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &e);
    serve(epoll);
}
