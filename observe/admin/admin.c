/* The thread: poll, accept, step, and a message a second for the streams. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "net/tls.h"
#include "observe/admin/admin_parts.h"
#include "bide/run.h"
#include "observe/event/thread.h"
#include "observe/event/wall.h"

static void drop(struct bide__admin *a, size_t i)
{
    admin_conn_free(a->conns[i]);
    a->conns[i] = a->conns[--a->n_conns];
}

static void drop_over(struct bide__admin *a, int64_t now)
{
    for (size_t i = a->n_conns; i-- > 0;)
        if (a->conns[i]->until_ns <= now)
            drop(a, i);
}

/* Sessions that are open keep what they began with. */
static void use_renewed(struct bide__admin *a)
{
    void *tls = atomic_exchange(&a->renewed, NULL);

    if (!tls)
        return;
    net_tls_free(a->tls);
    a->tls = tls;
}

/* What it asks may be there already: then it is answered before anybody can
 * take its place. */
static void add_client(struct bide__admin *a, int fd, int64_t now)
{
    int room = ADMIN_SEND;
    struct admin_conn *c = calloc(1, sizeof *c);

    if (!c) {
        close(fd);
        return;
    }
    use_renewed(a);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    c->net.io.fd = fd;
    c->moved_ns = now;
    a->conns[a->n_conns++] = c;
    c->greeting = a->tls != NULL;
    if ((a->tls && net_tls_accept(&c->net, a->tls) < 0) ||
        !admin_conn_step(a, c, POLLIN, now))
        drop(a, a->n_conns - 1);
}

/* False: nobody else is there, or can be taken in now. */
static bool take_client(struct bide__admin *a, int64_t now)
{
    if (!admin_room(a, now)) {
        a->rest_ns = now + ADMIN_MOMENT_NS / 8;
        return false;
    }
    drop_over(a, now);
    int fd = accept4(a->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        add_client(a, fd, now);
        admin_room_for_answers(a);
        return true;
    }
    /* No descriptors, say: poll() would find it ready at once. */
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
        a->rest_ns = now + ADMIN_REST_NS;
    return false;
}

/* Nobody has to go for one who may not be there. */
static void take_clients(struct bide__admin *a, int64_t now)
{
    int n = 0;
    while (take_client(a, now) && ++n < ADMIN_AT_ONCE &&
           a->n_conns < ADMIN_CONNECTIONS)
        ;
}

/* ===== streams ===== */

static bool has_streams(const struct bide__admin *a)
{
    for (size_t i = 0; i < a->n_conns; i++)
        if (a->conns[i]->mode == ADMIN_STREAMING)
            return true;
    return false;
}

static void feed_streams(struct bide__admin *a, int64_t now)
{
    if (now < a->tick_ns || !has_streams(a))
        return;
    a->tick_ns = now + BIDE_SECOND;
    bide__out_clear(&a->state);
    admin_state(a, &a->state, now);
    for (size_t i = a->n_conns; i-- > 0;) {
        struct admin_conn *c = a->conns[i];
        if (c->mode != ADMIN_STREAMING || a->state.failed)
            continue;
        admin_stream_feed(a, c, now);
        if (!admin_conn_step(a, c, 0, now))
            drop(a, i);
    }
}

/* ===== the loop ===== */

static int patience_ms(const struct bide__admin *a, int64_t now)
{
    int64_t until = has_streams(a) ? a->tick_ns : BIDE_FOREVER;
    for (size_t i = 0; i < a->n_conns; i++)
        if (a->conns[i]->until_ns < until)
            until = a->conns[i]->until_ns;
    if (a->rest_ns > now && a->rest_ns < until)
        until = a->rest_ns;
    if (until == BIDE_FOREVER)
        return -1;
    if (until <= now)
        return 0;
    int64_t ms = (until - now) / BIDE_MILLISECOND + 1;
    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

static size_t fill(const struct bide__admin *a, struct pollfd *p, int64_t now)
{
    p[0] = (struct pollfd){ .fd = a->wake[0], .events = POLLIN };
    p[1] = (struct pollfd){ .fd = a->rest_ns > now ? -1 : a->listener,
                            .events = POLLIN };
    for (size_t i = 0; i < a->n_conns; i++)
        p[2 + i] = (struct pollfd){ .fd = a->conns[i]->net.io.fd,
                                    .events = admin_conn_wants(a->conns[i]) };
    return a->n_conns + 2;
}

static void step_all(struct bide__admin *a, const struct pollfd *p, size_t n,
                     int64_t now)
{
    for (size_t i = n - 2; i-- > 0;) {
        struct admin_conn *c = a->conns[i];
        bool over = c->until_ns <= now;
        if (!over && p[2 + i].revents)
            over = !admin_conn_step(a, c, p[2 + i].revents, now);
        if (over)
            drop(a, i);
    }
}

/* ===== handing over ===== */

enum { LEFT_UNKNOWN = ADMIN_CONNECTIONS + 1, HAND_OVER = 'h' };

static unsigned unanswered(const struct bide__admin *a)
{
    unsigned n = 0;
    for (size_t i = 0; i < a->n_conns; i++)
        n += a->conns[i]->mode != ADMIN_STREAMING;
    return n;
}

/* True: it is to end. Otherwise another process listens from now on. */
static bool woken(struct bide__admin *a)
{
    char what = 0;
    if (read(a->wake[0], &what, 1) != 1 || what != HAND_OVER)
        return true;
    close(a->listener);
    a->listener = -1;
    return false;
}

void bide__admin_hand_over(struct bide__admin *a)
{
    enum { LOOKS = 100 };
    const struct timespec look = { .tv_nsec = 10 * BIDE_MILLISECOND };
    const char what = HAND_OVER;

    atomic_store(&a->left, LEFT_UNKNOWN);
    if (write(a->wake[1], &what, 1) != 1)
        return;
    for (int i = 0; i < LOOKS && atomic_load(&a->left) != 0; i++)
        nanosleep(&look, NULL);
}

static void *work(void *arg)
{
    struct bide__admin *a = arg;
    struct pollfd p[ADMIN_CONNECTIONS + 2];

    bide__thread_begin("bide-admin");
    for (;;) {
        int64_t now = bide_now_ns();
        size_t n = fill(a, p, now);
        if (poll(p, n, patience_ms(a, now)) < 0 && errno != EINTR)
            break;
        if (p[0].revents && woken(a))
            break;
        now = bide_now_ns();
        step_all(a, p, n, now);
        admin_room_for_answers(a);
        if (p[1].revents)
            take_clients(a, now);
        feed_streams(a, now);
        if (a->listener < 0)
            atomic_store(&a->left, unanswered(a));
    }
    return NULL;
}

/* ===== life ===== */

static void release(struct bide__admin *a)
{
    while (a->n_conns)
        drop(a, a->n_conns - 1);
    for (int i = 0; i < 2; i++)
        if (a->wake[i] >= 0)
            close(a->wake[i]);
    if (a->listener >= 0)
        close(a->listener);
    net_tls_free(a->tls);
    net_tls_free(atomic_load(&a->renewed));
    bide__out_done(&a->state);
    free(a->token);
    for (char **h = a->hosts; h && *h; h++)
        free(*h);
    free(a->hosts);
    free(a);
}

/* A program may be given another configuration, and free the one that was read
 * first. */
static bool copy_texts(struct bide__admin *a)
{
    size_t n = 0;
    while (a->conf.hosts && a->conf.hosts[n])
        n++;
    a->token = a->conf.token ? strdup(a->conf.token) : NULL;
    a->hosts = calloc(n + 1, sizeof *a->hosts);
    for (size_t i = 0; a->hosts && i < n; i++)
        if (!(a->hosts[i] = strdup(a->conf.hosts[i])))
            return false;
    return a->hosts && (a->token || !a->conf.token);
}

static void *read_certificate(const char *certificate, const char *key,
                              char *why, size_t size)
{
    char mistake[512];
    const struct net_tls_pair pair = { certificate, key };
    const struct net_tls_server conf = { .pairs = &pair, .n_pairs = 1 };
    void *tls = net_tls_server_new(&conf, mistake, sizeof mistake);

    if (!tls)
        snprintf(why, size, "admin: %s", mistake);
    return tls;
}

bool bide__admin_renew(struct bide__admin *a, const char *certificate,
                       const char *key, char *why, size_t size)
{
    if (!certificate || !key)
        return true;
    void *tls = read_certificate(certificate, key, why, size);
    if (tls)
        net_tls_free(atomic_exchange(&a->renewed, tls));
    return tls != NULL;
}

static bool prepare_tls(struct bide__admin *a, char *why, size_t size)
{
    if (!a->conf.certificate && !a->conf.key)
        return true;
    if (!a->conf.certificate || !a->conf.key) {
        snprintf(why, size,
                 "admin: expected a certificate and its key; found "
                 "one without the other");
        return false;
    }
    a->tls = read_certificate(a->conf.certificate, a->conf.key, why, size);
    return a->tls != NULL;
}

static bool prepare(struct bide__admin *a, char *why, size_t size)
{
    if (a->conf.token && strlen(a->conf.token) < ADMIN_TOKEN_MIN) {
        snprintf(why, size, "admin: expected a token of at least %d characters",
                 ADMIN_TOKEN_MIN);
        return false;
    }
    if (!prepare_tls(a, why, size))
        return false;
    a->start_ns = bide_now_ns();
    a->wall_offset_ns = bide__wall_offset_ns();
    a->listener = admin_listen(&a->conf, &a->port, why, size);
    if (a->listener < 0)
        return false;
    if (pipe2(a->wake, O_CLOEXEC | O_NONBLOCK) == 0 && copy_texts(a) &&
        pthread_create(&a->thread, NULL, work, a) == 0)
        return true;
    snprintf(why, size, "admin: no memory, file or thread left");
    return false;
}

struct bide__admin *bide__admin_start(const struct bide__admin_conf *conf,
                                      char *why, size_t size)
{
    struct bide__admin *a = calloc(1, sizeof *a);

    if (!a) {
        snprintf(why, size, "admin: no memory");
        return NULL;
    }
    a->conf = *conf;
    a->listener = a->wake[0] = a->wake[1] = -1;
    if (prepare(a, why, size))
        return a;
    release(a);
    return NULL;
}

void bide__admin_stop(struct bide__admin *a)
{
    if (!a)
        return;
    if (write(a->wake[1], "", 1) == 1)
        pthread_join(a->thread, NULL);
    release(a);
}

int bide__admin_listen(const struct bide__admin_conf *conf, char *why,
                       size_t size)
{
    int port;
    return admin_listen(conf, &port, why, size);
}

int bide__admin_listener(const struct bide__admin *a)
{
    return a->listener;
}

int bide__admin_port(const struct bide__admin *a)
{
    return a->port;
}
