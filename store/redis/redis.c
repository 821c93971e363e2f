/* The connection: connect, log in, write, read; each until a deadline. */
#include "store/redis/redis.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/utf8.h"
#include "bide/backoff.h"
#include "bide/run.h"

#define LONGEST_NS INT64_C(5000000000)

struct redis {
    struct redis_url url;
    int fd;               /* -1: not connected */
    unsigned failures;    /* to connect, in a row */
    int64_t retry_at_ns;
    int64_t longest_ns;   /* between two tries */
    uint64_t connection;
    struct bide__out out; /* commands, from `sent` on still to be sent */
    size_t sent;
    unsigned pending;     /* replies to come */
    struct bide__out in;
    size_t taken;         /* of `in`: bytes of the reply handed out last */
    struct redis_scan scan;
    struct bide__arena *arena; /* of the reply handed out last */
    bide_rng_seeded seed;
    bide_rng rng;
    char why[REDIS_WHY + sizeof((struct redis_url *)0)->text];
};

/* ===== errors ===== */

__attribute__((format(printf, 2, 3))) static int
failed(struct redis *r, const char *format, ...)
{
    va_list args;
    int n = snprintf(r->why, sizeof r->why, "%s: ", r->url.text);

    va_start(args, format);
    vsnprintf(r->why + n, sizeof r->why - (size_t)n, format, args);
    va_end(args);
    bide__make_safe(r->why);
    redis_close(r);
    return -1;
}

static int broken(struct redis *r, int error)
{
    return failed(r, "%s",
                  error == 0           ? "the server hung up"
                  : error == ETIMEDOUT ? "no answer in time"
                  : error == EMSGSIZE  ? "it sends more than was asked for"
                                       : strerror(error));
}

const char *redis_why(const struct redis *r)
{
    return r->why;
}

/* ===== from new to free ===== */

struct redis *redis_new(const struct redis_url *url)
{
    struct redis *r = calloc(1, sizeof *r);
    uint64_t seed;

    if (!r)
        return NULL;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
        seed = (uint64_t)bide_now_ns() ^ (uint64_t)(uintptr_t)r;
    r->url = *url;
    r->fd = -1;
    r->longest_ns = LONGEST_NS;
    r->rng = bide_rng_seed(&r->seed, seed);
    return r;
}

void redis_close(struct redis *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    r->pending = 0;
    r->sent = 0;
    bide__out_clear(&r->out);
}

void redis_free(struct redis *r)
{
    if (!r)
        return;
    redis_close(r);
    bide__out_done(&r->out);
    bide__out_done(&r->in);
    bide__arena_free(r->arena);
    free(r);
}

bool redis_is_connected(const struct redis *r)
{
    return r->fd >= 0;
}

const char *redis_address(const struct redis *r)
{
    return r->url.text;
}

int64_t redis_retry_at(const struct redis *r)
{
    return r->retry_at_ns;
}

void redis_longest_wait(struct redis *r, int64_t ns)
{
    r->longest_ns = ns < LONGEST_NS ? ns : LONGEST_NS;
}

void redis_retry_now(struct redis *r)
{
    r->retry_at_ns = 0;
}

uint64_t redis_connection(const struct redis *r)
{
    return r->connection;
}

int redis_fd(const struct redis *r)
{
    return r->fd;
}

unsigned redis_pending(const struct redis *r)
{
    return r->pending;
}

/* ===== waiting ===== */

/* 0, or an errno. */
static int wait_for(int fd, short events, int64_t until_ns, short *ret)
{
    for (;;) {
        struct pollfd p = { .fd = fd, .events = events };
        int64_t left = until_ns - bide_now_ns();
        int ms = left <= 0                       ? 0
                 : left > INT64_C(60000000000000) ? 60000000
                                                  : (int)((left + 999999) /
                                                          1000000);
        int n = poll(&p, 1, ms);
        if (n > 0) {
            *ret = p.revents;
            return 0;
        }
        if (n < 0 && errno != EINTR)
            return errno;
        if (n == 0 && bide_now_ns() >= until_ns)
            return ETIMEDOUT;
    }
}

/* ===== connecting ===== */

static int finish_connecting(int fd, int64_t until_ns)
{
    int error = 0;
    socklen_t len = sizeof error;
    short events;
    int rc = wait_for(fd, POLLOUT, until_ns, &events);

    if (rc != 0)
        return rc;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return errno;
    return error;
}

/* 0 and r->fd, or an errno. */
static int connect_to(struct redis *r, const struct sockaddr *to,
                      socklen_t len, int64_t until_ns)
{
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    0);
    int error = 0;

    if (fd < 0)
        return errno;
    if (connect(fd, to, len) < 0)
        error = errno == EINPROGRESS ? finish_connecting(fd, until_ns) : errno;
    if (error != 0) {
        close(fd);
        return error;
    }
    if (to->sa_family != AF_UNIX)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    r->fd = fd;
    return 0;
}

static int connect_unix(struct redis *r, int64_t until_ns)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };

    snprintf(to.sun_path, sizeof to.sun_path, "%.*s",
             (int)sizeof to.sun_path - 1, r->url.host);
    return connect_to(r, (struct sockaddr *)&to, sizeof to, until_ns);
}

static int connect_tcp(struct redis *r, int64_t until_ns)
{
    struct addrinfo *all, hints = { .ai_socktype = SOCK_STREAM };
    char port[8];
    int error = ENOENT;

    snprintf(port, sizeof port, "%u", r->url.port);
    int rc = getaddrinfo(r->url.host, port, &hints, &all);
    if (rc != 0) {
        failed(r, "no address: %s", gai_strerror(rc));
        return -1;
    }
    for (struct addrinfo *a = all; a && error != 0; a = a->ai_next)
        error = connect_to(r, a->ai_addr, a->ai_addrlen, until_ns);
    freeaddrinfo(all);
    return error;
}

/* One reply that must not be an error. */
static int expect_ok(struct redis *r, const char *what, int64_t until_ns)
{
    struct redis_reply reply;

    if (redis_next(r, until_ns, &reply) < 0)
        return -1;
    if (reply.type != REDIS_ERROR)
        return 0;
    if (reply.len >= 6 && memcmp(reply.text, "NOAUTH", 6) == 0)
        return failed(r, "the server wants a password, as in "
                         "redis://:PASSWORD@HOST (%s: NOAUTH)",
                      what);
    return failed(r, "%s: %.*s", what,
                  (int)(reply.len < 200 ? reply.len : 200), reply.text);
}

/* A server that is loading its data, or wants a password, says so to PING. */
static int greet(struct redis *r, int64_t until_ns)
{
    const struct redis_url *u = &r->url;

    if (u->password[0]) {
        redis_command(r, u->user[0] ? 3 : 2);
        redis_arg(r, "AUTH");
        if (u->user[0])
            redis_arg(r, u->user);
        redis_arg(r, u->password);
    }
    if (u->db) {
        redis_command(r, 2);
        redis_arg(r, "SELECT");
        redis_arg_int(r, u->db);
    }
    redis_command(r, 1);
    redis_arg(r, "PING");
    if (u->password[0] && expect_ok(r, "AUTH", until_ns) < 0)
        return -1;
    if (u->db && expect_ok(r, "SELECT", until_ns) < 0)
        return -1;
    return expect_ok(r, "PING", until_ns);
}

static int connect_now(struct redis *r, int64_t until_ns)
{
    int error = r->url.is_unix ? connect_unix(r, until_ns)
                               : connect_tcp(r, until_ns);

    if (error != 0)
        return error < 0 ? -1 : broken(r, error);
    r->connection++;
    r->scan = (struct redis_scan)REDIS_SCAN_INIT;
    r->taken = 0;
    bide__out_clear(&r->in);
    return greet(r, until_ns);
}

int redis_connect(struct redis *r, int64_t until_ns)
{
    const bide_backoff backoff = {
        .base_ns = INT64_C(100000000),
        .cap_ns = r->longest_ns,
        .floor_ns = INT64_C(10000000),
        .factor = 2,
        .jitter = BIDE_JITTER_FULL,
    };

    if (r->fd >= 0)
        return 0;
    if (bide_now_ns() < r->retry_at_ns)
        return -1; /* redis_why() still says why */
    if (connect_now(r, until_ns) == 0) {
        r->failures = 0;
        r->retry_at_ns = 0;
        return 0;
    }
    r->retry_at_ns =
        bide_now_ns() + bide_backoff_wait(&backoff, r->failures++, 0, &r->rng);
    return -1;
}

/* ===== commands ===== */

void redis_command(struct redis *r, unsigned n)
{
    redis_put_command(&r->out, n);
    r->pending++;
}

void redis_arg(struct redis *r, const char *text)
{
    redis_put_text(&r->out, text);
}

void redis_arg_bytes(struct redis *r, const void *bytes, size_t len)
{
    redis_put_bytes(&r->out, bytes, len);
}

void redis_arg_int(struct redis *r, int64_t n)
{
    redis_put_int(&r->out, n);
}

/* Drops the bytes of the reply that was handed out last. */
static void drop_taken(struct redis *r)
{
    if (r->taken == 0)
        return;
    memmove(r->in.data, r->in.data + r->taken, r->in.len - r->taken);
    r->in.len -= r->taken;
    r->taken = 0;
}

/* 0, or an errno; -1: the end. */
static int read_some(struct redis *r)
{
    enum { MUCH = 16384 };
    char *room = bide__out_room(&r->in, MUCH);
    ssize_t n = room ? recv(r->fd, room, MUCH, 0) : -1;

    if (!room)
        return ENOMEM;
    if (n > 0)
        r->in.len += (size_t)n;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return errno;
    return n == 0 ? -1 : 0;
}

/* While it cannot write. What nobody asked for must not fill the memory, nor be
 * waited out: it may never end. */
static int read_meanwhile(struct redis *r, int64_t until_ns)
{
    if (r->in.len > REDIS_MAX_REPLY)
        return EMSGSIZE;
    return bide_now_ns() >= until_ns ? ETIMEDOUT : read_some(r);
}

/* Reads as well while it cannot write: a server that waits for us to take its
 * replies would not read on. */
int redis_send(struct redis *r, int64_t until_ns)
{
    if (r->fd < 0)
        return -1;
    if (r->out.failed)
        return broken(r, ENOMEM);
    drop_taken(r);
    while (r->sent < r->out.len) {
        ssize_t n = send(r->fd, r->out.data + r->sent, r->out.len - r->sent,
                         MSG_NOSIGNAL);
        if (n >= 0) {
            r->sent += (size_t)n;
            continue;
        }
        if (errno == EINTR)
            continue;
        short events = 0;
        int error = errno == EAGAIN
                        ? wait_for(r->fd, POLLOUT | POLLIN, until_ns, &events)
                        : errno;
        if (error == 0 && (events & POLLIN))
            error = read_meanwhile(r, until_ns);
        if (error != 0)
            return broken(r, error < 0 ? 0 : error);
    }
    r->sent = 0;
    bide__out_clear(&r->out);
    return 0;
}

static int hand_out(struct redis *r, struct redis_reply *ret)
{
    bide__arena_free(r->arena);
    r->arena = bide__arena_new();
    if (!r->arena ||
        redis_read_reply(r->in.data, r->scan.at, r->arena, ret) < 0)
        return failed(r, "a reply that cannot be read: nested too deeply, or "
                         "no memory");
    r->taken = r->scan.at;
    r->scan = (struct redis_scan)REDIS_SCAN_INIT;
    r->pending--;
    return 0;
}

int redis_next(struct redis *r, int64_t until_ns, struct redis_reply *ret)
{
    if (r->pending == 0 || redis_send(r, until_ns) < 0)
        return -1;
    drop_taken(r);
    for (;;) {
        int found = redis_scan(&r->scan, r->in.data, r->in.len);
        if (found > 0)
            return hand_out(r, ret);
        if (found < 0)
            return failed(r, "this is no Redis: the answer is not RESP");
        short events;
        int error = wait_for(r->fd, POLLIN, until_ns, &events);
        if (error == 0)
            error = read_some(r);
        if (error != 0)
            return broken(r, error < 0 ? 0 : error);
    }
}

/* ===== scripts ===== */

int redis_script_load(struct redis *r, struct redis_script *s,
                      int64_t until_ns)
{
    struct redis_reply reply;

    if (r->fd < 0)
        return -1;
    if (s->sha[0] && s->connection == r->connection)
        return 0;
    redis_command(r, 3);
    redis_arg(r, "SCRIPT");
    redis_arg(r, "LOAD");
    redis_arg(r, s->text);
    if (redis_next(r, until_ns, &reply) < 0)
        return -1;
    if (reply.type == REDIS_ERROR)
        return failed(r, "SCRIPT LOAD: %.*s",
                      (int)(reply.len < 200 ? reply.len : 200), reply.text);
    if (reply.type != REDIS_STRING || reply.len != sizeof s->sha - 1)
        return failed(r, "SCRIPT LOAD: expected a digest of 40 digits");
    memcpy(s->sha, reply.text, sizeof s->sha - 1);
    s->connection = r->connection;
    return 0;
}

void redis_script_begin(struct redis *r, const struct redis_script *s,
                        unsigned n_keys, unsigned n_args)
{
    redis_command(r, 3 + n_keys + n_args);
    redis_arg(r, "EVALSHA");
    redis_arg(r, s->sha);
    redis_arg_int(r, n_keys);
}

bool redis_script_gone(const struct redis_reply *reply)
{
    return reply->type == REDIS_ERROR && redis_reply_begins(reply, "NOSCRIPT");
}

void redis_script_forget(struct redis_script *s)
{
    s->sha[0] = '\0';
}
